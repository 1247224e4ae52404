"""Counts in bins: one or two samples, with a curve, a cumulated line, a rug of values or the mean."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import Plot, frame, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import shown
from gristmill.render.svg.nodes import Node, fill, group, line, outlined, path, pen, rect, text
from gristmill.render.svg.palettes import Theme, mix, theme_of
from gristmill.render.svg.paths import Point, open_path, smooth, steps
from gristmill.render.svg.words import TEAMS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    bins = draws.integer(7, 16)
    rows: list[list[int]] = []
    for _ in range(2 if draws.chance(0.3) else 1):
        peak, wide, second = draws.real(0.25, 0.75), draws.real(0.12, 0.3), draws.real(0, 0.8) * draws.integer(0, 2)
        row: list[int] = []
        for place in range(bins):
            x = (place + 0.5) / bins
            bell = 1 / (1 + ((x - peak) / wide) ** 4) + second / (1 + ((x - 1 + peak) / 0.12) ** 4)
            row.append(max(int(40 * bell * draws.real(0.8, 1.1)), 2))
        rows.append(row)
    return view, params | {
        "counts": rows,
        "series": draws.some(TEAMS, len(rows)),
        "low": draws.pick((0, 10, 20, 50, 100)),
        "step": draws.pick((1, 2, 5, 10)),
        "style": draws.pick(("touching", "gaps", "edged", "outline", "edged")),
        "curve": draws.pick(("none", "bell", "polygon", "none")),
        "rug": [round(draws.frac(), 3) for _ in range(draws.integer(8, 20))] if draws.chance(0.25) else [],
        "mean": draws.pick(("none", "line", "named", "none")),
        "tail": draws.integer(0, 3) if draws.chance(0.4) else 0,
        "edges": draws.pick(("all", "centres", "ends")),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    rows = params["counts"]
    made = frame(
        params, view, [count * 1.15 for row in rows for count in row], params["series"] if len(rows) > 1 else ()
    )
    plot = made.plot
    body = [*made.back]
    for place in range(len(rows)):
        body.append(_bars(params, theme, plot, place))
    body += [*_curve(params, theme, plot), *_rug(params, theme, plot), *made.front]
    body += [_edges(params, theme, plot), *_mean(params, theme, plot)]
    return document(body, [], params, view)


def _bars(params: Mapping[str, Any], theme: Theme, plot: Plot, row: int) -> Node:
    counts = params["counts"][row]
    colour = theme.hues[row]
    if params["style"] == "outline":
        points = [(start, plot.y(count)) for (start, _), count in zip(plot.slots(len(counts)), counts, strict=True)]
        points = [(plot.x0, plot.y1), *points, (plot.x1, plot.y(counts[-1]))]
        d = [*steps(points), ("L", plot.x1, plot.y1), ("Z",)]
        return path(d, outlined(mix(colour, theme.paper, 0.6), colour, 2)).named("histogram", params["series"][row])
    nodes: list[Node] = []
    for place, ((start, width), count) in enumerate(zip(plot.slots(len(counts)), counts, strict=True)):
        gap = 3 if params["style"] == "gaps" else 0
        tail = place < params["tail"] or place >= len(counts) - params["tail"]
        paint = fill(mix(colour, theme.paper, 0.5) if tail else colour)
        if params["style"] == "edged":
            paint |= {"stroke": theme.paper, "stroke-width": 1}
        nodes.append(
            rect(start + gap / 2, plot.y(count), width - gap, plot.y1 - plot.y(count), paint).named("bin", str(count))
        )
    bars = group(nodes).noted(params["series"][row])
    return bars.with_("opacity", 0.7) if len(params["counts"]) > 1 else bars


def _curve(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if params["curve"] == "none":
        return []
    counts = params["counts"][0]
    points: list[Point] = [
        (start + w / 2, plot.y(n)) for (start, w), n in zip(plot.slots(len(counts)), counts, strict=True)
    ]
    d = smooth(points) if params["curve"] == "bell" else open_path([(plot.x0, plot.y1), *points, (plot.x1, plot.y1)])
    return [path(d, pen(theme.ink, 2, (), "", "round")).named("density curve")]


def _rug(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    places = [plot.x0 + (plot.x1 - plot.x0) * (0.1 + 0.8 * frac) for frac in params["rug"]]
    nodes = [line(x, plot.y0, x, plot.y0 + 9, pen(theme.ink, 1.5)) for x in places]
    return [group(nodes).named("rug")] if nodes else []


def _edges(params: Mapping[str, Any], theme: Theme, plot: Plot) -> Node:
    count = len(params["counts"][0])
    width = (plot.x1 - plot.x0) / count
    half = 0.5 if params["edges"] == "centres" else 0
    wanted = (
        [0, count]
        if params["edges"] == "ends"
        else list(range(0, count + (0 if half else 1), max(int(42 // width), 0) + 1))
    )
    nodes = [
        text(
            plot.x0 + width * (at + half),
            plot.y1 + plot.size * 1.4,
            shown(params["low"] + params["step"] * (at + half)),
            plot.size,
            theme.muted,
            "sans",
            "middle",
        ).named("bin label")
        for at in wanted
    ]
    return group(nodes).noted("bins")


def _mean(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if params["mean"] == "none":
        return []
    counts = params["counts"][0]
    mean = sum(n * (at + 0.5) for at, n in enumerate(counts)) / sum(counts)
    x = plot.x0 + (plot.x1 - plot.x0) * mean / len(counts)
    nodes = [line(x, plot.y0, x, plot.y1, pen(theme.ink, 1.5, (5, 4))).named("mean line")]
    if params["mean"] == "named":
        right = x < (plot.x0 + plot.x1) / 2
        nodes.append(
            text(
                x + (5 if right else -5),
                plot.y0 + plot.size + 10,
                "mean",
                plot.size,
                theme.ink,
                "sans-bold",
                "start" if right else "end",
            ).named("mean label")
        )
    return nodes
