"""Venn and Euler diagrams of two to four sets: circles or ellipses, clear, striped or with the overlap picked out."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import words_in
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import Node, circle, clip, ellipse, fill, group, line, pen, rect
from gristmill.render.svg.palettes import Theme, theme_of
from gristmill.render.svg.paths import polar
from gristmill.render.svg.words import SHORT
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.15)
    count = draws.integer(2, 5)
    return view, params | {
        "names": draws.some(SHORT, count),
        "common": draws.some(("Both", "Shared", "Overlap", "Common", "All"), 4),
        "shape": draws.pick(("circle", "circle", "ellipse")),
        "paint": draws.pick(("clear", "lines", "both", "grouped")),
        "turn": draws.pick((-90, -90, 90, 0)),
        "picked": draws.chance(0.35),
        "named": draws.pick(("inside", "inside", "tags", "leads")),
        "universe": draws.chance(0.3),
        "core": draws.pick(("word", "none", "dot")),
        "counts": [draws.integer(2, 90) for _ in range(count)] if draws.chance(0.4) else [],
        "gap": round(draws.real(0.52, 0.68), 2),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view) + 2
    head, top = heading(params, view)
    body = [*ground(params, view), *head]
    middle = (view.width_px / 2, (top + view.height_px - 16) / 2)
    half = min((view.height_px - 20 - top) / 2, view.width_px / 2 - 16)
    r = half * (0.6 if len(params["names"]) > 2 else 0.62)
    sets = _sets(params, theme, middle, r)
    if params["universe"]:
        body.append(
            rect(14, top, view.width_px - 28, view.height_px - top - 14, pen(theme.muted, 1.5), 6).named("universe")
        )
    shapes = group(sets).noted("sets")
    body.append(shapes.with_("opacity", 0.9) if params["paint"] == "grouped" else shapes)
    defs: list[Node] = []
    if params["picked"] and params["shape"] == "circle":
        first, second = _spots(params, middle, r)[:2]
        defs = [clip("first-set", circle(*first, r, {}))]
        picked = circle(*second, r, fill(theme.ink, 0.45)).with_("clip-path", "url(#first-set)")
        body.append(picked.named("intersection"))
    body += _labels(params, theme, middle, r, size)
    return document(body, defs, params, view)


def _spots(params: Mapping[str, Any], middle: tuple[float, float], r: float) -> list[tuple[float, float]]:
    count = len(params["names"])
    turn = 180 if count == 2 else params["turn"] + (45 if count == 4 else 0)
    return [
        polar(*middle, r * params["gap"] * (0.95 if count == 3 else 1), turn + 360 * place / count)
        for place in range(count)
    ]


def _sets(params: Mapping[str, Any], theme: Theme, middle: tuple[float, float], r: float) -> list[Node]:
    nodes: list[Node] = []
    for place, spot in enumerate(_spots(params, middle, r)):
        hue = theme.hues[place]
        paint = pen(hue, 3) if params["paint"] == "lines" else fill(hue, 0.45)
        if params["paint"] == "both":
            paint |= {"stroke": hue, "stroke-width": 2}
        shape = circle(*spot, r, paint) if params["shape"] == "circle" else ellipse(*spot, r, r * 0.82, paint)
        nodes.append(shape.named("set", params["names"][place]))
    return nodes


def _labels(params: Mapping[str, Any], theme: Theme, middle: tuple[float, float], r: float, size: float) -> list[Node]:
    nodes: list[Node] = []
    for place, spot in enumerate(_spots(params, middle, r)):
        out = 1.62 if len(params["names"]) == 2 else 1.75
        x, y = middle[0] + (spot[0] - middle[0]) * out, middle[1] + (spot[1] - middle[1]) * out
        box = (x - r * 0.5, y - size, r, size * 2)
        name = params["names"][place]
        if params["named"] == "tags":
            nodes.append(
                rect(
                    x - len(name) * size * 0.4 - 8,
                    y - size * 0.8,
                    len(name) * size * 0.8 + 16,
                    size * 1.6,
                    fill(theme.paper),
                    4,
                ).named("tag")
            )
        if params["named"] == "leads" and params["counts"]:
            nodes.append(line(x, y + size * 0.8, x, y + size * 1.3, pen(theme.ink, 1.5)))
        nodes += words_in(box, name, size, theme.ink, "sans-bold", "set name")
        if params["counts"]:
            nodes += words_in(
                (x - r * 0.4, y + size * 1.1, r * 0.8, size * 1.6),
                str(params["counts"][place]),
                size,
                theme.ink,
                "sans",
                "count",
            )
    if params["core"] == "word":
        nodes += words_in(
            (middle[0] - r * 0.4, middle[1] - size, r * 0.8, size * 2),
            params["common"][0],
            size,
            theme.ink,
            "sans-bold",
            "overlap name",
        )
    elif params["core"] == "dot":
        nodes.append(circle(*middle, 6, fill(theme.ink)).named("dot"))
    return [group(nodes).noted("labels")]
