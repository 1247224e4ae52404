"""Lines over time: straight, smooth or steps, with marks, a forecast, a target, notes on extremes."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import Plot, frame, names_below, sample_frame
from gristmill.render.svg.curves import marker, points_of, sample_series, through
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import shown
from gristmill.render.svg.nodes import Node, circle, fill, group, line, path, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, seen, theme_of
from gristmill.render.svg.words import PLACES, labels
from gristmill.render.svg.writer import document

MARKS = ("none", "dot", "ring", "square", "diamond", "triangle", "cross")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    series = draws.weighted((1, 2, 3, 4), (3, 3, 2, 1))
    count = draws.integer(5, 8 if series > 2 else 11)
    return view, params | {
        "names": labels(draws, count),
        "series": draws.some(PLACES, series),
        "values": sample_series(draws, series, count),
        "curve": draws.pick(("straight", "straight", "smooth", "steps")),
        "marks": draws.pick(MARKS),
        "dashed": draws.integer(-3, series),
        "width": draws.pick((2, 2, 2.5, 3, 4)),
        "keys": draws.pick(("legend", "ends", "ends", "none")),
        "target": draws.chance(0.25),
        "peak": draws.chance(0.35),
        "span": draws.integer(1, count - 2) if draws.chance(0.25) else -1,
        "zero": draws.chance(0.6),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    values = [value for row in params["values"] for value in row]
    many = len(params["series"]) > 1
    names = params["series"] if many and params["keys"] == "legend" else ()
    made = frame(params, view, [*values, max(values) * 1.12], names, params["zero"])
    plot = made.plot
    body = [*made.back, *_span(params, theme, plot)]
    for place in range(len(params["values"])):
        body += _line(params, theme, plot, place)
    body += [*made.front, names_below(plot, params["names"], theme), *_target(params, theme, plot, values)]
    if many and params["keys"] == "ends":
        body += _ends(params, theme, plot)
    body += _peak(params, theme, plot)
    return document(body, [], params, view)


def _line(params: Mapping[str, Any], theme: Theme, plot: Plot, place: int) -> list[Node]:
    colour = theme.hues[place]
    points = points_of(plot, params["values"][place])
    dash = (8, 5) if place == params["dashed"] else ()
    drawn = path(through(points, params["curve"]), pen(colour, params["width"], dash, "round", "round"))
    nodes = [drawn.named("line", params["series"][place]).noted(params["series"][place])]
    if params["marks"] != "none":
        marks = [marker(params["marks"], at, params["width"] + 2, colour, theme) for at in points]
        if len(params["values"]) < 3:
            for mark, value in zip(marks, params["values"][place], strict=True):
                mark.named("data point", shown(value))
        nodes.append(group(marks))
    return nodes


def _span(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if params["span"] < 0:
        return []
    start, width = plot.slots(len(params["names"]))[params["span"]]
    return [rect(start, plot.y0, width * 2, plot.y1 - plot.y0, fill(theme.hues[-1], 0.15)).named("marked span")]


def _target(params: Mapping[str, Any], theme: Theme, plot: Plot, values: list[float]) -> list[Node]:
    if not params["target"]:
        return []
    at = plot.y(sorted(values)[len(values) // 2])
    return [line(plot.x0, at, plot.x1, at, pen(theme.ink, 1.5, (2, 4), "round")).named("target line")]


def _ends(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    """Names beside the lines' ends, in a column of their own where they would touch."""
    nodes: list[Node] = []
    taken = plot.y0 - 99.0
    order = sorted(range(len(params["series"])), key=lambda place: plot.y(params["values"][place][-1]))
    for place in order:
        y = max(plot.y(params["values"][place][-1]) - 10, taken + plot.size * 1.35, plot.y0 + plot.size)
        taken = y
        name, ink = params["series"][place], seen(theme.hues[place], theme.paper, 4)
        nodes.append(text(plot.x1 + 2, y, name, plot.size, ink, "sans-bold", "end").named("series label"))
    return [group(nodes).noted("series names")]


def _peak(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if not params["peak"] or len(params["series"]) > 1:
        return []
    row = params["values"][0]
    place = max(range(len(row)), key=lambda at: row[at])
    x, y = points_of(plot, row)[place]
    words, colour = shown(row[place]), theme.hues[1]
    width = plot.size * 0.66 * len(words) + 12
    left = min(max(x - width / 2, plot.x0), plot.x1 - width)
    label = text(left + width / 2, y - 12 - plot.size * 0.3, words, plot.size, ink_on(colour), "sans-bold", "middle")
    box = rect(left, y - 13 - plot.size * 1.3, width, plot.size * 1.5, fill(colour), 4)
    return [group([box, label.named("peak label"), circle(x, y, 5, fill(colour)).named("peak")]).noted("peak")]
