"""Areas under lines: one, stacked, mirrored or a band between two lines, flat or shaded."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import Plot, frame, names_below, sample_frame
from gristmill.render.svg.curves import marker, points_of, sample_series, through
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import Node, fill, group, line, linear, path, pen
from gristmill.render.svg.palettes import Theme, mix, theme_of
from gristmill.render.svg.paths import Path, Point
from gristmill.render.svg.words import GOODS, labels
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    kind = draws.pick(("one", "stacked", "stacked", "over", "band"))
    series = {"one": 1, "stacked": draws.integer(2, 5), "over": 2, "band": 2}[kind]
    count = draws.integer(5, 10)
    return view, params | {
        "kind": kind,
        "names": labels(draws, count),
        "series": draws.some(GOODS, series),
        "values": sample_series(draws, series, count),
        "curve": draws.pick(("straight", "smooth", "smooth", "steps")),
        "edge": draws.chance(0.6),
        "marks": draws.pick(("none", "none", "dot", "ring")),
        "shaded": draws.chance(0.4),
        "drops": draws.chance(0.2),
        "keyed": draws.chance(0.7),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    rows = _levels(params)
    keyed = params["keyed"] and len(rows) > 1 and params["kind"] != "band"
    made = frame(params, view, [value * 1.08 for row in rows for value in row], params["series"] if keyed else ())
    plot = made.plot
    lines = [points_of(plot, row) for row in rows]
    body = [*made.back]
    for place, area in _areas(params, plot, lines):
        body.append(path(area, _paint(params, theme, place)).named("area", params["series"][place]))
    if params["drops"]:
        drops = [line(x, y, x, plot.y1, pen(theme.muted, 1, (2, 3))) for x, y in lines[-1]]
        body.append(group(drops).noted("drop lines"))
    body += _edges(params, theme, lines)
    body += [*made.front, names_below(plot, params["names"], theme)]
    return document(body, _defs(params, theme) if params["shaded"] else [], params, view)


def _levels(params: Mapping[str, Any]) -> list[list[float]]:
    rows = params["values"]
    if params["kind"] == "band":
        return [
            [max(pair) * 1.15 for pair in zip(*rows, strict=True)],
            [min(pair) * 0.75 for pair in zip(*rows, strict=True)],
        ]
    if params["kind"] != "stacked":
        return sorted(rows, key=max, reverse=True)
    return [[sum(column[place:]) for column in zip(*rows, strict=True)] for place in range(len(rows))]


def _back(points: list[Point], curve: str) -> Path:
    """The same curve from its end to its start, to go on after another's end."""
    turned = through(points[::-1], curve)
    if curve == "steps":
        turned = [("M", *points[-1])]
        for before, here in zip(points[::-1], points[-2::-1], strict=False):
            turned += [("L", before[0], here[1]), ("L", *here)]
    return [("L", *turned[0][1:]), *turned[1:], ("Z",)]


def _areas(params: Mapping[str, Any], plot: Plot, lines: list[list[Point]]) -> list[tuple[int, Path]]:
    curve = params["curve"]
    if params["kind"] == "band":
        return [(0, [*through(lines[0], curve), *_back(lines[1], curve)])]
    out: list[tuple[int, Path]] = []
    for place, points in enumerate(lines):
        under = params["kind"] == "stacked" and place + 1 < len(lines)
        foot = (
            _back(lines[place + 1], curve)
            if under
            else [("L", points[-1][0], plot.y1), ("L", points[0][0], plot.y1), ("Z",)]
        )
        out.append((place, [*through(points, curve), *foot]))
    return out


def _paint(params: Mapping[str, Any], theme: Theme, place: int) -> dict[str, Any]:
    if params["shaded"]:
        return fill(f"url(#area-{place + 1})")
    return fill(theme.hues[place], 1 if params["kind"] == "stacked" else 0.55)


def _defs(params: Mapping[str, Any], theme: Theme) -> list[Node]:
    ends = [(hue, mix(hue, theme.paper, 0.55)) for hue in theme.hues[: len(params["series"])]]
    return [linear(f"area-{place + 1}", ((0, top), (1, foot))) for place, (top, foot) in enumerate(ends)]


def _edges(params: Mapping[str, Any], theme: Theme, lines: list[list[Point]]) -> list[Node]:
    body: list[Node] = []
    for place, points in enumerate(lines):
        if params["edge"]:
            edge = theme.paper if params["kind"] == "stacked" else theme.hues[place]
            drawn = path(through(points, params["curve"]), pen(edge, 2.5, (), "", "round"))
            body.append(drawn if params["kind"] == "stacked" else drawn.named("edge line"))
        if params["marks"] != "none" and params["kind"] != "stacked":
            body.append(group([marker(params["marks"], at, 4, theme.hues[place], theme) for at in points]))
    return body
