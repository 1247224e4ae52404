"""Circles of steps: nodes on a ring with arrows between them, arc arrows, petals or gears of segments."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import outline, words_in
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import Node, circle, fill, group, outlined, path, pen, polygon
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.paths import Point, arc, polar, slice_of
from gristmill.render.svg.words import SHORT, VERBS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.2)
    return view, params | {
        "title": draws.pick(("Life cycle", "The loop", "Season", "Process", "Improvement cycle")),
        "names": draws.some(VERBS, draws.integer(3, 8)),
        "core": draws.pick(SHORT),
        "form": draws.pick(("nodes", "nodes", "segments", "petals")),
        "node": draws.pick(("circle", "round", "pill", "hexagon", "square")),
        "arrows": draws.pick(("arc", "arc", "dashed", "ring")),
        "centre": draws.pick(("none", "word", "disc", "ring")),
        "paint": draws.pick(("solid", "pale", "edge")),
        "one": draws.chance(0.3),
        "numbers": draws.chance(0.3),
        "turn": draws.pick((-90, -90, -60, 0)),
        "halo": draws.chance(0.25),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    body = [*ground(params, view), *head]
    half = min(view.height_px - 16 - top, view.width_px - 24.0) / 2
    middle = (view.width_px / 2, (top + view.height_px - 14) / 2)
    if params["halo"]:
        body.append(circle(*middle, half - 3, fill(theme.surface)).named("halo"))
    form = {"segments": _segments, "petals": _petals}.get(params["form"], _nodes)
    body += form(params, theme, middle, half - 6, size)
    r = half * 0.26
    if params["centre"] in ("disc", "ring"):
        body.append(
            circle(
                *middle, r, fill(theme.surface) if params["centre"] == "disc" else outlined(theme.paper, theme.ink, 2)
            ).named("centre")
        )
    if params["centre"] != "none":
        body += words_in(
            (middle[0] - r, middle[1] - r / 2, 2 * r, r),
            params["core"],
            size + 1,
            theme.ink,
            "sans-bold",
            "centre label",
        )
    return document(body, [], params, view)


def _paint(params: Mapping[str, Any], theme: Theme, place: int) -> tuple[dict[str, Any], str]:
    hue = theme.hues[0 if params["one"] else place]
    if params["paint"] == "edge":
        return outlined(theme.paper, hue, 2.5), theme.ink
    colour = mix(hue, theme.paper, 0.7) if params["paint"] == "pale" else hue
    return fill(colour), ink_on(colour)


def _words(params: Mapping[str, Any], place: int) -> str:
    return f"{place + 1} {params['names'][place]}" if params["numbers"] else params["names"][place]


def _nodes(params: Mapping[str, Any], theme: Theme, middle: Point, half: float, size: float) -> list[Node]:
    count = len(params["names"])
    r = min(half * 0.3, half * 1.9 / count)
    ring = half - r
    nodes: list[Node] = []
    arrows: list[Node] = []
    step = 360 / count
    gap = 57.3 * r * 1.28 / ring
    if params["arrows"] == "ring":
        arrows.append(circle(*middle, ring, pen(theme.rule, 4)).named("ring"))
    for place in range(count):
        turn = params["turn"] + step * place
        x, y = polar(*middle, ring, turn)
        tall = r if params["node"] in ("circle", "hexagon") else r * 0.62
        box = (x - r, y - tall, 2 * r, 2 * tall)
        paint, ink = _paint(params, theme, place)
        inner = (x - r * 0.92, y - tall, 1.84 * r, 2 * tall)
        nodes.append(
            group(
                [
                    outline(params["node"], box, paint).named("step", params["names"][place]),
                    *words_in(inner, _words(params, place), size, ink, "sans", "step label"),
                ]
            )
        )
        if params["arrows"] != "ring" and step - 2 * gap > 6:
            dash = (6, 4) if params["arrows"] == "dashed" else ()
            arrows.append(_arc_arrow(theme, (middle, ring), turn + gap, turn + step - gap, dash))
    return [group(arrows).noted("arrows"), group(nodes).noted("steps")] if arrows else [group(nodes).noted("steps")]


def _arc_arrow(theme: Theme, ring: tuple[Point, float], start: float, end: float, dash: tuple[float, ...]) -> Node:
    centre, r = ring
    tip, back = polar(*centre, r, end), end - 57.3 * 11 / r
    head = [tip, polar(*centre, r + 6, back), polar(*centre, r - 6, back)]
    return group(
        [path(arc(centre, r, start, back), pen(theme.muted, 2.5, dash)), polygon(head, fill(theme.muted))]
    ).named("arrow")


def _segments(params: Mapping[str, Any], theme: Theme, middle: Point, half: float, size: float) -> list[Node]:
    """Ring segments with a point at one end and a notch at the other."""
    count = len(params["names"])
    step, inner = 360 / count, half * 0.48
    nodes: list[Node] = []
    for place in range(count):
        start, end = params["turn"] + step * place + 2, params["turn"] + step * (place + 1) - 2
        paint, ink = _paint(params, theme, place)
        mid = (half + inner) / 2
        d = slice_of(middle, half * 0.97, inner, start, end)
        d.insert(2, ("L", *polar(*middle, mid, end + 8)))
        d.insert(len(d) - 1, ("L", *polar(*middle, mid, start + 8)))
        x, y = polar(*middle, mid, (start + end) / 2 + 4)
        wide = min(half - inner, 3.14 * mid * 2 / count * 0.9)
        nodes.append(
            group(
                [
                    path(d, paint).named("segment", params["names"][place]),
                    *words_in(
                        (x - wide / 2, y - 15, wide, 30), _words(params, place), size, ink, "sans-bold", "step label"
                    ),
                ]
            )
        )
    return nodes


def _petals(params: Mapping[str, Any], theme: Theme, middle: Point, half: float, size: float) -> list[Node]:
    count = len(params["names"])
    r = half * min(0.46, 1.5 / count + 0.08)
    nodes: list[Node] = []
    for place in range(count):
        x, y = polar(*middle, half - r, params["turn"] + 360 * place / count)
        paint, ink = _paint(params, theme, place)
        petal = circle(x, y, r * 0.94, paint)
        fx, fy = polar(*middle, half - r * 0.9, params["turn"] + 360 * place / count)
        nodes.append(
            group(
                [
                    petal.named("petal", params["names"][place]),
                    *words_in(
                        (fx - r * 0.8, fy - 14, r * 1.6, 28),
                        _words(params, place),
                        size,
                        ink,
                        "sans-bold",
                        "step label",
                    ),
                ]
            )
        )
    return nodes
