"""Flow charts: start, steps, questions with two ways on, in a column or a row, with swim lanes or without."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import Box, arrow, centre, outline, side, words_in
from gristmill.render.svg.charts import base_size, ground, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import Node, fill, group, line, linear, outlined, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.words import NOUNS, task
from gristmill.render.svg.writer import document

SHAPES = {
    "start": "pill",
    "end": "pill",
    "step": "square",
    "question": "diamond",
    "data": "slant",
    "part": "round",
    "page": "cut",
}


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.2)
    tall = view.height_px >= view.width_px * 0.9
    rows = draws.integer(4, max(6, (view.height_px // 88 if tall else view.width_px // 138) + 1))
    cells: list[list[str]] = []
    for place in range(rows):
        kind = (
            "start"
            if place == 0
            else "end"
            if place == rows - 1
            else draws.weighted(("step", "question", "data", "part", "page"), (4, 4, 2, 1, 1))
        )
        words = {"start": "Start", "end": "End", "question": f"{draws.pick(NOUNS).capitalize()} ok?"}.get(kind) or task(
            draws
        )
        cells.append([kind, words])
    asides = [
        task(draws) if cell[0] == "question" or (draws.chance(0.2) and cell[0] == "step") else "" for cell in cells
    ]
    return view, params | {
        "title": "Flow chart",
        "cells": cells,
        "asides": asides,
        "back": [draws.chance(0.35) for _ in cells],
        "tall": tall,
        "head": draws.pick(("solid", "solid", "open", "dot")),
        "paint": draws.pick(("pale", "solid", "edge", "mono", "shaded")),
        "lanes": draws.chance(0.25),
        "yes": draws.pick(("yes", "ok", "true")),
        "no": draws.pick(("no", "else", "false")),
        "shadow": draws.chance(0.15),
        "width": draws.pick((1.5, 1.5, 2, 2.5)),
        "dashed": draws.chance(0.2),
        "steps": draws.pick(("square", "round")),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    boxes, asides = _layout(params, view)
    body = [*ground(params, view), *_lanes(params, theme, view, size)]
    nodes: list[Node] = []
    wires: list[Node] = []
    for place, (kind, words) in enumerate(params["cells"]):
        nodes.append(group(_cell(params, theme, kind, boxes[place], words, size)).noted(words))
        if place:
            ends = ("bottom", "top") if params["tall"] else ("right", "left")
            route = [side(boxes[place - 1], ends[0]), side(boxes[place], ends[1])]
            wires += _wire(
                params, theme, route, params["yes"] if params["cells"][place - 1][0] == "question" else "", size
            )
        if params["asides"][place]:
            nodes.append(group(_cell(params, theme, "part", asides[place], params["asides"][place], size)))
            wires += _aside(params, theme, (boxes, asides), size, place)
    body += [group(wires).noted("arrows"), *nodes]
    defs = [linear("face", ((0, mix(theme.hues[0], theme.paper, 0.85)), (1, mix(theme.hues[0], theme.paper, 0.55))))]
    return document(body, defs if params["paint"] == "shaded" else [], params, view)


def _layout(params: Mapping[str, Any], view: View) -> tuple[list[Box], list[Box]]:
    count = len(params["cells"])
    if params["tall"]:
        step = (view.height_px - 28) / count
        w, h = min(view.width_px * 0.36, 170), min(step * 0.6, 76)
        x, far = view.width_px * (0.27 if any(params["asides"]) else 0.5), view.width_px * 0.76
        rows = [14 + step * (place + 0.5) for place in range(count)]
        return [(x - w / 2, y - h / 2, w, h) for y in rows], [(far - w / 2, y - h * 0.45, w, h * 0.9) for y in rows]
    step = (view.width_px - 28) / count
    w, h = step * 0.7, min(view.height_px * 0.22, 76)
    y, far = view.height_px * (0.3 if any(params["asides"]) else 0.5), view.height_px * 0.76
    columns = [14 + step * (place + 0.5) for place in range(count)]
    return [(x - w / 2, y - h / 2, w, h) for x in columns], [(x - w / 2, far - h * 0.45, w, h * 0.9) for x in columns]


def _cell(params: Mapping[str, Any], theme: Theme, kind: str, box: Box, words: str, size: float) -> list[Node]:
    order = list(SHAPES).index(kind)
    hue = theme.hues[0 if params["paint"] in ("mono", "shaded") else order]
    shape = params["steps"] if kind == "step" else SHAPES[kind]
    paint, ink = fill(hue), ink_on(hue)
    if params["paint"] == "pale":
        colour = mix(hue, theme.paper, 0.75)
        paint, ink = outlined(colour, hue, 1.5), ink_on(colour)
    elif params["paint"] == "edge":
        paint, ink = outlined(theme.paper, hue, 2), theme.ink
    elif params["paint"] == "mono":
        paint, ink = outlined(theme.paper, theme.ink, 1.5), theme.ink
    elif params["paint"] == "shaded":
        paint, ink = outlined("url(#face)", hue, 1.5), ink_on(mix(hue, theme.paper, 0.7))
    nodes: list[Node] = []
    if params["shadow"]:
        nodes.append(outline(shape, (box[0] + 3, box[1] + 3, box[2], box[3]), fill(theme.rule)))
    nodes.append(
        outline(shape, box, paint).named(
            {"question": "decision", "part": "process", "page": "document"}.get(kind, kind), words
        )
    )
    x, y, w, h = box
    inner = (x + w * 0.2, y, w * 0.6, h) if kind == "question" else (x + w * 0.06, y, w * 0.88, h)
    return nodes + words_in(inner, words, size, ink, "sans", "box text")


def _wire(
    params: Mapping[str, Any], theme: Theme, points: list[tuple[float, float]], word: str, size: float
) -> list[Node]:
    dash = (6, 4) if params["dashed"] else ()
    nodes = [arrow(points, theme.muted, params["width"], params["head"], dash).named("arrow")]
    if word:
        (x, y), (x2, y2) = points[0], points[1]
        down = abs(y2 - y) > abs(x2 - x)
        at = (x + 6, (y + y2) / 2 + size * 0.3, "start") if down else ((x + x2) / 2, y - 5, "middle")
        nodes.append(text(at[0], at[1], word, size, theme.ink, "sans", at[2]).named("branch label"))
    return nodes


def _aside(
    params: Mapping[str, Any], theme: Theme, rows: tuple[list[Box], list[Box]], size: float, place: int
) -> list[Node]:
    boxes, asides = rows
    ends = ("right", "left") if params["tall"] else ("bottom", "top")
    word = params["no"] if params["cells"][place][0] == "question" else ""
    nodes = _wire(params, theme, [side(boxes[place], ends[0]), side(asides[place], ends[1])], word, size)
    free = place > 0 and not params["asides"][place - 1]
    if params["back"][place] and free:
        start = side(asides[place], "top" if params["tall"] else "left")
        goal = side(boxes[place - 1], "right" if params["tall"] else "bottom")
        bend = (start[0], goal[1]) if params["tall"] else (goal[0], start[1])
        nodes += _wire(params, theme, [start, bend, goal], "", size)
    return nodes


def _lanes(params: Mapping[str, Any], theme: Theme, view: View, size: float) -> list[Node]:
    if not params["lanes"] or not any(params["asides"]):
        return []
    w, h = view.width_px, view.height_px
    if params["tall"]:
        return [
            rect(w / 2, 0, w / 2, h, fill(theme.surface)).named("lane"),
            line(w / 2, 0, w / 2, h, pen(theme.rule, 1.5)),
        ]
    at = centre((0, h * 0.3, w, h * 0.46))[1]
    return [rect(0, at, w, h - at, fill(theme.surface)).named("lane"), line(0, at, w, at, pen(theme.rule, 1.5))]
