"""Circles sized by a third value: in a plane with axes, or packed beside one another, named inside."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import Plot, frame, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, spread
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, pen, radial, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.words import GOODS, PLACES, SUBJECTS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    count = draws.integer(6, 13)
    spots: list[list[float]] = []
    for _ in range(600):
        size = draws.real(0.02, 0.1) if len(spots) > 2 else draws.real(0.08, 0.14)
        spot = [draws.real(size + 0.01, 0.99 - size), draws.real(size * 1.2 + 0.01, 0.98 - size * 1.2), size]
        apart = all(((spot[0] - x) ** 2 + (spot[1] - y) ** 2) ** 0.5 > (size + r) * 1.15 for x, y, r in spots)
        if apart and len(spots) < count:
            spots.append([round(value, 3) for value in spot])
    groups = draws.integer(1, 4)
    return view, params | {
        "spots": spots,
        "names": draws.some(draws.pick((GOODS, PLACES)), len(spots)),
        "groups": [draws.integer(0, groups) for _ in spots],
        "series": draws.some(SUBJECTS, groups),
        "axes": draws.chance(0.65),
        "paint": draws.pick(("solid", "clear", "ringed", "ball")),
        "named": draws.pick(("inside", "inside", "above", "none")),
        "size_key": draws.chance(0.35),
        "links": draws.chance(0.2),
        "x_labels": draws.chance(0.7),
        "keyed": draws.chance(0.7),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    names = params["series"] if params["keyed"] and len(params["series"]) > 1 else ()
    bare = (
        {}
        if params["axes"]
        else {"grid": "none", "axis": "none", "value_labels": False, "value_title": "", "ground": "paper"}
    )
    made = frame({**params, **bare}, view, [0, 100], names)
    plot = made.plot
    body = [*made.back, *_links(params, theme, plot)]
    order = sorted(range(len(params["spots"])), key=lambda place: -params["spots"][place][2])
    body.append(group([_bubble(params, theme, plot, place) for place in order]).noted("bubbles"))
    body += [*_names(params, theme, plot), *made.front, *_below(params, theme, plot), *_size_key(params, theme, plot)]
    return document(body, _defs(params, theme), params, view)


def _place(plot: Plot, spot: list[float]) -> tuple[float, float, float]:
    w, h = plot.x1 - plot.x0, plot.y1 - plot.y0
    return plot.x0 + w * spot[0], plot.y0 + h * spot[1], min(w, h) * spot[2]


def _colour(params: Mapping[str, Any], theme: Theme, place: int) -> str:
    return theme.hues[params["groups"][place]]


def _bubble(params: Mapping[str, Any], theme: Theme, plot: Plot, place: int) -> Node:
    colour = _colour(params, theme, place)
    paint = {
        "clear": fill(colour, 0.7),
        "ringed": outlined(mix(colour, theme.paper, 0.7), colour, 2),
        "ball": fill(f"url(#ball-{params['groups'][place]})"),
    }.get(params["paint"], fill(colour))
    x, y, r = _place(plot, params["spots"][place])
    return circle(x, y, max(r, 5), paint).named("bubble", params["names"][place])


def _defs(params: Mapping[str, Any], theme: Theme) -> list[Node]:
    if params["paint"] != "ball":
        return []
    hues = [theme.hues[place] for place in range(len(params["series"]))]
    stops = [((0, mix(hue, "#ffffff", 0.55)), (1, hue)) for hue in hues]
    return [radial(f"ball-{place}", stop, ("35%", "30%")) for place, stop in enumerate(stops)]


def _names(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    nodes: list[Node] = []
    size = plot.size
    for place, name in enumerate(params["names"]):
        x, y, r = _place(plot, params["spots"][place])
        inside = text_width_px(name, size) < 1.8 * r
        ground = mix(_colour(params, theme, place), theme.paper, {"ringed": 0.7, "clear": 0.3}.get(params["paint"], 0))
        if params["named"] == "inside" and inside:
            nodes.append(text(x, baseline(y, size), name, size, ink_on(ground), "sans", "middle").named("bubble label"))
    if params["named"] == "above":
        x, y, r = _place(plot, params["spots"][0])
        nodes.append(
            text(x, max(y - r - 6, plot.y0 + size), params["names"][0], size, theme.ink, "sans-bold", "middle").named(
                "bubble label"
            )
        )
    return [group(nodes).noted("names")] if nodes else []


def _links(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if not params["links"]:
        return []
    x, y, _ = _place(plot, params["spots"][0])
    nodes = [line(x, y, *_place(plot, spot)[:2], pen(theme.muted, 1.2)) for spot in params["spots"][1:]]
    return [group(nodes).noted("links")]


def _below(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if not (params["axes"] and params["x_labels"]):
        return []
    nodes = [
        text(at, plot.y1 + plot.size * 1.35, str(place * 10), plot.size, theme.muted, "sans", "middle").named(
            "tick label"
        )
        for place, at in enumerate(spread(6, plot.x0, plot.x1))
    ]
    return [group(nodes).noted("horizontal axis")]


def _size_key(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if not params["size_key"] or params["axes"]:
        return []
    y = plot.y1 + plot.size
    nodes: list[Node] = []
    for r, x in ((5, 30), (9, 54), (13, 86)):
        nodes.append(circle(x, y, r, pen(theme.muted, 1.5)).named("size key"))
    nodes.append(text(106, baseline(y, plot.size), "size: share", plot.size, theme.muted).named("size label"))
    return [group(nodes).noted("size key")]
