"""Pies: whole or half, with one slice drawn out, labels inside, outside on leads, or in a legend."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, circle, fill, group, outlined, path, pen, polyline, text
from gristmill.render.svg.palettes import Theme, ink_on, theme_of
from gristmill.render.svg.paths import arc, polar, slice_of
from gristmill.render.svg.shares import sample_shares, side_legend, turns
from gristmill.render.svg.words import FRUIT, GOODS, PLACES
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    count = draws.integer(3, 7)
    return view, params | {
        "names": draws.some(draws.pick((PLACES, GOODS, FRUIT)), count),
        "shares": sample_shares(draws, count),
        "start": draws.pick((-90, -90, 0, 30, 135)),
        "half": draws.chance(0.15),
        "out": draws.integer(0, count) if draws.chance(0.35) else -1,
        "edge": draws.weighted(("paper", "none", "ink"), (4, 3, 1)),
        "said": draws.pick(("legend", "leads", "legend", "beside")),
        "inside": draws.pick(("percent", "percent", "none", "letter")),
        "rim": draws.pick(("none", "none", "circle", "dashes", "arc")),
        "shadow": draws.chance(0.2),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    wide = view.width_px > view.height_px * 1.15
    legend = params["said"] == "legend"
    width = view.width_px * (0.62 if wide and legend else 1)
    bottom = view.height_px - (14 if wide or not legend else 14 + size * 1.8 * len(params["names"]))
    margin = 26 + (size * 2 if not legend else 0)
    side = 0 if legend else size * 6
    r = min(width / 2 - 18 - side, (bottom - top - margin) / (1 if params["half"] else 2), 240)
    centre = (width / 2, top + 8 + (bottom - top + (r if params["half"] else 0)) / 2 - 6)
    body = [*ground(params, view), *head]
    if params["shadow"] and not params["half"]:
        body.append(circle(centre[0] + 4, centre[1] + 6, r * 0.98, fill(theme.ink, 0.18)))
    body.append(
        group([_slice(params, theme, centre, r, place) for place in range(len(params["shares"]))]).noted("slices")
    )
    body += _inside(params, theme, centre, r, size)
    if params["rim"] != "none" and not params["half"]:
        body.append(_rim(params, theme, centre, r))
    if legend:
        box = (width + 4, top + 20) if wide else (24, bottom + 4)
        body.append(side_legend(params["names"], theme, box, size))
    else:
        body += _outside(params, theme, centre, r, size)
    return document(body, [], params, view)


def _turns(params: Mapping[str, Any]) -> list[tuple[float, float]]:
    return turns(params["shares"], 180 if params["half"] else params["start"], 180 if params["half"] else 360)


def _moved(params: Mapping[str, Any], centre: tuple[float, float], r: float, place: int) -> tuple[float, float]:
    start, end = _turns(params)[place]
    return polar(*centre, r * 0.07, (start + end) / 2) if place == params["out"] else centre


def _slice(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float, place: int) -> Node:
    colour = theme.hues[place]
    edge = {"paper": theme.paper, "ink": theme.ink}.get(params["edge"])
    paint = outlined(colour, edge, 2) if edge else fill(colour)
    if edge:
        paint["stroke-linejoin"] = "round"
    start, end = _turns(params)[place]
    says = f"{params['names'][place]}: {params['shares'][place]}%"
    return path(slice_of(_moved(params, centre, r, place), r, 0, start, end), paint).named("slice", says)


def _inside(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float, size: float) -> list[Node]:
    if params["inside"] == "none":
        return []
    nodes: list[Node] = []
    for place, (start, end) in enumerate(_turns(params)):
        at = polar(*_moved(params, centre, r, place), r * 0.66, (start + end) / 2)
        words = f"{params['shares'][place]}%" if params["inside"] == "percent" else params["names"][place][0]
        if (end - start) * r * 0.0115 > size * 2.1:
            label = text(at[0], baseline(at[1], size), words, size, ink_on(theme.hues[place]), "sans-bold", "middle")
            nodes.append(label.named("slice label"))
    return [group(nodes).noted("shares")] if nodes else []


def _rim(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float) -> Node:
    if params["rim"] == "arc":
        start, end = _turns(params)[0]
        return path(arc(centre, r + 7, start + 2, end - 2), pen(theme.ink, 2.5)).named("bracket")
    dash = (2, 5) if params["rim"] == "dashes" else ()
    return circle(*centre, r + 7 + (r * 0.07 if params["out"] >= 0 else 0), pen(theme.muted, 1.5, dash)).named("rim")


def _outside(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float, size: float) -> list[Node]:
    """Names outside, on leads that bend, or beside their slices; those that would touch the one before stay out."""
    nodes: list[Node] = []
    taken: dict[bool, list[float]] = {True: [], False: []}
    for place, (start, end) in enumerate(_turns(params)):
        middle = (start + end) / 2
        reach = r * (1.07 if params["out"] >= 0 else 1) + 6
        x, y = polar(*centre, reach + 8, middle)
        right = x >= centre[0]
        if any(abs(y - other) < size * 1.3 for other in taken[right]):
            continue
        taken[right].append(y)
        if params["said"] == "leads":
            near, bend = polar(*centre, reach - 4, middle), x + (8 if right else -8)
            nodes.append(polyline([near, (x, y), (bend, y)], pen(theme.muted, 1.2)))
            x = bend
        name = params["names"][place]
        at = x + (4 if right else -4)
        label = text(at, baseline(y, size), name, size, theme.ink, "sans", "start" if right else "end")
        nodes.append(label.named("slice name"))
    return [group(nodes).noted("names")]
