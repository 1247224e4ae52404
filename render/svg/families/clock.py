"""Clocks: dials with marks or numerals, hands, rims; alarm clocks, wall clocks, watches and pendulums."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import SQUARE, baseline
from gristmill.render.svg.nodes import Node, circle, fill, group, line, linear, outlined, pen, polygon, rect, text
from gristmill.render.svg.palettes import Theme, mix, theme_of
from gristmill.render.svg.paths import polar, regular
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.words import BRANDS
from gristmill.render.svg.writer import document

ROMAN = ("XII", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, (*SQUARE, (360, 480), (400, 560)), "Clock", 0.3)
    return view, params | {
        "hour": draws.integer(0, 12),
        "minute": draws.integer(0, 60),
        "second": draws.integer(0, 60) if draws.chance(0.5) else -1,
        "numbers": draws.pick(("all", "quarters", "roman", "none")),
        "marks": draws.pick(("lines", "dots", "both", "minutes", "diamonds")),
        "hands": draws.pick(("lines", "wedges", "rounded")),
        "case": draws.pick(("round", "square", "octagon", "double")),
        "kind": draws.pick(("wall", "alarm", "watch", "pendulum")),
        "shaded": draws.chance(0.35),
        "brand": draws.pick(BRANDS) if draws.chance(0.4) else "",
        "hub": draws.pick(("dot", "ring")),
        "inner": draws.chance(0.35),
        "dark": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = float(view.width_px), float(view.height_px)
    r = min(w, h) * (0.3 if params["kind"] != "wall" else 0.4)
    x, y = w / 2, h * (0.4 if params["kind"] == "pendulum" else 0.53 if params["kind"] == "alarm" else 0.5)
    body = [backdrop(view, mix(theme.hues[2], theme.paper, 0.8)), *_stand(params, theme, (x, y), r)]
    dial = "#20242b" if params["dark"] else "#fdfcf7"
    ink = "#f3f3ee" if params["dark"] else "#1f2328"
    rim = "url(#rim)" if params["shaded"] else theme.hues[0]
    cases = {
        "round": [circle(x, y, r, outlined(dial, rim, r * 0.1)).named("dial")],
        "square": [rect(x - r, y - r, 2 * r, 2 * r, outlined(dial, rim, r * 0.1), r * 0.15).named("dial")],
        "octagon": [polygon(regular(x, y, r * 1.08, 8, 22.5), outlined(dial, rim, r * 0.1)).named("dial")],
        "double": [circle(x, y, r * 1.06, fill(rim)).named("rim"), circle(x, y, r * 0.94, fill(dial)).named("dial")],
    }
    body += cases[params["case"]]
    if params["inner"]:
        body.append(circle(x, y, r * 0.45, pen(mix(dial, ink, 0.35), 1.5)).named("inner ring"))
    body += _marks(params, (x, y), r, ink)
    if params["brand"]:
        size = round(r * 0.13, 1)
        if size >= 9:
            body.append(text(x, y + r * 0.38, params["brand"], size, ink, "serif", "middle").named("maker"))
    body.append(group(_hands(params, theme, (x, y), r, ink)).noted("hands"))
    defs = (
        [linear("rim", ((0, mix(theme.hues[0], "#ffffff", 0.5)), (1, mix(theme.hues[0], "#000000", 0.4))))]
        if params["shaded"]
        else []
    )
    return document(body, defs, params, view)


def _stand(params: Mapping[str, Any], theme: Theme, at: tuple[float, float], r: float) -> list[Node]:
    x, y = at
    hue, dark = theme.hues[1], mix(theme.hues[1], "#000000", 0.4)
    if params["kind"] == "alarm":
        bells = [circle(x + way * r * 0.68, y - r * 0.98, r * 0.3, fill(hue)).named("bell") for way in (-1, 1)]
        feet = [
            line(
                x + way * r * 0.6,
                y + r * 0.8,
                x + way * r * 0.85,
                y + r * 1.22,
                pen(dark, r * 0.12) | {"stroke-linecap": "round"},
            ).named("foot")
            for way in (-1, 1)
        ]
        return [*bells, *feet, rect(x - r * 0.06, y - r * 1.3, r * 0.12, r * 0.4, fill(dark)).named("hammer")]
    if params["kind"] == "watch":
        straps = [
            rect(x - r * 0.55, y - r * 1.62, r * 1.1, r * 0.9, fill(hue), r * 0.1),
            rect(x - r * 0.55, y + r * 0.72, r * 1.1, r * 0.9, fill(hue), r * 0.1),
        ]
        return [strap.named("strap") for strap in straps] + [
            rect(x + r * 0.98, y - r * 0.12, r * 0.2, r * 0.24, fill(dark), r * 0.05).named("crown")
        ]
    if params["kind"] == "pendulum":
        bob = polar(x, y + r * 0.6, r * 1.15, 90 + params["second"] % 15 - 7)
        return [
            rect(x - r * 1.2, y - r * 1.25, r * 2.4, r * 3.4, outlined(hue, dark, 3), r * 0.1).named("cabinet"),
            line(x, y, *bob, pen(dark, r * 0.05)).named("pendulum rod"),
            circle(*bob, r * 0.22, fill("#f2c14e")).named("pendulum bob"),
        ]
    return []


def _marks(params: Mapping[str, Any], at: tuple[float, float], r: float, ink: str) -> list[Node]:
    x, y = at
    marks: list[Node] = []
    kind = params["marks"]
    for step in range(12):
        turn = 30 * step - 90
        if kind == "dots":
            marks.append(circle(*polar(x, y, r * 0.85, turn), r * 0.03, fill(ink)))
        elif kind == "diamonds":
            marks.append(polygon(regular(*polar(x, y, r * 0.85, turn), r * 0.05, 4), fill(ink)))
        else:
            marks.append(
                line(
                    *polar(x, y, r * 0.8, turn),
                    *polar(x, y, r * 0.9, turn),
                    pen(ink, r * (0.045 if step % 3 == 0 else 0.025)),
                )
            )
    if kind == "minutes":
        marks += [
            line(*polar(x, y, r * 0.86, 6 * n), *polar(x, y, r * 0.9, 6 * n), pen(ink, 1)) for n in range(60) if n % 5
        ]
    if kind == "both":
        marks += [circle(*polar(x, y, r * 0.85, 30 * n - 75), r * 0.015, fill(ink)) for n in range(12)]
    nodes = [group(marks).named("hour marks").noted("marks")]
    size = round(r * (0.16 if params["numbers"] == "roman" else 0.19), 1)
    if params["numbers"] != "none" and size >= 9:
        words: list[Node] = []
        for step in range(12):
            if params["numbers"] == "quarters" and step % 3:
                continue
            spot = polar(x, y, r * 0.64, 30 * step - 90)
            label = ROMAN[step] if params["numbers"] == "roman" else str(step or 12)
            words.append(
                text(
                    spot[0],
                    baseline(spot[1], size),
                    label,
                    size,
                    ink,
                    "serif" if params["numbers"] == "roman" else "sans",
                    "middle",
                ).named("numeral")
            )
        nodes.append(group(words).noted("numerals"))
    return nodes


def _hands(params: Mapping[str, Any], theme: Theme, at: tuple[float, float], r: float, ink: str) -> list[Node]:
    x, y = at
    minute = params["minute"] * 6
    hour = params["hour"] * 30 + params["minute"] * 0.5
    nodes: list[Node] = []
    for turn, long, thick, name in ((hour, 0.48, 0.08, "hour hand"), (minute, 0.74, 0.055, "minute hand")):
        if params["hands"] == "wedges":
            hand = polygon(
                [(x - r * thick, y + r * 0.1), (x, y - r * long), (x + r * thick, y + r * 0.1)], fill(ink)
            ).moved(("rotate", turn, x, y))
        elif params["hands"] == "rounded":
            hand = rect(x - r * thick / 2, y - r * long, r * thick, r * (long + 0.12), fill(ink), r * thick / 2).moved(
                ("rotate", turn, x, y)
            )
        else:
            hand = line(x, y, *polar(x, y, r * long, turn - 90), pen(ink, r * thick) | {"stroke-linecap": "round"})
        nodes.append(hand.named(name))
    if params["second"] >= 0:
        turn = params["second"] * 6 - 90
        nodes.append(
            line(
                *polar(x, y, r * 0.18, turn + 180), *polar(x, y, r * 0.82, turn), pen("#d62828", max(r * 0.02, 1.5))
            ).named("second hand")
        )
    hub = circle(x, y, max(r * 0.06, 4), fill("#d62828") if params["hub"] == "dot" else outlined("#ffffff", ink, 2))
    return [*nodes, hub.named("hub")]
