"""Funnels: stages that narrow by their figures, as trapezes, bars, curved bands or lying arrows."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, shown
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, ellipse, fill, group, line, linear, path, pen, polygon, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, ramp, theme_of
from gristmill.render.svg.words import VERBS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.2)
    count = draws.integer(3, 7)
    values = [draws.pick((800, 1200, 5000, 12000))]
    for _ in range(count - 1):
        values.append(int(values[-1] * draws.real(0.45, 0.9)))
    return view, params | {
        "title": draws.pick(("Sales funnel", "From visit to order", "Applications", "Sign-up flow", "Stages")),
        "names": draws.some(VERBS, count),
        "values": values,
        "form": draws.pick(("trapeze", "bars", "curved", "rings")),
        "gap": draws.pick((0, 3, 6)),
        "names_at": draws.pick(("left", "inside", "right")),
        "figures": draws.pick(("inside", "right", "percent", "none")),
        "paint": draws.pick(("hues", "ramp", "shaded")),
        "drops": draws.chance(0.35),
        "spout": draws.chance(0.3),
        "rules": draws.chance(0.35),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view) + 1
    head, top = heading(params, view)
    wide = max(text_width_px(name, size) for name in params["names"]) + 26
    left = 20 + (wide if params["names_at"] == "left" else 0)
    right = view.width_px - 22 - (wide if params["names_at"] == "right" else 0)
    right -= size * 4.4 if params["figures"] in ("right", "percent") or params["drops"] else 0
    area = (left, top + 4, right, view.height_px - (58.0 if params["spout"] else 22.0))
    shades = ramp(theme.hues[0], mix(theme.hues[0], theme.paper, 0.55), len(params["names"]))
    hues = shades if params["paint"] == "ramp" else list(theme.hues)
    body = [*ground(params, view), *head]
    for place in range(len(params["names"])):
        body.append(group(_stage(params, theme, (view, area), hues, size, place)).noted(params["names"][place]))
    if params["spout"]:
        body.append(_spout(theme, ((left + right) / 2, area[3] + 6)))
    defs = [linear("flow", ((0, theme.hues[0]), (1, mix(theme.hues[0], "#000000", 0.35))), down=False)]
    return document(body, defs if params["paint"] == "shaded" else [], params, view)


def _spout(theme: Theme, at: tuple[float, float]) -> Node:
    x, y = at
    drop = path(
        [
            ("M", x, y),
            ("C", x + 3, y + 9, x + 11, y + 14, x + 11, y + 22),
            ("A", 11, 11, 0, 0, 1, x - 11, y + 22),
            ("C", x - 11, y + 14, x - 3, y + 9, x, y),
            ("Z",),
        ],
        fill(theme.hues[1]),
    )
    return drop.named("drop")


def _widths(params: Mapping[str, Any], area: tuple[float, float, float, float], place: int) -> tuple[float, float]:
    values = params["values"]
    half = (area[2] - area[0]) / 2
    lower = values[place + 1] if place + 1 < len(values) else values[place] * 0.75
    return max(half * values[place] / values[0], 18), max(half * lower / values[0], 16)


def _shape(
    params: Mapping[str, Any], area: tuple[float, float, float, float], ends: tuple[float, float], place: int
) -> Node:
    top, foot = ends
    at = (area[0] + area[2]) / 2
    upper, lower = _widths(params, area, place)
    if params["form"] == "bars":
        return rect(at - upper, top, 2 * upper, foot - top, {}, 4)
    if params["form"] == "curved":
        y = (top + foot) / 2
        right = ("C", at + upper, y, at + lower, y, at + lower, foot)
        left = ("C", at - lower, y, at - upper, y, at - upper, top)
        return path([("M", at - upper, top), ("L", at + upper, top), right, ("L", at - lower, foot), left, ("Z",)], {})
    if params["form"] == "rings":
        dip = min((foot - top) * 0.25, 12)
        return path(
            [
                ("M", at - upper, top),
                ("Q", at, top + 2 * dip, at + upper, top),
                ("L", at + lower, foot),
                ("Q", at, foot + 2 * dip, at - lower, foot),
                ("Z",),
            ],
            {},
        )
    return polygon([(at - upper, top), (at + upper, top), (at + lower, foot), (at - lower, foot)], {})


def _stage(
    params: Mapping[str, Any],
    theme: Theme,
    frame: tuple[View, tuple[float, float, float, float]],
    hues: list[str],
    size: float,
    place: int,
) -> list[Node]:
    view, area = frame
    count = len(params["names"])
    high = (area[3] - area[1]) / count
    top, foot = area[1] + high * place, area[1] + high * (place + 1) - params["gap"]
    name, value = params["names"][place], shown(params["values"][place])
    at, y = (area[0] + area[2]) / 2, (top + foot) / 2
    hue = theme.hues[0] if params["paint"] == "shaded" else hues[place]
    shape = _shape(params, area, (top, foot), place)
    shape.attrs |= fill("url(#flow)" if params["paint"] == "shaded" else hue)
    nodes: list[Node] = [shape.named("stage", name)]
    if params["form"] == "rings" and place == 0:
        upper, _ = _widths(params, area, 0)
        nodes.append(ellipse(at, top, upper, 8, fill(mix(hue, "#000000", 0.3))).named("mouth"))
    inside = [name] if params["names_at"] == "inside" else []
    inside += [value] if params["figures"] == "inside" else []
    words = " ".join(inside)
    low = min(_widths(params, area, place)) if params["form"] != "bars" else _widths(params, area, place)[0]
    ink = ink_on(mix(hue, "#000000", 0.17) if params["paint"] == "shaded" else hue)
    if words and text_width_px(words, size, "sans-bold") < 2 * low - 8 and foot - top > size * 1.3:
        nodes.append(
            text(
                at, baseline(y + (5 if params["form"] == "rings" else 0), size), words, size, ink, "sans-bold", "middle"
            ).named("stage label")
        )
    if params["names_at"] == "left":
        nodes.append(text(20, baseline(y, size), name, size, theme.ink).named("stage label"))
    if params["names_at"] == "right":
        nodes.append(
            text(view.width_px - 20, baseline(y, size), name, size, theme.ink, "sans", "end").named("stage label")
        )
    if params["rules"] and place:
        nodes.append(
            line(20, top - params["gap"] / 2, view.width_px - 20, top - params["gap"] / 2, pen(theme.rule, 1, (3, 3)))
        )
    return nodes + _beside(params, theme, (area[2] + 8, y, high), size, place)


def _beside(
    params: Mapping[str, Any], theme: Theme, at: tuple[float, float, float], size: float, place: int
) -> list[Node]:
    x, y, high = at
    values = params["values"]
    if params["drops"] and params["figures"] not in ("right", "percent"):
        if place == 0:
            return []
        edge = y - high / 2
        lost = f"-{round(100 - 100 * values[place] / values[place - 1])}%"
        return [
            circle(x + 4, edge, 3.5, fill(theme.hues[1])),
            text(x + 12, baseline(edge, size), lost, size, theme.ink).named("drop-off"),
        ]
    if params["figures"] == "right":
        return [text(x, baseline(y, size), shown(values[place]), size, theme.ink, "sans-bold").named("figure")]
    if params["figures"] == "percent":
        return [
            text(
                x, baseline(y, size), f"{round(100 * values[place] / values[0])}%", size, theme.ink, "sans-bold"
            ).named("figure")
        ]
    return []
