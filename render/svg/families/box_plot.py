"""Boxes with whiskers: upright or lying, notched, with outliers, means and points, or as violins."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import Plot, frame, names_below, names_left, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, polygon, rect
from gristmill.render.svg.palettes import Theme, mix, theme_of
from gristmill.render.svg.paths import Point, loop
from gristmill.render.svg.words import labels
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    count = draws.integer(3, 8)
    boxes: list[list[float]] = []
    for _ in range(count):
        middle, wide = draws.real(35, 65), draws.real(6, 14)
        lows = [middle - wide * draws.real(1.6, 2.4), middle - wide * draws.real(0.7, 1.2)]
        highs = [middle + wide * draws.real(0.7, 1.2), middle + wide * draws.real(1.6, 2.4)]
        boxes.append([round(value, 1) for value in (*lows, middle, *highs)])
    return view, params | {
        "names": labels(draws, count),
        "boxes": boxes,
        "flat": draws.chance(0.4),
        "kind": draws.weighted(("box", "notched", "violin", "range"), (5, 2, 2, 1)),
        "paint": draws.pick(("solid", "pale", "hollow", "many")),
        "caps": draws.chance(0.7),
        "outliers": [round(draws.real(3, 97), 1) if draws.chance(0.5) else -1 for _ in range(count)]
        if draws.chance(0.6)
        else [],
        "mean": draws.pick(("none", "dot", "diamond")),
        "dashed": draws.chance(0.3),
        "connect": draws.chance(0.2),
        "fill": draws.real(0.35, 0.65),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    room = max(text_width_px(name, 15) for name in params["names"]) if params["flat"] else 0
    made = frame(params, view, [0, 100], flat=params["flat"], room=room)
    plot = made.plot
    body = [*made.back, *_connect(params, theme, plot)]
    body += [_one(params, theme, plot, place) for place in range(len(params["boxes"]))]
    body += [*made.front, (names_left if params["flat"] else names_below)(plot, params["names"], theme)]
    return document(body, [], params, view)


def _spot(params: Mapping[str, Any], plot: Plot, across: float, value: float) -> Point:
    return (plot.x(value), across) if params["flat"] else (across, plot.y(value))


def _connect(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if not params["connect"]:
        return []
    slots = plot.slots(len(params["boxes"]), not params["flat"])
    points = [
        _spot(params, plot, start + width / 2, box[2])
        for (start, width), box in zip(slots, params["boxes"], strict=True)
    ]
    d = [("M" if place == 0 else "L", *point) for place, point in enumerate(points)]
    return [path(d, pen(theme.muted, 1.5)).named("median line")]


def _paint(params: Mapping[str, Any], theme: Theme, place: int) -> dict[str, Any]:
    colour = theme.hues[place if params["paint"] == "many" else 0]
    if params["paint"] == "hollow":
        return outlined(theme.paper, colour, 2)
    return outlined(mix(colour, theme.paper, 0.6), colour, 2) if params["paint"] == "pale" else fill(colour)


def _one(params: Mapping[str, Any], theme: Theme, plot: Plot, place: int) -> Node:
    low, first, middle, third, high = params["boxes"][place]
    start, width = plot.slots(len(params["boxes"]), not params["flat"])[place]
    at, half = start + width / 2, width * params["fill"] / 2
    ink = pen(theme.ink, 1.5, (4, 3) if params["dashed"] else ())
    paint = _paint(params, theme, place)
    nodes: list[Node] = []
    if params["kind"] == "violin":
        nodes.append(_violin(params, plot, at, half, place).named("violin"))
        nodes[0].attrs |= paint
        half = min(half * 0.25, 7)
        paint = fill(theme.ink)
    ends = [(low, first), (third, high)] if params["kind"] != "violin" else []
    for near, far in ends:
        nodes.append(line(*_spot(params, plot, at, near), *_spot(params, plot, at, far), ink).named("whisker"))
    if params["caps"]:
        for value in (low, high):
            caps = _spot(params, plot, at - half / 2, value), _spot(params, plot, at + half / 2, value)
            nodes.append(line(*caps[0], *caps[1], pen(theme.ink, 1.5)))
    nodes.append(_box(params, plot, (at, half), (first, middle, third), paint).named("box", params["names"][place]))
    pull = 0.5 if params["kind"] == "notched" else 1
    edge = theme.paper if params["kind"] == "violin" else theme.ink
    ends_of = _spot(params, plot, at - half * pull, middle), _spot(params, plot, at + half * pull, middle)
    nodes.append(line(*ends_of[0], *ends_of[1], pen(edge, 2)))
    return group(nodes + _extras(params, theme, plot, at, place)).noted(params["names"][place])


def _box(
    params: Mapping[str, Any],
    plot: Plot,
    across: tuple[float, float],
    values: tuple[float, float, float],
    paint: dict[str, Any],
) -> Node:
    at, half = across
    first, middle, third = values
    if params["kind"] == "notched":
        gap = (third - first) / 5
        side = [(1, first), (1, middle - gap), (0.5, middle), (1, middle + gap), (1, third)]
        corners = [_spot(params, plot, at + half * pull, value) for pull, value in side]
        corners += [_spot(params, plot, at - half * pull, value) for pull, value in side[::-1]]
        return polygon(corners, paint)
    (xa, ya), (xb, yb) = _spot(params, plot, at - half, first), _spot(params, plot, at + half, third)
    rx = min(half, 8) if params["kind"] == "range" else 0
    return rect(min(xa, xb), min(ya, yb), abs(xb - xa), abs(yb - ya), paint, rx)


def _violin(params: Mapping[str, Any], plot: Plot, at: float, half: float, place: int) -> Node:
    low, first, middle, third, high = params["boxes"][place]
    side = [(0.06, low), (0.5, first), (1, middle), (0.6, third), (0.06, high)]
    points = [_spot(params, plot, at + half * pull, value) for pull, value in side]
    points += [_spot(params, plot, at - half * pull, value) for pull, value in side[::-1]]
    return path(loop(points, 0.9), {})


def _extras(params: Mapping[str, Any], theme: Theme, plot: Plot, at: float, place: int) -> list[Node]:
    low, _, middle, _, high = params["boxes"][place]
    nodes: list[Node] = []
    if params["mean"] != "none" and params["kind"] != "violin":
        x, y = _spot(params, plot, at, middle + (high - middle) * 0.14)
        mark = (
            circle(x, y, 4, fill(theme.ink))
            if params["mean"] == "dot"
            else polygon([(x - 5, y), (x, y - 5), (x + 5, y), (x, y + 5)], fill(theme.ink))
        )
        nodes.append(mark.named("mean"))
    if params["outliers"]:
        value = params["outliers"][place]
        if value >= 0 and not low - 4 < value < high + 4:
            nodes.append(circle(*_spot(params, plot, at, value), 4, pen(theme.ink, 1.5)).named("outlier"))
    return nodes
