"""Plans of work: bars over a calendar, with groups, milestones, progress, links and today's line."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import arrow
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, fill, group, line, outlined, pen, polygon, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.paths import regular
from gristmill.render.svg.words import MONTHS, QUARTERS, task
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.2)
    rows = draws.integer(4, 8 if view.height_px < 420 else 11)
    heads = draws.pick(("months", "weeks", "quarters"))
    columns = {"months": draws.integer(4, 8), "weeks": draws.integer(4, 9), "quarters": 4}[heads]
    start = 0.0
    bars: list[list[float]] = []
    for _ in range(rows):
        long = draws.real(0.16, 0.4)
        start = min(max(start + draws.real(-0.06, 0.22), 0), 0.98 - long)
        bars.append([round(start, 3), round(long, 3), round(draws.real(0.15, 1), 2)])
    first = draws.integer(0, 13 - columns) if heads == "months" else 0
    names = {
        "months": MONTHS[first : first + columns],
        "quarters": QUARTERS,
        "weeks": [f"W{n + 1}" for n in range(columns)],
    }[heads]
    return view, params | {
        "title": draws.pick(("Project plan", "Schedule", "Work plan", "Release plan", "Building works")),
        "tasks": [task(draws) for _ in range(rows)],
        "bars": bars,
        "columns": list(names),
        "grid": draws.pick(("lines", "bands", "dashes", "none")),
        "bar": draws.pick(("square", "round", "pill")),
        "progress": draws.chance(0.45),
        "milestones": [place for place in range(1, rows) if draws.chance(0.2)],
        "links": draws.chance(0.35),
        "today": round(draws.real(0.2, 0.8), 2) if draws.chance(0.4) else 0,
        "names": draws.pick(("left", "left", "inside")),
        "phases": draws.chance(0.4),
        "head": draws.pick(("plain", "filled")),
        "rows": draws.chance(0.4),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    left = 20 + (max(text_width_px(name, size) for name in params["tasks"]) + 12 if params["names"] == "left" else 0)
    area = (left, top + size * 2.2, view.width_px - 22.0, view.height_px - 20.0)
    step = (area[3] - area[1]) / len(params["bars"])
    body = [*ground(params, view), *head, *_calendar(params, theme, area, size)]
    if params["rows"]:
        body.append(
            group(
                [
                    line(20, area[1] + step * n, area[2], area[1] + step * n, pen(theme.rule, 1))
                    for n in range(len(params["bars"]) + 1)
                ]
            ).noted("rows")
        )
    if params["links"]:
        body.append(group(_links(params, theme, area, step)).noted("links"))
    for place in range(len(params["bars"])):
        body.append(group(_bar(params, theme, area, step, size, place)).noted(params["tasks"][place]))
    if params["today"]:
        x = area[0] + (area[2] - area[0]) * params["today"]
        body.append(line(x, area[1] - 4, x, area[3], pen(theme.hues[-1], 2, (6, 4))).named("today line"))
    return document(body, [], params, view)


def _calendar(
    params: Mapping[str, Any], theme: Theme, area: tuple[float, float, float, float], size: float
) -> list[Node]:
    x0, y0, x1, y1 = area
    wide = (x1 - x0) / len(params["columns"])
    lines: list[Node] = []
    names: list[Node] = []
    if params["head"] == "filled":
        names.append(rect(x0, y0 - size * 2, x1 - x0, size * 1.8, fill(theme.surface)).named("calendar head"))
    for place, name in enumerate(params["columns"]):
        x = x0 + wide * place
        if params["grid"] == "bands" and place % 2:
            lines.append(rect(x, y0, wide, y1 - y0, fill(theme.surface)))
        elif params["grid"] in ("lines", "dashes"):
            lines.append(line(x, y0, x, y1, pen(theme.rule, 1, (3, 3) if params["grid"] == "dashes" else ())))
        names.append(text(x + wide / 2, y0 - size * 0.75, name, size, theme.muted, "sans", "middle").named("period"))
    return [group(lines).noted("calendar")] * bool(lines) + [group(names).noted("periods")]


def _box(
    params: Mapping[str, Any], area: tuple[float, float, float, float], step: float, place: int
) -> tuple[float, float, float, float]:
    start, long, _ = params["bars"][place]
    thick = min(step * 0.6, 28)
    w = area[2] - area[0]
    return area[0] + w * start, area[1] + step * (place + 0.5) - thick / 2, w * long, thick


def _bar(
    params: Mapping[str, Any],
    theme: Theme,
    area: tuple[float, float, float, float],
    step: float,
    size: float,
    place: int,
) -> list[Node]:
    x, y, w, h = _box(params, area, step, place)
    hue = theme.hues[place * 3 // len(params["bars"]) if params["phases"] else 0]
    name = params["tasks"][place]
    nodes: list[Node] = []
    if params["names"] == "left":
        nodes.append(text(20, baseline(y + h / 2, size), name, size, theme.ink).named("task name"))
    if place in params["milestones"]:
        return [*nodes, polygon(regular(x + w / 2, y + h / 2, h * 0.6, 4), fill(hue)).named("milestone", name)]
    rx = {"square": 0, "round": 4, "pill": h / 2}[params["bar"]]
    if params["progress"]:
        nodes.append(rect(x, y, w, h, outlined(mix(hue, theme.paper, 0.7), hue, 1), rx).named("task bar", name))
        nodes.append(rect(x, y, max(w * params["bars"][place][2], h), h, fill(hue), rx).named("progress"))
    else:
        nodes.append(rect(x, y, w, h, fill(hue), rx).named("task bar", name))
    if params["names"] == "inside":
        if text_width_px(name, size) < w - 12 and h > size and not params["progress"]:
            nodes.append(text(x + 7, baseline(y + h / 2, size), name, size, ink_on(hue)).named("task name"))
        elif x + w + 10 + text_width_px(name, size) < area[2]:
            nodes.append(text(x + w + 7, baseline(y + h / 2, size), name, size, theme.ink).named("task name"))
        elif x - 12 - text_width_px(name, size) > 8:
            nodes.append(
                text(x - 7, baseline(y + h / 2, size), name, size, theme.ink, "sans", "end").named("task name")
            )
    return nodes


def _links(params: Mapping[str, Any], theme: Theme, area: tuple[float, float, float, float], step: float) -> list[Node]:
    nodes: list[Node] = []
    for place in range(len(params["bars"]) - 1):
        if place in params["milestones"] or place + 1 in params["milestones"]:
            continue
        x, y, w, h = _box(params, area, step, place)
        x2, y2, w2, _ = _box(params, area, step, place + 1)
        at = x + w - 5
        if x2 < at < x2 + w2:
            nodes.append(arrow([(at, y + h), (at, y2 - 1)], theme.muted, 1.4).named("dependency"))
    return nodes
