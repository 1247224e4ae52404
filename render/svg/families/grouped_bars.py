"""Bars of several series beside one another or stacked, with a legend."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import Plot, frame, names_below, names_left, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, shown
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, fill, group, line, outlined, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.words import GOODS, PLACES, TEAMS, labels
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    series, count = draws.integer(2, 5), draws.integer(3, 6)
    scale = draws.pick((10, 40, 100, 500))
    return view, params | {
        "names": labels(draws, count),
        "series": draws.some(draws.pick((PLACES, GOODS, TEAMS)), series),
        "values": [[round(scale * draws.real(0.25, 1)) + 1 for _ in range(count)] for _ in range(series)],
        "stacked": draws.chance(0.5),
        "flat": draws.chance(0.35),
        "edge": draws.weighted(("none", "line", "round", "pale"), (4, 2, 2, 1)),
        "inside": draws.chance(0.35),
        "totals": draws.chance(0.4),
        "links": draws.chance(0.25),
        "groups": draws.pick(("series", "category")),
        "fill": draws.real(0.5, 0.82),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    room = max(text_width_px(name, 15) for name in params["names"]) if params["flat"] else 0
    totals = [float(sum(column)) for column in zip(*params["values"], strict=True)]
    values = totals if params["stacked"] else [value for row in params["values"] for value in row]
    made = frame(params, view, [value * 1.1 for value in values], params["series"], flat=params["flat"], room=room)
    rows, columns = len(params["series"]), len(params["names"])
    boxes = {(row, column): _box(params, made.plot, row, column) for row in range(rows) for column in range(columns)}
    bars = {spot: _bar(params, theme, spot, box) for spot, box in boxes.items()}
    outer, inner = (rows, columns) if params["groups"] == "series" else (columns, rows)
    body = [*made.back]
    for place in range(outer):
        spots = [(place, other) if params["groups"] == "series" else (other, place) for other in range(inner)]
        name = params["series" if params["groups"] == "series" else "names"][place]
        body.append(group([bars[spot] for spot in spots]).noted(name))
    body += [*_links(params, theme, boxes), *_inside(params, theme, made.plot, boxes), *made.front]
    body.append((names_left if params["flat"] else names_below)(made.plot, params["names"], theme))
    body += _totals(params, theme, made.plot, totals)
    return document(body, [], params, view)


def _box(params: Mapping[str, Any], plot: Plot, row: int, column: int) -> tuple[float, float, float, float]:
    flat, stacked = params["flat"], params["stacked"]
    start, width = plot.slots(len(params["names"]), not flat)[column]
    thick = width * params["fill"]
    across = start + (width - thick) / 2
    value = params["values"][row][column]
    below = sum(params["values"][other][column] for other in range(row)) if stacked else 0
    if not stacked:
        thick /= len(params["series"])
        across += thick * row
        thick *= 0.92
    if flat:
        return plot.x(below), across, plot.x(below + value) - plot.x(below), thick
    return across, plot.y(below + value), thick, plot.y(below) - plot.y(below + value)


def _bar(
    params: Mapping[str, Any], theme: Theme, spot: tuple[int, int], box: tuple[float, float, float, float]
) -> Node:
    row, column = spot
    colour = theme.hues[row]
    paint = fill(colour)
    if params["edge"] == "line":
        paint = outlined(colour, theme.paper, 1.5)
    if params["edge"] == "pale":
        paint = outlined(mix(colour, theme.paper, 0.55), colour, 1.5)
    says = f"{params['series'][row]}, {params['names'][column]}: {shown(params['values'][row][column])}"
    return rect(*box, paint, 3 if params["edge"] == "round" else 0).named("bar", says)


def _links(
    params: Mapping[str, Any], theme: Theme, boxes: Mapping[tuple[int, int], tuple[float, float, float, float]]
) -> list[Node]:
    if not (params["links"] and params["stacked"]):
        return []
    nodes: list[Node] = []
    for (row, column), (x, y, w, h) in boxes.items():
        if (row, column + 1) in boxes:
            x2, y2, w2, _h2 = boxes[row, column + 1]
            ends = (x + w, y + h, x2 + w2, y2) if params["flat"] else (x + w, y, x2, y2)
            nodes.append(line(*ends, pen(theme.muted, 1, (3, 3))))
    return [group(nodes).noted("links")]


def _inside(
    params: Mapping[str, Any],
    theme: Theme,
    plot: Plot,
    boxes: Mapping[tuple[int, int], tuple[float, float, float, float]],
) -> list[Node]:
    if not params["inside"] or params["edge"] == "pale":
        return []
    nodes: list[Node] = []
    for (row, column), (x, y, w, h) in boxes.items():
        words = shown(params["values"][row][column])
        if text_width_px(words, plot.size) + 4 < w and plot.size + 4 < h:
            colour = ink_on(theme.hues[row])
            nodes.append(text(x + w / 2, baseline(y + h / 2, plot.size), words, plot.size, colour, "sans", "middle"))
    return [group(nodes).noted("values")] if nodes else []


def _totals(params: Mapping[str, Any], theme: Theme, plot: Plot, totals: list[float]) -> list[Node]:
    if not (params["totals"] and params["stacked"]):
        return []
    nodes: list[Node] = []
    for (start, width), total in zip(plot.slots(len(totals), not params["flat"]), totals, strict=True):
        at = start + width / 2
        if params["flat"]:
            nodes.append(
                text(plot.x(total) + 6, baseline(at, plot.size), shown(total), plot.size, theme.ink, "sans-bold")
            )
        else:
            nodes.append(text(at, plot.y(total) - 5, shown(total), plot.size, theme.ink, "sans-bold", "middle"))
    return [group([node.named("total") for node in nodes]).noted("totals")]
