"""Tables of cells coloured by value: square, round or sized, with names, figures and a scale."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, linear, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, ramp, theme_of
from gristmill.render.svg.words import DAYS, MONTHS, PLACES, TEAMS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    columns, rows = draws.integer(4, 9), draws.integer(4, 8)
    slope, wave = draws.real(-1, 1), draws.real(0, 1)
    cells = [
        [
            round(
                min(max(0.5 + slope * (r / rows - 0.5) + wave * (c / columns - 0.5) + draws.real(-0.3, 0.3), 0), 1), 2
            )
            for c in range(columns)
        ]
        for r in range(rows)
    ]
    return view, params | {
        "rows": draws.some(draws.pick((PLACES, TEAMS)), rows),
        "columns": list(MONTHS[:columns] if columns > 7 or draws.chance(0.5) else DAYS[:columns]),
        "cells": cells,
        "cell": draws.pick(("square", "gaps", "round", "dots", "sized", "ruled")),
        "figures": draws.chance(0.4),
        "scale": draws.pick(("side", "steps", "none")),
        "above": draws.chance(0.4),
        "ends": draws.integer(0, 8),
        "mark": draws.chance(0.3),
        "triangle": draws.chance(0.12),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    body = [*ground(params, view), *head]
    left = 22 + max(text_width_px(name, size) for name in params["rows"]) + 8
    right = view.width_px - (22 if params["scale"] != "side" else 72)
    bottom = view.height_px - 18 - (size * 2.6 if params["scale"] == "steps" else 0)
    top, bottom = (top + size * 1.6, bottom) if params["above"] else (top + 4, bottom - size * 1.6)
    cell = ((right - left) / len(params["columns"]), (bottom - top) / len(params["rows"]))
    nodes = _cells(params, theme, (left, top), cell, size)
    body += [*nodes, _names(params, theme, (left, top, bottom), cell, size)]
    body += _mark(params, theme, (left, top), cell)
    low, high = _ends(params, theme)
    if params["scale"] == "side":
        body.append(_bar(theme, (right + 16, top, bottom), size))
    if params["scale"] == "steps":
        body.append(_steps(theme, (low, high), (left, view.height_px - 16 - size), size))
    return document(body, [linear("scale", ((0, high), (1, low)))] if params["scale"] == "side" else [], params, view)


def _ends(params: Mapping[str, Any], theme: Theme) -> tuple[str, str]:
    hue = theme.hues[params["ends"]]
    return mix(theme.paper, hue, 0.12), hue


def _cells(
    params: Mapping[str, Any], theme: Theme, at: tuple[float, float], cell: tuple[float, float], size: float
) -> list[Node]:
    low, high = _ends(params, theme)
    w, h = cell
    rows: list[Node] = []
    for r, values in enumerate(params["cells"]):
        row: list[Node] = []
        for c, value in enumerate(values[: len(values) - r if params["triangle"] else None]):
            x, y, colour = at[0] + w * c, at[1] + h * r, mix(low, high, value)
            row.append(_cell(params, theme, (x, y, w, h), colour, value).named("cell", f"{round(value * 100)}"))
            big = params["cell"] not in ("dots", "sized") or value > 0.5
            if params["figures"] and w > size * 2.4 and h > size * 1.4 and big:
                row.append(
                    text(
                        x + w / 2,
                        baseline(y + h / 2, size),
                        str(round(value * 100)),
                        size,
                        ink_on(colour),
                        "sans",
                        "middle",
                    )
                )
        rows.append(group(row).noted(params["rows"][r]))
    return rows


def _cell(
    params: Mapping[str, Any], theme: Theme, box: tuple[float, float, float, float], colour: str, value: float
) -> Node:
    x, y, w, h = box
    kind = params["cell"]
    if kind == "dots":
        return circle(x + w / 2, y + h / 2, min(w, h) * 0.44, fill(colour))
    if kind == "sized":
        return circle(
            x + w / 2, y + h / 2, min(w, h) * (0.15 + 0.33 * value), fill(mix(colour, theme.hues[params["ends"]], 0.5))
        )
    if kind == "ruled":
        return rect(x, y, w, h, fill(colour) | {"stroke": theme.paper, "stroke-width": 2})
    gap = {"gaps": 2.0, "round": 3.0}.get(kind, 0.0)
    return rect(x, y, w - gap, h - gap, fill(colour), 5 if kind == "round" else 0)


def _names(
    params: Mapping[str, Any], theme: Theme, edge: tuple[float, float, float], cell: tuple[float, float], size: float
) -> Node:
    left, top, bottom = edge
    w, h = cell
    nodes = [
        text(left - 8, baseline(top + h * (place + 0.5), size), name, size, theme.ink, "sans", "end").named("row label")
        for place, name in enumerate(params["rows"])
    ]
    y = top - size * 0.5 if params["above"] else bottom + size * 1.3
    every = 1 if w > size * 2.6 else 2
    nodes += [
        text(left + w * (place + 0.5), y, name, size, theme.muted, "sans", "middle").named("column label")
        for place, name in enumerate(params["columns"])
        if place % every == 0
    ]
    return group(nodes).noted("labels")


def _mark(params: Mapping[str, Any], theme: Theme, at: tuple[float, float], cell: tuple[float, float]) -> list[Node]:
    if not params["mark"]:
        return []
    spots = [(value, r, c) for r, row in enumerate(params["cells"]) for c, value in enumerate(row)]
    spots = [spot for spot in spots if not params["triangle"] or spot[2] < len(params["columns"]) - spot[1]]
    _, r, c = max(spots)
    return [rect(at[0] + cell[0] * c, at[1] + cell[1] * r, *cell, pen(theme.ink, 2.5), 3).named("highest cell")]


def _bar(theme: Theme, edge: tuple[float, float, float], size: float) -> Node:
    x, top, bottom = edge
    bar = rect(x, top, 14, bottom - top, fill("url(#scale)")).named("colour scale")
    ends = [text(x + 18, y, words, size * 0.9, theme.muted) for y, words in ((top + size, "100"), (bottom, "0"))]
    return group([bar, *(end.named("scale label") for end in ends)]).noted("scale")


def _steps(theme: Theme, ends: tuple[str, str], at: tuple[float, float], size: float) -> Node:
    x, y = at
    nodes = [text(x, baseline(y + size / 2, size), "Low", size, theme.muted).named("scale label")]
    for place, colour in enumerate(ramp(*ends, 5)):
        nodes.append(rect(x + size * 2.8 + place * size * 1.5, y, size * 1.5, size, fill(colour)))
    nodes.append(text(x + size * 10.8, baseline(y + size / 2, size), "High", size, theme.muted).named("scale label"))
    return group(nodes).noted("scale")
