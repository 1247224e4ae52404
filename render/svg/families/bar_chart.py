"""Bars of one series: upright or lying, plain, round, hollow or as lollipops, with what people add to them."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import Frame, Plot, frame, names_below, names_left, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, shown
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, line, linear, outlined, path, pen, rect, text
from gristmill.render.svg.palettes import Theme, mix, theme_of
from gristmill.render.svg.paths import round_top
from gristmill.render.svg.words import labels
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    flat = draws.chance(0.35)
    count = draws.integer(4, 11 if view.width_px > 480 and not flat else 8)
    scale = draws.pick((10, 50, 100, 400, 1000))
    decline = draws.real(-0.5, 0.5)
    values = [
        round(scale * (0.25 + draws.frac() * 0.6 + abs(decline) * place / count), 0) + 1 for place in range(count)
    ]
    return view, params | {
        "names": labels(draws, count),
        "values": values if decline > 0 else values[::-1],
        "flat": flat,
        "bar": draws.weighted(("plain", "rounded", "top", "hollow", "shaded", "lollipop"), (4, 3, 2, 1, 2, 2)),
        "shown": draws.weighted(("none", "end", "inside"), (4, 4, 2)),
        "mark": draws.integer(0, count) if draws.chance(0.35) else -1,
        "mean": draws.chance(0.3),
        "many": draws.chance(0.25),
        "fill": draws.real(0.45, 0.8),
        "errors": [round(draws.real(0.04, 0.14), 2) for _ in range(count)] if draws.chance(0.2) else [],
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    room = max(text_width_px(name, 15) for name in params["names"]) if params["flat"] else 0
    values = [value * 1.12 for value in params["values"]]
    made = frame(params, view, values, flat=params["flat"], room=room)
    names = names_left if params["flat"] else names_below
    bars = [_bar(params, theme, made.plot, place) for place in range(len(values))]
    body = [*made.back, group(bars).noted("bars"), *_errors(params, theme, made.plot), *made.front]
    body += [names(made.plot, params["names"], theme), *_values(params, theme, made.plot), *_mean(params, theme, made)]
    defs = [linear("bar-fill", ((0, theme.hues[0]), (1, mix(theme.hues[0], theme.paper, 0.35))))]
    return document(body, defs if params["bar"] == "shaded" else [], params, view)


def _box(params: Mapping[str, Any], plot: Plot, place: int) -> tuple[float, float, float, float]:
    start, width = plot.slots(len(params["values"]), not params["flat"])[place]
    thick = width * params["fill"]
    across = start + (width - thick) / 2
    value = params["values"][place]
    if params["flat"]:
        return plot.x0, across, plot.x(value) - plot.x0, thick
    return across, plot.y(value), thick, plot.y1 - plot.y(value)


def _colour(params: Mapping[str, Any], theme: Theme, place: int) -> str:
    if params["mark"] >= 0:
        return theme.hues[1] if place == params["mark"] else theme.hues[0]
    return theme.hues[place % len(theme.hues)] if params["many"] else theme.hues[0]


def _bar(params: Mapping[str, Any], theme: Theme, plot: Plot, place: int) -> Node:
    x, y, w, h = _box(params, plot, place)
    colour, kind = _colour(params, theme, place), params["bar"]
    says = f"{params['names'][place]}: {shown(params['values'][place])}"
    if kind == "lollipop":
        end = (x + w, y + h / 2) if params["flat"] else (x + w / 2, y)
        foot = (x, y + h / 2) if params["flat"] else (x + w / 2, y + h)
        r = min(w, h, 18) / 2 if not params["flat"] else min(h, 18) / 2
        return group([line(*foot, *end, pen(colour, 3)), circle(*end, max(r, 4), fill(colour))]).named("lollipop", says)
    if kind == "top" and not params["flat"]:
        return path(round_top(x, y, w, h, 8), fill(colour)).named("bar", says)
    if kind == "hollow":
        return rect(x, y, w, h, outlined(mix(colour, theme.paper, 0.75), colour, 2)).named("bar", says)
    paint = fill("url(#bar-fill)") if kind == "shaded" else fill(colour)
    return rect(x, y, w, h, paint, min(w, h, 10) / 2 if kind == "rounded" else 0).named("bar", says)


def _errors(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    nodes: list[Node] = []
    if params["bar"] == "lollipop":
        return nodes
    for place, share in enumerate(params["errors"]):
        value = params["values"][place]
        x, y, w, h = _box(params, plot, place)
        if params["flat"]:
            low, high, at = plot.x(value * (1 - share)), plot.x(min(value * (1 + share), plot.high)), y + h / 2
            d = [
                ("M", low, at - 4),
                ("L", low, at + 4),
                ("M", low, at),
                ("L", high, at),
                ("M", high, at - 4),
                ("L", high, at + 4),
            ]
        else:
            low, high, at = plot.y(value * (1 - share)), plot.y(min(value * (1 + share), plot.high)), x + w / 2
            d = [
                ("M", at - 4, low),
                ("L", at + 4, low),
                ("M", at, low),
                ("L", at, high),
                ("M", at - 4, high),
                ("L", at + 4, high),
            ]
        nodes.append(path(d, pen(theme.ink, 1.5)).named("error bar"))
    return [group(nodes).noted("errors")] if nodes else []


def _values(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if params["shown"] == "none" or params["errors"]:
        return []
    nodes: list[Node] = []
    for place, value in enumerate(params["values"]):
        x, y, w, h = _box(params, plot, place)
        words, size = shown(value), plot.size
        if params["flat"]:
            node = text(x + w + 12, baseline(y + h / 2, size), words, size, theme.ink)
            room = plot.x1 + 20 - (x + w + 12)
        else:
            node = text(
                x + w / 2, y - (12 if params["bar"] == "lollipop" else 5), words, size, theme.ink, "sans", "middle"
            )
            room = plot.slots(len(params["values"]))[0][1]
        if text_width_px(words, size) < room - 2:
            nodes.append(node.named("value label"))
    return [group(nodes).noted("values")] if nodes else []


def _mean(params: Mapping[str, Any], theme: Theme, made: Frame) -> list[Node]:
    if not params["mean"]:
        return []
    plot = made.plot
    mean = sum(params["values"]) / len(params["values"])
    at = plot.x(mean) if params["flat"] else plot.y(mean)
    ends = (at, plot.y0, at, plot.y1) if params["flat"] else (plot.x0, at, plot.x1, at)
    return [line(*ends, pen(theme.ink, 1.5, (6, 4))).named("mean line")]
