"""Tables whose rows end in small charts: lines, columns, win and loss, bullets, with changes beside them."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, shown
from gristmill.render.svg.nodes import Node, circle, fill, group, line, path, pen, polygon, polyline, rect, text
from gristmill.render.svg.palettes import Theme, seen, theme_of
from gristmill.render.svg.paths import Point, closed, regular, smooth
from gristmill.render.svg.words import GOODS, PLACES, SUBJECTS
from gristmill.render.svg.writer import document

CHARTS = ("line", "smooth", "area", "columns", "winloss", "bullet")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    rows = draws.integer(3, 6 if view.height_px < 420 else 8)
    series = [[round(draws.real(0.1, 1), 2) for _ in range(draws.integer(8, 15))] for _ in range(rows)]
    return view, params | {
        "names": draws.some(draws.pick((PLACES, GOODS)), rows),
        "series": series,
        "values": [draws.integer(12, 9800) for _ in range(rows)],
        "changes": [round(draws.real(-12, 15), 1) for _ in range(rows)],
        "chart": draws.pick(CHARTS),
        "second": draws.pick(CHARTS) if draws.chance(0.3) and view.width_px > 560 else "",
        "rules": draws.pick(("lines", "stripes", "none", "box")),
        "head": draws.pick(("bold", "filled", "none")),
        "heads": [draws.pick(("Item", "Region", "Name")), "Value", "Trend", "Change"],
        "end": draws.pick(("none", "dot", "both")),
        "change": draws.pick(("text", "arrow", "arrow", "none")),
        "key": draws.pick(("none", "dot", "square")),
        "moved": draws.chance(0.4),
        "topic": draws.pick(SUBJECTS),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    body = [*ground(params, view), *head]
    rows = len(params["names"])
    left, right = 24.0, view.width_px - 24.0
    high = (view.height_px - top - 22) / (rows + (0 if params["head"] == "none" else 1))
    columns = _columns(params, left, right)
    if params["head"] != "none":
        body.append(_head(params, theme, columns, (left, top, right, high), size))
        top += high
    for place in range(rows):
        body.append(_row(params, theme, columns, (left, top + high * place, right, high), size, place))
    if params["rules"] == "box":
        body.append(rect(left - 6, top, right - left + 12, high * rows, pen(theme.rule, 1.5), 6).named("table frame"))
    return document(body, [], params, view)


def _columns(params: Mapping[str, Any], left: float, right: float) -> dict[str, float]:
    """Right edge of the figures, left and right of the chart, right edge of the changes."""
    w = right - left
    last = right - (0.19 * w if params["change"] != "none" else 6)
    return {"name": left + 8, "value": left + w * 0.46, "from": left + w * 0.51, "to": last, "change": right - 6}


def _head(
    params: Mapping[str, Any],
    theme: Theme,
    columns: Mapping[str, float],
    box: tuple[float, float, float, float],
    size: float,
) -> Node:
    left, y, right, high = box
    middle = baseline(y + high / 2, size)
    nodes: list[Node] = []
    ink = theme.muted
    if params["head"] == "filled":
        nodes.append(rect(left - 6, y + 2, right - left + 12, high - 4, fill(theme.surface), 4).named("table head"))
        ink = theme.ink
    else:
        nodes.append(line(left - 6, y + high - 1, right + 6, y + high - 1, pen(theme.muted, 1.5)).named("head rule"))
    item, value, trend, change = params["heads"]
    nodes.append(text(columns["name"], middle, item, size, ink, "sans-bold").named("column head"))
    nodes.append(text(columns["value"], middle, value, size, ink, "sans-bold", "end").named("column head"))
    nodes.append(text(columns["from"], middle, trend, size, ink, "sans-bold").named("column head"))
    if params["change"] != "none":
        nodes.append(text(columns["change"], middle, change, size, ink, "sans-bold", "end").named("column head"))
    return group(nodes).noted("head")


def _row(
    params: Mapping[str, Any],
    theme: Theme,
    columns: Mapping[str, float],
    box: tuple[float, float, float, float],
    size: float,
    place: int,
) -> Node:
    left, y, right, high = box
    top = 0.0 if params["moved"] else y
    middle = baseline(top + high / 2, size)
    nodes: list[Node] = []
    if params["rules"] == "stripes" and place % 2 == 0:
        nodes.append(rect(left - 6, top, right - left + 12, high, fill(theme.surface)))
    if params["rules"] == "lines":
        nodes.append(line(left - 6, top + high, right + 6, top + high, pen(theme.rule, 1)))
    shift = 0.0
    if params["key"] != "none":
        at = (columns["name"] + 5, top + high / 2)
        key = (
            circle(*at, 5, fill(theme.hues[place]))
            if params["key"] == "dot"
            else rect(at[0] - 5, at[1] - 5, 10, 10, fill(theme.hues[place]))
        )
        nodes.append(key)
        shift = 18
    nodes.append(text(columns["name"] + shift, middle, params["names"][place], size, theme.ink).named("row label"))
    nodes.append(
        text(columns["value"], middle, shown(params["values"][place]), size, theme.ink, "sans", "end").named("figure")
    )
    start, end = columns["from"], columns["to"]
    half = (start + end) / 2 if params["second"] else end
    for kind, x0, x1 in ((params["chart"], start, half - 8), (params["second"], half + 4, end - 8)):
        if kind:
            area = (x0, top + high * 0.2, x1, top + high * 0.8)
            nodes.append(_chart(params, theme, kind, area, place).named("sparkline", params["names"][place]))
    nodes += _change(params, theme, columns["change"], middle, size, place)
    return group(nodes, *([("translate", 0, round(y, 1))] if params["moved"] else [])).noted(params["names"][place])


def _chart(
    params: Mapping[str, Any], theme: Theme, kind: str, area: tuple[float, float, float, float], place: int
) -> Node:
    x0, y0, x1, y1 = area
    values = params["series"][place]
    colour = theme.hues[0]
    step = (x1 - x0) / len(values)
    points: list[Point] = [(x0 + step * (at + 0.5), y1 - (y1 - y0) * value) for at, value in enumerate(values)]
    if kind == "columns":
        return group([rect(x - step * 0.35, y, step * 0.7, y1 - y, fill(colour)) for x, y in points])
    if kind == "winloss":
        middle = (y0 + y1) / 2
        ups = [value > 0.5 for value in values]
        boxes = zip(points, ups, strict=True)
        tall = (y1 - y0) * 0.4
        return group(
            [
                rect(
                    x - step * 0.35, middle - tall if up else middle, step * 0.7, tall, fill(theme.hues[0 if up else 1])
                )
                for (x, _), up in boxes
            ]
        )
    if kind == "bullet":
        tall = y1 - y0
        whole = rect(x0, y0 + tall * 0.15, x1 - x0, tall * 0.7, fill(theme.rule))
        done = rect(x0, y0 + tall * 0.35, (x1 - x0) * max(values[0], 0.15), tall * 0.3, fill(colour))
        goal = x0 + (x1 - x0) * max(values[1], 0.2)
        return group([whole, done, line(goal, y0, goal, y1, pen(theme.ink, 2.5))])
    nodes = [polyline(points, pen(colour, 1.8)) if kind != "smooth" else path(smooth(points), pen(colour, 1.8))]
    if kind == "area":
        nodes.insert(0, path(closed([(points[0][0], y1), *points, (points[-1][0], y1)]), fill(colour, 0.25)))
    ends = {"dot": points[-1:], "both": [points[0], points[-1]]}.get(params["end"], [])
    return group(nodes + [circle(*end, 3, fill(theme.hues[1])) for end in ends])


def _change(params: Mapping[str, Any], theme: Theme, x: float, y: float, size: float, place: int) -> list[Node]:
    if params["change"] == "none":
        return []
    change = params["changes"][place]
    up = change >= 0
    ink = seen(theme.hues[2 if up else 1], theme.surface, 4.5)
    words = f"{abs(change)}%" if params["change"] == "arrow" else f"{change:+}%"
    nodes = [text(x, y, words, size, ink, "sans", "end").named("change")]
    if params["change"] == "arrow":
        at = (x - size * 4.2, y - size * 0.36)
        nodes.append(
            polygon(regular(*at, 5, 3, -90 if up else 90), fill(ink)).named("up arrow" if up else "down arrow")
        )
    return nodes
