"""Events along a line: level, upright or winding, with dots, pins, cards and dates on one or both sides."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import outline, tile, words_in
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import Node, fill, group, line, outlined, path, pen, rect
from gristmill.render.svg.palettes import Theme, ink_on, theme_of
from gristmill.render.svg.paths import Point, smooth
from gristmill.render.svg.words import task
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.2)
    tall = view.height_px > view.width_px or draws.chance(0.3)
    count = draws.integer(3, max(5, min(8, (view.height_px - 60) // 56 if tall else view.width_px // 110)))
    start, step = draws.integer(1900, 1990), draws.pick((1, 2, 5, 10))
    return view, params | {
        "title": draws.pick(("History", "Milestones", "Road map", "The project so far", "Next steps")),
        "dates": [str(start + step * place) for place in range(count)],
        "events": [task(draws) for _ in range(count)],
        "tall": tall,
        "line": draws.pick(("line", "thick", "dashes", "wave", "bar")),
        "mark": draws.pick((0, 0, 4, 6, 3)),
        "hollow": draws.chance(0.4),
        "card": draws.pick(("none", "round", "square", "cut", "none")),
        "sides": draws.pick(("both", "both", "one")),
        "stems": draws.chance(0.6),
        "dated": draws.pick(("opposite", "with", "badge")),
        "many": draws.chance(0.5),
        "now": draws.chance(0.25),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    body = [*ground(params, view), *head]
    points = _points(params, view, top)
    body.append(_spine(params, theme, points).named("spine"))
    for place in range(len(points)):
        nodes = _event(params, theme, points, place, (view, top, size))
        body.append(group(nodes).noted(params["dates"][place]))
    return document(body, [], params, view)


def _points(params: Mapping[str, Any], view: View, top: float) -> list[Point]:
    count = len(params["dates"])
    if params["tall"]:
        x = view.width_px / 2 if params["sides"] == "both" else view.width_px * 0.24
        step = (view.height_px - 16 - top) / count
        return [
            (x + (14 if params["line"] == "wave" and place % 2 else 0), top + step * (place + 0.5))
            for place in range(count)
        ]
    y = (top + view.height_px) / 2 if params["sides"] == "both" else view.height_px * 0.48
    step = (view.width_px - 32) / count
    return [
        (16 + step * (place + 0.5), y + (16 if params["line"] == "wave" and place % 2 else 0)) for place in range(count)
    ]


def _spine(params: Mapping[str, Any], theme: Theme, points: list[Point]) -> Node:
    first, last = points[0], points[-1]
    dx, dy = (0, 26) if params["tall"] else (34, 0)
    start, end = (first[0] - dx, first[1] - dy), (last[0] + dx, last[1] + dy)
    if params["line"] == "wave":
        return path(smooth([start, *points, end], 1.0), pen(theme.muted, 3))
    if params["line"] == "bar":
        if params["tall"]:
            return rect(start[0] - 5, start[1], 10, end[1] - start[1], fill(theme.rule), 5)
        return rect(start[0], start[1] - 5, end[0] - start[0], 10, fill(theme.rule), 5)
    return line(
        *start,
        *end,
        pen(theme.muted, 5 if params["line"] == "thick" else 2.5, (7, 5) if params["line"] == "dashes" else ()),
    )


def _event(
    params: Mapping[str, Any], theme: Theme, points: list[Point], place: int, frame: tuple[View, float, float]
) -> list[Node]:
    view, top, size = frame
    x, y = points[place]
    hue = theme.hues[place % 8 if params["many"] else 0]
    first = params["sides"] == "one" or place % 2 == 0
    step = (view.height_px - 16 - top) / len(points) if params["tall"] else (view.width_px - 32) / len(points)
    if params["tall"]:
        w = view.width_px - x - 44 if params["sides"] == "one" else view.width_px / 2 - 50
        box = (x + 30 if first else x - 30 - w, y - min(step * 0.36, 30), w, min(step * 0.72, 60))
        stem = (x, y, x + 30 if first else x - 30, y)
        date = (x - 30 - size * 4 if first else x + 30, y - size, size * 4, size * 2)
    else:
        h = min((view.height_px - top) * 0.26, 70)
        box = (x - step * 0.46, y + 34 if first else y - 34 - h, step * 0.92, h)
        stem = (x, y, x, y + 34 if first else y - 34)
        date = (x - step * 0.46, y - 40 if first else y + 18, step * 0.92, size * 1.8)
    nodes: list[Node] = []
    if params["stems"] or params["card"] != "none":
        nodes.append(line(*stem, pen(hue, 1.5)))
    current = params["now"] and place == len(points) - 1
    paint = outlined(theme.paper, hue, 3) if params["hollow"] != current else fill(hue)
    nodes.append(tile((x, y), 8, params["mark"], paint).named("marker", params["dates"][place]))
    return nodes + _words(params, theme, (box, date), hue, size, place)


def _words(
    params: Mapping[str, Any],
    theme: Theme,
    boxes: tuple[tuple[float, float, float, float], tuple[float, float, float, float]],
    hue: str,
    size: float,
    place: int,
) -> list[Node]:
    (x, y, w, h), date = boxes
    nodes: list[Node] = []
    if params["card"] != "none":
        nodes.append(outline(params["card"], (x, y, w, h), outlined(theme.surface, theme.rule, 1.2)).named("card"))
    inner = (x, y, w, h)
    if params["dated"] == "with":
        date, inner = (x, y + 2, w, h * 0.42), (x, y + h * 0.42, w, h * 0.55)
    if params["dated"] == "badge":
        wide = size * 3.6
        date = (date[0] + (date[2] - wide) / 2, date[1] + (date[3] - size * 1.7) / 2, wide, size * 1.7)
        nodes.append(rect(*date, fill(hue), size * 0.8).named("date badge"))
    nodes += words_in(
        date,
        params["dates"][place],
        size,
        ink_on(hue) if params["dated"] == "badge" else theme.ink,
        "sans-bold",
        "date",
    )
    return nodes + words_in(inner, params["events"][place], size, theme.ink, "sans", "event")
