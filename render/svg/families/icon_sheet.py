"""Sheets of icons in rows, with names, numbers or rules; defined once as symbols and used, or drawn in place."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.icons import ICONS, Tones, icon
from gristmill.render.svg.nodes import Node, circle, el, fill, group, line, outlined, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, theme_of
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.25)
    columns = max(3, view.width_px // 130) + draws.integer(0, 2)
    rows = max(2, min(5, (view.height_px - 50) // 120))
    names = draws.some(sorted(ICONS), columns * rows)
    return view, params | {
        "title": draws.pick(("Icon set", "Symbols", "Signs", "Tool bar", "Pictograms")),
        "columns": columns,
        "icons": names[: columns * rows - draws.integer(0, 3)],
        "how": draws.pick(("symbols", "groups", "in place", "symbols")),
        "tone": draws.pick(("outline", "solid", "two")),
        "names": draws.pick(("below", "below", "none", "numbers")),
        "tile": draws.pick(("none", "round", "circle", "edge")),
        "rules": draws.pick(("none", "none", "rows", "cells")),
        "many": draws.chance(0.5),
        "picked": draws.integer(0, columns * rows - 3) if draws.chance(0.3) else -1,
        "width": draws.pick((1.2, 1.5, 2)),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    rows = -(-len(params["icons"]) // params["columns"])
    cell = ((view.width_px - 32) / params["columns"], (view.height_px - 16 - top) / rows)
    body = [*ground(params, view), *head, *_rules(params, theme, (view, top, rows), cell)]
    defs: list[Node] = []
    for place, name in enumerate(params["icons"]):
        column, row = place % params["columns"], place // params["columns"]
        at = (
            16 + cell[0] * (column + 0.5),
            top + cell[1] * (row + 0.5) - (size * 0.7 if params["names"] != "none" else 0),
        )
        nodes, defined = _icon(params, theme, at, min(cell[0], cell[1] - size * 2.4) * 0.32, place)
        defs += defined
        if params["names"] != "none":
            words = name if params["names"] == "below" else f"{place + 1:02d}"
            y = top + cell[1] * (row + 1) - size * 0.6
            nodes.append(text(at[0], y, words, size, theme.ink, "sans", "middle").named("icon name"))
        body.append(group(nodes).noted(name))
    return document(body, defs, params, view)


def _rules(
    params: Mapping[str, Any], theme: Theme, frame: tuple[View, float, int], cell: tuple[float, float]
) -> list[Node]:
    view, top, rows = frame
    if params["rules"] == "none":
        return []
    lines = [
        line(16, top + cell[1] * row, view.width_px - 16, top + cell[1] * row, pen(theme.rule, 1))
        for row in range(rows + 1)
    ]
    if params["rules"] == "cells":
        foot = top + cell[1] * rows
        lines += [
            line(16 + cell[0] * n, top, 16 + cell[0] * n, foot, pen(theme.rule, 1))
            for n in range(params["columns"] + 1)
        ]
    return [group(lines).named("rules")]


def _icon(
    params: Mapping[str, Any], theme: Theme, at: tuple[float, float], r: float, place: int
) -> tuple[list[Node], list[Node]]:
    x, y = at
    hue = theme.hues[place % 8 if params["many"] else 0]
    picked = place == params["picked"]
    under = theme.paper
    nodes: list[Node] = []
    if params["tile"] != "none" or picked:
        under = hue if params["tile"] in ("round", "circle") or picked else theme.paper
        paint = fill(under) if under == hue else outlined(theme.paper, theme.rule, 1.5)
        reach = r * 1.35
        shape = (
            circle(x, y, reach, paint)
            if params["tile"] == "circle"
            else rect(x - reach, y - reach, 2 * reach, 2 * reach, paint, 8)
        )
        nodes.append(shape.named("tile"))
    ink = ink_on(hue) if under == hue else hue
    tones = {
        "outline": Tones(ink, "", "", params["width"]),
        "solid": Tones("", ink, under, params["width"]),
        "two": Tones(ink, ink, under, params["width"], "round", 0.25),
    }[params["tone"]]
    name = params["icons"][place]
    if params["how"] == "in place":
        return [*nodes, group(icon(name, (x - r, y - r), r / 12, tones, False)).named("icon", name)], []
    if params["how"] == "groups":
        drawn = group(icon(name, (0, 0), 1, tones, False), ("translate", x - r, y - r), ("scale", round(r / 12, 2)))
        return [*nodes, drawn.named("icon", name)], []
    symbol = el("symbol", {"id": name, "viewBox": [0, 0, 24, 24]}, *icon(name, (0, 0), 1, tones, False))
    used = Node("use", {"href": f"#{name}", "x": x - r, "y": y - r, "width": 2 * r, "height": 2 * r})
    return [*nodes, used.named("icon", name)], [symbol]
