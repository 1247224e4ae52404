"""Points of one to three groups in a plane, with a trend, an outline, quadrants or named outliers."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import Plot, frame, sample_frame
from gristmill.render.svg.curves import marker
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import shown, spread
from gristmill.render.svg.nodes import Node, ellipse, group, line, pen, text
from gristmill.render.svg.palettes import Theme, theme_of
from gristmill.render.svg.words import PLACES, SUBJECTS
from gristmill.render.svg.writer import document

SHAPES = ("dot", "ring", "square", "diamond", "triangle", "cross")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    groups = draws.integer(1, 4)
    slope = draws.real(-0.6, 0.6)
    clouds: list[list[list[float]]] = []
    for place in range(groups):
        middle = 0.2 + 0.6 * (place + 0.5) / groups
        count = draws.integer(8, 26 // groups + 6)
        cloud: list[list[float]] = []
        for _ in range(count):
            x = min(max(middle + draws.real(-0.2, 0.2) * (2 if groups == 1 else 1), 0.03), 0.97)
            y = 0.5 + slope * (x - 0.5) + draws.real(-0.22, 0.22)
            cloud.append([round(x * 100, 1), round(min(max(y, 0.02), 0.98) * 100, 1)])
        clouds.append(cloud)
    names = draws.some(PLACES, groups)
    return view, params | {
        "clouds": clouds,
        "series": names,
        "shapes": draws.some(SHAPES, groups) if draws.chance(0.6) else [draws.pick(SHAPES)] * groups,
        "r": draws.pick((3.5, 4, 5, 6)),
        "trend": draws.chance(0.35),
        "quadrants": draws.chance(0.25),
        "rings": draws.chance(0.25),
        "named": draws.integer(1, 4) if draws.chance(0.3) else 0,
        "labels": draws.some(PLACES, 4),
        "x_title": draws.pick(SUBJECTS) if draws.chance(0.5) else "",
        "x_labels": draws.chance(0.8),
        "seen_through": draws.chance(0.4),
        "keyed": draws.chance(0.75),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    legend = params["series"] if params["keyed"] and len(params["series"]) > 1 else ()
    made = frame(params, view, [0, 100], legend)
    plot = made.plot
    body = [*made.back, *_quadrants(params, theme, plot), *_rings(params, theme, plot)]
    for place, cloud in enumerate(params["clouds"]):
        marks = [
            marker(params["shapes"][place], _at(plot, spot), params["r"], theme.hues[place], theme) for spot in cloud
        ]
        for mark, (x, y) in list(zip(marks, cloud, strict=True))[:6]:
            mark.named("data point", f"{shown(x)}, {shown(y)}")
        points = group(marks).noted(params["series"][place])
        body.append(points.with_("opacity", 0.8) if params["seen_through"] else points)
    body += [*made.front, *_below(params, theme, plot), *_trend(params, theme, plot), *_named(params, theme, plot)]
    return document(body, [], params, view)


def _at(plot: Plot, spot: list[float]) -> tuple[float, float]:
    return plot.x0 + (plot.x1 - plot.x0) * spot[0] / 100, plot.y(spot[1])


def _quadrants(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if not params["quadrants"]:
        return []
    x, y = _at(plot, [50, 50])
    ink = pen(theme.muted, 1.5, (7, 5))
    return [line(x, plot.y0, x, plot.y1, ink).named("divider"), line(plot.x0, y, plot.x1, y, ink).named("divider")]


def _rings(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if not params["rings"]:
        return []
    nodes: list[Node] = []
    for place, cloud in enumerate(params["clouds"]):
        points = [_at(plot, spot) for spot in cloud]
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        middle = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
        hue = theme.hues[place]
        paint = {"fill": hue, "fill-opacity": 0.1, "stroke": hue, "stroke-width": 1.5, "stroke-dasharray": [4, 3]}
        nodes.append(
            ellipse(*middle, (max(xs) - min(xs)) * 0.56, (max(ys) - min(ys)) * 0.56, paint).named("cluster outline")
        )
    return nodes


def _below(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    nodes: list[Node] = []
    if params["x_labels"]:
        for at, value in zip(spread(5, plot.x0, plot.x1), (0, 25, 50, 75, 100), strict=True):
            words = text(at, plot.y1 + plot.size * 1.35, str(value), plot.size, theme.muted, "sans", "middle")
            nodes.append(words.named("tick label"))
    if params["x_title"]:
        x, y = (plot.x1, plot.y1 - 7) if params["x_labels"] else (plot.x1, plot.y1 + plot.size * 1.4)
        nodes.append(text(x, y, params["x_title"], plot.size, theme.ink, "sans", "end").named("axis title"))
    return [group(nodes).noted("horizontal axis")] if nodes else []


def _trend(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if not params["trend"]:
        return []
    spots = [spot for cloud in params["clouds"] for spot in cloud]
    mx, my = sum(s[0] for s in spots) / len(spots), sum(s[1] for s in spots) / len(spots)
    slope = sum((s[0] - mx) * (s[1] - my) for s in spots) / sum((s[0] - mx) ** 2 for s in spots)
    low, high = min(s[0] for s in spots), max(s[0] for s in spots)
    ends = [_at(plot, [x, min(max(my + slope * (x - mx), 0), 100)]) for x in (low, high)]
    return [line(*ends[0], *ends[1], pen(theme.ink, 2)).named("trend line")]


def _named(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    nodes: list[Node] = []
    taken: list[tuple[float, float]] = []
    for cloud in params["clouds"]:
        x, y = _at(plot, max(cloud, key=lambda spot: spot[1]))
        if len(nodes) < params["named"] and all(abs(x - a) > 80 or abs(y - b) > 20 for a, b in taken):
            taken.append((x, y))
            at = (x + 8, "start") if x < plot.x1 - 80 else (x - 8, "end")
            words = params["labels"][len(nodes)]
            nodes.append(text(at[0], y - 4, words, plot.size, theme.ink, "sans-bold", at[1]).named("point label"))
    return [group(nodes).noted("labels")] if nodes else []
