"""Rings of shares: of slices, of dashed circles, or nested, with a figure in the middle."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, fitting
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.paths import arc, polar, slice_of
from gristmill.render.svg.shares import sample_shares, side_legend, turns
from gristmill.render.svg.words import PLACES, TEAMS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    count = draws.integer(3, 7)
    return view, params | {
        "names": draws.some(draws.pick((PLACES, TEAMS)), count),
        "shares": sample_shares(draws, count, 8),
        "kind": draws.pick(("slices", "dashes", "nested", "nested", "slices")),
        "hole": round(draws.real(0.45, 0.75), 2),
        "gap": draws.pick((0, 0, 2, 4)),
        "round": draws.chance(0.5),
        "track": draws.chance(0.6),
        "middle": draws.pick(("figure", "figure", "words", "two", "none")),
        "figure": draws.integer(12, 990),
        "unit": draws.pick(("total", "orders", "items", "hours", "votes")),
        "keyed": draws.pick(("side", "side", "none", "round")),
        "labels": draws.chance(0.4),
        "ticks": draws.chance(0.2),
        "disc": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    wide = view.width_px > view.height_px * 1.15
    keyed = params["keyed"] != "none"
    width = view.width_px * (0.62 if wide and keyed else 1)
    bottom = view.height_px - (14 if wide or not keyed else 14 + size * 1.8 * len(params["names"]))
    r = min(width / 2 - 26, (bottom - top) / 2 - 16, 240)
    centre = (width / 2, (top + bottom) / 2)
    body = [*ground(params, view), *head]
    if params["disc"]:
        body.append(circle(*centre, r * params["hole"] * 0.86, fill(theme.surface)).named("disc"))
    body += {"slices": _slices, "dashes": _dashes, "nested": _nested}[params["kind"]](params, theme, centre, r)
    body += _ticks(params, theme, centre, r)
    body += _middle(params, theme, centre, r)
    if keyed:
        box = (width + 4, top + 24) if wide else (24, bottom + 4)
        body.append(side_legend(params["names"], theme, box, size, params["keyed"] == "round"))
    return document(body, [], params, view)


def _says(params: Mapping[str, Any], place: int) -> str:
    return f"{params['names'][place]}: {params['shares'][place]}%"


def _slices(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float) -> list[Node]:
    spans = turns(params["shares"], -90, 360)
    hole, gap = r * params["hole"], params["gap"] / 2
    nodes: list[Node] = []
    for place, (start, end) in enumerate(spans):
        paint = fill(theme.hues[place]) if params["gap"] else outlined(theme.hues[place], theme.paper, 1.5)
        nodes.append(
            path(slice_of(centre, r, hole, start + gap, end - gap), paint).named("ring slice", _says(params, place))
        )
    if params["labels"] and r - hole > 38:
        for place, (start, end) in enumerate(spans):
            x, y = polar(*centre, (r + hole) / 2, (start + end) / 2)
            label = text(
                x, baseline(y, 12), f"{params['shares'][place]}%", 12, ink_on(theme.hues[place]), "sans", "middle"
            )
            nodes.append(label.named("share"))
    return [group(nodes).noted("ring")]


def _dashes(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float) -> list[Node]:
    """Each share a circle with one dash, as people write rings by hand."""
    thick = r * (1 - params["hole"])
    middle = r - thick / 2
    whole = 2 * 3.1416 * middle
    nodes: list[Node] = []
    if params["track"]:
        nodes.append(circle(*centre, middle, pen(theme.rule, thick)))
    start = 0.0
    for place, share in enumerate(params["shares"]):
        long = whole * share / 100
        gap = min(params["gap"] * 2, long / 3)
        node = circle(*centre, middle, pen(theme.hues[place], thick, (long - gap, whole - long + gap)))
        node.moved(("rotate", round(-90 + start * 3.6, 2), *centre))
        nodes.append(node.named("ring slice", _says(params, place)))
        start += share
    return [group(nodes).noted("ring")]


def _nested(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float) -> list[Node]:
    count = len(params["shares"])
    thick = r * (1 - params["hole"] * 0.72) / count
    nodes: list[Node] = []
    for place, share in enumerate(params["shares"]):
        radius = r - thick * (place + 0.5)
        if params["track"]:
            nodes.append(circle(*centre, radius, pen(mix(theme.hues[place], theme.paper, 0.8), thick * 0.7)))
        ring = path(arc(centre, radius, -90, -90 + min(share * 3.4 + 20, 340)), pen(theme.hues[place], thick * 0.7))
        if params["round"]:
            ring.attrs["stroke-linecap"] = "round"
        nodes.append(ring.named("ring", _says(params, place)))
    return [group(nodes).noted("rings")]


def _ticks(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float) -> list[Node]:
    if not params["ticks"]:
        return []
    ends = [(polar(*centre, r + 4, turn), polar(*centre, r + 9, turn)) for turn in range(0, 360, 30)]
    return [group([line(*near, *far, pen(theme.muted, 1.5)) for near, far in ends]).noted("ticks")]


def _middle(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float) -> list[Node]:
    room = r * params["hole"] * (0.72 if params["kind"] == "nested" else 1) * 1.3
    x, y = centre
    words, unit = str(params["figure"]), params["unit"]
    big = fitting(words, room, min(r * 0.36, 64), "sans-bold")
    if params["middle"] == "none" or big < 12:
        return []
    if params["middle"] == "words":
        return [
            text(x, baseline(y, 14), unit, fitting(unit, room, 16), theme.ink, "sans", "middle").named("centre label")
        ]
    if params["middle"] == "figure" or big < 26:
        return [text(x, baseline(y, big), words, big, theme.ink, "sans-bold", "middle").named("centre figure")]
    big *= 0.8
    small = fitting(unit, room * 0.8, big * 0.5)
    figure = text(x, y + big * 0.2, words, big, theme.ink, "sans-bold", "middle").named("centre figure")
    return [
        figure,
        text(x, y + big * 0.2 + small * 1.5, unit, small, theme.muted, "sans", "middle").named("centre label"),
    ]
