"""Graphs of nodes and links: in a ring, on a grid, in layers or around a hub, with weights and directions."""

import math
from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import arrow, tile
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.paths import Point, polar
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.25)
    kind = draws.pick(("ring", "layers", "hub", "grid", "rings"))
    count = draws.integer(6, 13)
    spots = _spots(kind, count, draws)
    pairs = [(a, b) for a in range(len(spots)) for b in range(a)]
    near = sorted(pairs, key=lambda pair: math.dist(spots[pair[0]], spots[pair[1]]))[: len(spots) * 3]
    links = [[a, b, draws.integer(1, 10)] for a, b in draws.some(near, len(spots) + draws.integer(0, 5))]
    if kind == "hub":
        links = [[0, b, draws.integer(1, 10)] for b in range(1, len(spots))] + links[:3]
    return view, params | {
        "title": draws.pick(("Network map", "Routes", "Data links", "Dependencies", "Trade links")),
        "spots": [[round(x, 3), round(y, 3)] for x, y in spots],
        "links": links,
        "groups": [draws.integer(0, 3) for _ in spots],
        "sizes": [round(draws.real(0.7, 1.5), 2) if draws.chance(0.5) else 1.0 for _ in spots],
        "corners": draws.pick((0, 0, 0, 4, 6)),
        "named": draws.pick(("letters", "numbers", "beside", "none")),
        "directed": draws.chance(0.35),
        "curved": draws.chance(0.3),
        "weights": draws.pick(("none", "none", "width", "words")),
        "paint": draws.pick(("solid", "edge", "pale")),
        "halo": draws.chance(0.25),
        "dashed": draws.chance(0.3),
    }


def _spots(kind: str, count: int, draws: Draws) -> list[Point]:
    if kind == "hub":
        return [
            (0.5, 0.5),
            *(polar(0.5, 0.5, draws.real(0.33, 0.46), 360 * place / (count - 1)) for place in range(count - 1)),
        ]
    if kind == "ring":
        return [polar(0.5, 0.5, 0.44, 360 * place / count - 90) for place in range(count)]
    if kind == "rings":
        inner = count // 3
        return [polar(0.5, 0.5, 0.17, 360 * place / inner) for place in range(inner)] + [
            polar(0.5, 0.5, 0.44, 360 * place / (count - inner) + 20) for place in range(count - inner)
        ]
    columns = 3 if kind == "layers" else 4
    rows = -(-count // columns)
    spots = [((place % columns + 0.5) / columns, (place // columns + 0.5) / rows) for place in range(count)]
    shake = 0.0 if kind == "layers" else 0.06
    return [(x + draws.real(-shake, shake), y + draws.real(-shake, shake)) for x, y in spots]


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    area = (40.0, top + 22, view.width_px - 80.0, view.height_px - top - 56.0)
    r = min(area[2], area[3]) / 18 + 5
    points = [(area[0] + area[2] * x, area[1] + area[3] * y) for x, y in params["spots"]]
    body = [*ground(params, view), *head]
    body.append(group([_link(params, theme, points, r, link) for link in params["links"]]).noted("links"))
    body += _weights(params, theme, points, size)
    nodes = [_node(params, theme, points[place], r * params["sizes"][place], place) for place in range(len(points))]
    body += [group(nodes).noted("nodes"), *_names(params, theme, points, r, size)]
    return document(body, [], params, view)


def _link(params: Mapping[str, Any], theme: Theme, points: list[Point], r: float, link: list[int]) -> Node:
    a, b, weight = link
    start, end = points[a], points[b]
    width = 1 + weight * 0.4 if params["weights"] == "width" else 1.6
    dash = (5, 4) if params["dashed"] and weight % 3 == 0 else ()
    if params["directed"]:
        degrees = math.degrees(math.atan2(start[1] - end[1], start[0] - end[0]))
        tip = polar(*end, r * params["sizes"][b] + 3, degrees)
        return arrow([start, tip], theme.muted, min(width, 3), "solid", dash).named("arrow")
    if params["curved"]:
        middle = (
            (start[0] + end[0]) / 2 + (end[1] - start[1]) * 0.16,
            (start[1] + end[1]) / 2 - (end[0] - start[0]) * 0.16,
        )
        return path([("M", *start), ("Q", *middle, *end)], pen(theme.muted, width, dash)).named("link")
    return line(*start, *end, pen(theme.muted, width, dash)).named("link")


def _weights(params: Mapping[str, Any], theme: Theme, points: list[Point], size: float) -> list[Node]:
    if params["weights"] != "words" or params["curved"] or params["named"] == "beside":
        return []
    nodes: list[Node] = []
    taken: list[Point] = list(points)
    for a, b, weight in params["links"]:
        spot = (points[a][0] * 0.55 + points[b][0] * 0.45, points[a][1] * 0.55 + points[b][1] * 0.45)
        if all(math.dist(spot, other) > size * 2.6 for other in taken):
            taken.append(spot)
            nodes.append(circle(*spot, size * 0.8, fill(theme.paper)))
            nodes.append(
                text(spot[0], baseline(spot[1], size), str(weight), size, theme.ink, "sans", "middle").named("weight")
            )
    return [group(nodes).noted("weights")] if nodes else []


def _node(params: Mapping[str, Any], theme: Theme, at: Point, r: float, place: int) -> Node:
    hue = theme.hues[params["groups"][place]]
    paint = outlined(theme.paper, hue, 3) if params["paint"] == "edge" else fill(hue)
    if params["paint"] == "pale":
        paint = outlined(mix(hue, theme.paper, 0.7), hue, 2)
    node = tile(at, r, params["corners"], paint).named("node", chr(65 + place))
    if params["halo"] and place % 3 == 0:
        return group([circle(*at, r + 5, pen(hue, 1.5)), node])
    return node


def _names(params: Mapping[str, Any], theme: Theme, points: list[Point], r: float, size: float) -> list[Node]:
    if params["named"] == "none":
        return []
    nodes: list[Node] = []
    for place, (x, y) in enumerate(points):
        hue = theme.hues[params["groups"][place]]
        under = (
            theme.paper if params["paint"] == "edge" else mix(hue, theme.paper, 0.7 if params["paint"] == "pale" else 0)
        )
        words = str(place + 1) if params["named"] == "numbers" else chr(65 + place)
        if params["named"] == "beside":
            foot = y + r * params["sizes"][place] + size * 1.1
            nodes.append(
                text(x, baseline(foot, size), f"Node {words}", size, theme.ink, "sans", "middle").named("node label")
            )
        else:
            nodes.append(
                text(x, baseline(y, size), words, size, ink_on(under), "sans-bold", "middle").named("node label")
            )
    return [group(nodes).noted("names")]
