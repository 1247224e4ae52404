"""Dials and meters: half rings with needles, arcs of progress, bars, thermometers, one to three of them."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, fitting, spread
from gristmill.render.svg.nodes import Node, circle, fill, group, line, linear, outlined, path, pen, polygon, rect, text
from gristmill.render.svg.palettes import Theme, theme_of
from gristmill.render.svg.paths import arc, polar, slice_of
from gristmill.render.svg.words import SHORT, TEAMS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    count = draws.integer(2, 4) if view.width_px > 560 else draws.integer(1, 3)
    return view, params | {
        "values": [draws.integer(8, 95) for _ in range(count)],
        "names": draws.some(draws.pick((SHORT, TEAMS)), count),
        "kind": draws.pick(("needle", "needle", "arc", "arc", "zones", "meter", "tube")),
        "sweep": draws.pick((180, 180, 220, 270)),
        "ticks": draws.pick(("none", "lines", "dots")),
        "numbers": draws.chance(0.5),
        "hub": draws.pick(("dot", "ring", "square")),
        "needle": draws.pick(("line", "wedge", "arrow")),
        "round": draws.chance(0.5),
        "unit": draws.pick(("%", "", "%")),
        "said": draws.pick(("below", "pill", "below")),
        "shaded": draws.chance(0.3),
        "plate": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    body = [*ground(params, view), *head]
    count = len(params["values"])
    bottom = view.height_px - 20.0
    lying = view.height_px > view.width_px or params["kind"] == "meter"
    for place in range(count):
        if lying:
            h = (bottom - top) / count
            box = (24.0, top + h * place, view.width_px - 48.0, h)
        else:
            w = (view.width_px - 32) / count
            box = (16 + w * place, top, w, bottom - top)
        draw = {"meter": _meter, "tube": _tube}.get(params["kind"], _dial)
        nodes = draw(params, theme, box, size, place)
        if params["plate"]:
            x, y, w, h = box
            nodes.insert(0, rect(x + 4, y + 2, w - 8, h - 4, fill(theme.surface), 8).named("plate"))
        body.append(group(nodes).noted(params["names"][place]))
    defs = [linear("level", ((0, theme.hues[1]), (1, theme.hues[0])), down=False)] if params["shaded"] else []
    return document(body, defs, params, view)


def _hue(params: Mapping[str, Any], theme: Theme) -> str:
    return "url(#level)" if params["shaded"] else theme.hues[0]


def _says(params: Mapping[str, Any], place: int) -> str:
    return f"{params['values'][place]}{params['unit']}"


def _dial(
    params: Mapping[str, Any], theme: Theme, box: tuple[float, float, float, float], size: float, place: int
) -> list[Node]:
    x, y, w, h = box
    drop = 1.0 if params["sweep"] == 180 else 1.35 if params["sweep"] == 220 else 1.75
    caption = size * 3.6
    edge = size * 2.2 if params["numbers"] else 10.0
    r = max(min(w / 2 - edge - 8, (h - caption - edge - 12) / drop), 24)
    centre = (x + w / 2, y + edge + r + (h - caption - edge - r * drop) / 2)
    start = 270 - params["sweep"] / 2
    turn = start + params["sweep"] * params["values"][place] / 100
    thick = r * (0.16 if params["kind"] == "needle" else 0.24)
    nodes: list[Node] = []
    if params["kind"] == "zones":
        for step in range(3):
            ends = start + params["sweep"] * step / 3, start + params["sweep"] * (step + 1) / 3 - 1.5
            nodes.append(path(slice_of(centre, r, r - thick, *ends), fill(theme.hues[step + 1])).named("zone"))
    else:
        cap = {"stroke-linecap": "round"} if params["round"] else {}
        track = path(arc(centre, r - thick / 2, start, start + params["sweep"]), pen(theme.rule, thick) | cap)
        nodes.append(track.named("track"))
        done = path(arc(centre, r - thick / 2, start, max(turn, start + 4)), pen(theme.hues[0], thick) | cap)
        nodes.append(done.named("value arc", _says(params, place)))
    nodes += _ticks(params, theme, centre, r, start)
    big = fitting(_says(params, place), r * 1.1, r * 0.4, "sans-bold")
    if params["kind"] == "arc":
        nodes.append(
            text(
                centre[0],
                baseline(centre[1] - r * 0.12, big),
                _says(params, place),
                big,
                theme.ink,
                "sans-bold",
                "middle",
            ).named("value")
        )
    else:
        nodes += _needle(params, theme, centre, r - thick * 1.4, turn)
    foot = centre[1] + r * (drop - 1) + size * (1.9 if params["kind"] == "arc" else 2.4)
    return nodes + _caption(params, theme, (centre[0], min(foot, y + h - size * 1.1)), size, place)


def _ticks(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float, start: float) -> list[Node]:
    nodes: list[Node] = []
    for step in range(11):
        turn = start + params["sweep"] * step / 10
        if params["ticks"] == "lines":
            nodes.append(
                line(
                    *polar(*centre, r + 3, turn),
                    *polar(*centre, r + (9 if step % 5 == 0 else 6), turn),
                    pen(theme.muted, 1.5),
                )
            )
        elif params["ticks"] == "dots" and step % 2 == 0:
            nodes.append(circle(*polar(*centre, r + 6, turn), 2, fill(theme.muted)))
    out = [group(nodes).noted("ticks")] if nodes else []
    if params["numbers"]:
        for value in (0, 50, 100):
            at = polar(*centre, r + 19, start + params["sweep"] * value / 100)
            out.append(
                text(at[0], baseline(at[1], 11), str(value), 11, theme.muted, "sans", "middle").named("scale label")
            )
    return out


def _needle(
    params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], long: float, turn: float
) -> list[Node]:
    tip = polar(*centre, long, turn)
    if params["needle"] == "line":
        needle = line(*centre, *tip, pen(theme.ink, 3) | {"stroke-linecap": "round"})
    elif params["needle"] == "wedge":
        needle = polygon([polar(*centre, 5, turn - 90), tip, polar(*centre, 5, turn + 90)], fill(theme.ink))
    else:
        x, y = centre
        needle = path(
            [("M", x - 10, y - 2), ("L", x + long, y - 2), ("L", x + long, y + 2), ("L", x - 10, y + 2), ("Z",)],
            fill(theme.ink),
        )
        needle.moved(("rotate", round(turn, 1), *centre))
    hub = {
        "dot": circle(*centre, 7, fill(theme.ink)),
        "ring": circle(*centre, 8, outlined(theme.paper, theme.ink, 3)),
        "square": rect(centre[0] - 6, centre[1] - 6, 12, 12, fill(theme.ink), 2),
    }[params["hub"]]
    return [needle.named("needle"), hub.named("hub")]


def _caption(params: Mapping[str, Any], theme: Theme, at: tuple[float, float], size: float, place: int) -> list[Node]:
    x, y = at
    name = params["names"][place]
    words = name if params["kind"] == "arc" else f"{name} {_says(params, place)}"
    label = text(x, baseline(y, size + 1), words, size + 1, theme.ink, "sans-bold", "middle").named("caption")
    if params["said"] == "pill":
        width = len(words) * size * 0.8 + 24
        return [rect(x - width / 2, y - size, width, size * 2, outlined(theme.paper, theme.rule, 1.5), size), label]
    return [label]


def _meter(
    params: Mapping[str, Any], theme: Theme, box: tuple[float, float, float, float], size: float, place: int
) -> list[Node]:
    x, y, w, h = box
    x, w = x + 16, w - 32
    thick = min(h * 0.28, 26)
    top = y + h / 2
    r = thick / 2 if params["round"] else 0
    name = text(x, top - 9, params["names"][place], size + 1, theme.ink, "sans-bold").named("caption")
    value = text(x + w, top - 9, _says(params, place), size + 1, theme.ink, "sans", "end").named("value")
    done = rect(x, top, max(w * params["values"][place] / 100, thick), thick, fill(_hue(params, theme)), r)
    nodes = [name, value, rect(x, top, w, thick, fill(theme.rule), r).named("track"), done.named("level")]
    if params["ticks"] != "none":
        ends = spread(11, x, x + w)
        nodes.append(group([line(at, top + thick + 3, at, top + thick + 8, pen(theme.muted, 1.2)) for at in ends]))
    return nodes


def _tube(
    params: Mapping[str, Any], theme: Theme, box: tuple[float, float, float, float], size: float, place: int
) -> list[Node]:
    x, y, w, h = box
    thick = min(w * 0.2, 34)
    at, top, foot = x + w / 2, y + 12, y + h - size * 3.4 - thick * 0.6
    level = foot - (foot - top - thick) * params["values"][place] / 100
    colour = theme.hues[place]
    nodes = [
        rect(at - thick / 2, top, thick, foot - top, outlined(theme.paper, theme.muted, 2), thick / 2).named("tube"),
        rect(at - thick / 4, level, thick / 2, foot - level, fill(colour), thick / 4).named(
            "level", _says(params, place)
        ),
        circle(at, foot, thick * 0.8, outlined(colour, theme.muted, 2)).named("bulb"),
    ]
    marks = spread(6, top + thick, foot - thick)
    nodes.append(
        group([line(at + thick / 2 + 4, mark, at + thick / 2 + 12, mark, pen(theme.muted, 1.5)) for mark in marks])
    )
    return nodes + _caption(params, theme, (at, y + h - size * 1.1), size, place)
