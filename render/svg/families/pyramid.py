"""Pyramids and funnels of stages: upright or upside down, whole or apart, with labels in or beside them."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import tile, words_in
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, fill, group, line, outlined, path, pen, polygon, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, ramp, theme_of
from gristmill.render.svg.paths import closed
from gristmill.render.svg.words import SHORT
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.2)
    return view, params | {
        "title": draws.pick(("Priorities", "Levels", "Needs", "Strategy", "Foundations", "Structure")),
        "names": draws.some(SHORT, draws.integer(3, 7)),
        "form": draws.pick(("pyramid", "pyramid", "inverted", "steps", "split", "solid")),
        "gap": draws.pick((0, 0, 3, 8)),
        "side": draws.pick(("inside", "right", "leads", "both")),
        "paint": draws.pick(("hues", "ramp", "edge")),
        "numbers": draws.pick(("none", "badges", "plain")),
        "as_path": draws.chance(0.4),
        "axis": draws.chance(0.3),
        "base": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view) + 1
    head, top = heading(params, view)
    beside = params["side"] != "inside"
    room = max(text_width_px(name, size) for name in params["names"]) + 34 if beside else 0
    left = 44.0 if params["numbers"] != "none" or params["axis"] else 22.0
    area = (left, top + 4, view.width_px - 22 - room, view.height_px - (34.0 if params["base"] else 22.0))
    body = [*ground(params, view), *head]
    shades = ramp(theme.hues[0], mix(theme.hues[0], theme.paper, 0.6), len(params["names"]))
    for place in range(len(params["names"])):
        hue = shades[place] if params["paint"] == "ramp" else theme.hues[place]
        body.append(group(_layer(params, theme, area, hue, size, place)).noted(params["names"][place]))
    if params["axis"]:
        x = 24
        body.append(
            path(
                [
                    ("M", x, area[3]),
                    ("L", x, area[1]),
                    ("M", x - 5, area[1] + 8),
                    ("L", x, area[1]),
                    ("L", x + 5, area[1] + 8),
                ],
                pen(theme.muted, 2),
            ).named("arrow")
        )
    if params["base"]:
        body.append(line(area[0], area[3] + 8, area[2], area[3] + 8, pen(theme.ink, 3)).named("base line"))
    return document(body, [], params, view)


def _ends(
    params: Mapping[str, Any], area: tuple[float, float, float, float], place: int
) -> tuple[float, float, float, float]:
    """Half widths above and below, top and foot of a layer."""
    count = len(params["names"])
    half = (area[2] - area[0]) / 2
    high = (area[3] - area[1]) / count
    top, foot = area[1] + high * place, area[1] + high * (place + 1) - params["gap"]
    upper, lower = half * place / count, half * (place + 1) / count * (1 - params["gap"] / high / count)
    if params["form"] == "inverted":
        upper, lower = half * (1 - 0.8 * place / count), half * (1 - 0.8 * (place + 1) / count)
    if params["form"] == "steps":
        upper = lower = half * (place + 1) / count
    return upper, lower, top, foot


def _layer(
    params: Mapping[str, Any], theme: Theme, area: tuple[float, float, float, float], hue: str, size: float, place: int
) -> list[Node]:
    upper, lower, top, foot = _ends(params, area, place)
    at = (area[0] + area[2]) / 2
    corners = [(at - upper, top), (at + upper, top), (at + lower, foot), (at - lower, foot)]
    if upper < 1:
        corners = [(at, top), (at + lower, foot), (at - lower, foot)]
    paint = outlined(mix(hue, theme.paper, 0.75), hue, 2) if params["paint"] == "edge" else fill(hue)
    name = params["names"][place]
    shape = path(closed(corners), paint) if params["as_path"] else polygon(corners, paint)
    shapes = [shape]
    ground_ = mix(hue, theme.paper, 0.75) if params["paint"] == "edge" else hue
    if params["form"] in ("split", "solid") and params["paint"] != "edge":
        shade = [(at, top), *[point for point in corners if point[0] > at + 0.5], (at, foot)]
        shapes.append(polygon(shade, fill(mix(hue, "#000000", 0.2))))
        ground_ = mix(hue, "#000000", 0.1)
    nodes = [(group(shapes) if len(shapes) > 1 else shape).named("layer", name)]
    width = (upper + lower) * 0.9
    middle = (top + foot) / 2 + (8 if upper < 1 else 0)
    fits = text_width_px(name, size) < width and foot - top > size * 1.2
    if params["side"] in ("inside", "both") and fits:
        nodes.append(
            text(at, baseline(middle, size), name, size, ink_on(ground_), "sans-bold", "middle").named("layer label")
        )
    elif params["side"] != "inside":
        nodes += _beside(params, theme, (at + (upper + lower) / 2, middle, area[2] + 22), size, name)
    if params["numbers"] != "none" and not params["axis"]:
        spot = (area[0] - 20, (top + foot) / 2)
        badge = params["numbers"] == "badges"
        if badge:
            nodes.append(tile(spot, size * 0.85, 0, fill(hue)).named("badge"))
        nodes += words_in(
            (spot[0] - 12, spot[1] - 10, 24, 20),
            str(place + 1),
            size,
            ink_on(hue) if badge else theme.ink,
            "sans-bold",
            "number",
        )
    return nodes


def _beside(
    params: Mapping[str, Any], theme: Theme, at: tuple[float, float, float], size: float, name: str
) -> list[Node]:
    edge, y, x = at
    nodes: list[Node] = []
    if params["side"] == "leads":
        nodes.append(line(edge + 4, y, x - 4, y, pen(theme.muted, 1.2, (2, 3))).named("lead"))
    nodes.append(text(x, baseline(y, size), name, size, theme.ink).named("layer label"))
    return nodes
