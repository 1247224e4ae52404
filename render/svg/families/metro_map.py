"""Lines of a metro: level, upright and slanting runs in colours, stations, changes, ends, names and a key."""

import itertools
from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import tile
from gristmill.render.svg.charts import base_size
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, polyline, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, theme_of
from gristmill.render.svg.paths import Point, smooth
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.words import STATIONS
from gristmill.render.svg.writer import document

SIZES = ((560, 420), (640, 480), (720, 480), (800, 600), (480, 560), (512, 512))


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Metro map", 0.2)
    lines = draws.integer(2, 6)
    return view, params | {
        "lines": lines,
        "levels": [round(0.24 + 0.6 * (place + 0.5) / lines + draws.real(-0.03, 0.03), 3) for place in range(lines)],
        "bends": [
            [round(draws.real(0.25, 0.45), 2), round(draws.real(0.55, 0.75), 2), draws.pick((-1, 0, 1))]
            for _ in range(lines)
        ],
        "stops": [draws.integer(3, 6) for _ in range(lines)],
        "names": draws.some(STATIONS, 28),
        "cross": draws.chance(0.65),
        "ring": draws.chance(0.3),
        "stop": draws.pick(("ring", "dot", "tick", "square")),
        "ends": draws.pick(("none", "bar", "badge")),
        "width": draws.pick((5, 6, 8)),
        "curve": draws.chance(0.25),
        "named": draws.pick(("above", "below", "tilted", "none")),
        "key": draws.pick(("row", "column", "none")),
        "river": draws.chance(0.35),
        "zones": draws.chance(0.2),
        "dashed": draws.chance(0.25),
        "titled": draws.chance(0.6),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view) - 1
    w, h = view.width_px, view.height_px
    body = [backdrop(view, theme.paper)]
    if params["zones"]:
        body.append(rect(w * 0.22, h * 0.16, w * 0.56, h * 0.7, fill(theme.surface), 24).named("zone"))
    if params["river"]:
        d = smooth([(-20, h * 0.84), (w * 0.3, h * 0.76), (w * 0.6, h * 0.92), (w + 20, h * 0.8)], 1)
        body.append(path(d, pen(theme.rule, 16)).named("river"))
    if params["titled"]:
        body.append(text(18, 30, "Metro", 20, theme.ink, "sans-bold").named("title"))
    runs = [_run(params, view, place) for place in range(params["lines"])]
    tracks: list[Node] = []
    for place, points in enumerate(runs):
        dash = (10, 6) if params["dashed"] and place == len(runs) - 1 else ()
        ink = pen(theme.hues[place], params["width"], dash, "" if dash else "round", "round")
        track = path(smooth(points), ink) if params["curve"] else polyline(points, ink)
        tracks.append(track.named("metro line", f"Line {place + 1}"))
    if params["cross"]:
        x = w * 0.5
        tracks.append(
            line(x, h * 0.17, x, h * 0.9, pen(theme.hues[6], params["width"]) | {"stroke-linecap": "round"}).named(
                "metro line", "Cross line"
            )
        )
    if params["ring"]:
        tracks.append(
            rect(w * 0.33, h * 0.26, w * 0.34, h * 0.5, pen(theme.hues[7], params["width"]), 30).named("ring line")
        )
    body.append(group(tracks).noted("lines"))
    body += _stations(params, theme, runs, (w, size))
    body += _key(params, theme, view, size)
    return document(body, [], params, view)


def _run(params: Mapping[str, Any], view: View, place: int) -> list[Point]:
    w, h = view.width_px, view.height_px
    y = params["levels"][place] * h
    first, second, way = params["bends"][place]
    drop = way * h * 0.05
    return [
        (w * 0.07, y),
        (w * first, y),
        (w * first + abs(drop), y + drop),
        (w * second, y + drop),
        (w * 0.93, y + drop),
    ]


def _at(points: list[Point], x: float) -> float:
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x0 <= x <= x1 and x1 > x0:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]


def _stations(
    params: Mapping[str, Any], theme: Theme, runs: list[list[Point]], frame: tuple[float, float]
) -> list[Node]:
    w, size = frame
    marks: list[Node] = []
    words: list[Node] = []
    names = list(params["names"])
    taken: list[Point] = []
    for place, points in enumerate(runs):
        hue = theme.hues[place]
        stops = [w * 0.07 + w * 0.86 * step / params["stops"][place] for step in range(params["stops"][place] + 1)]
        if params["cross"]:
            stops = [x for x in stops if abs(x - w * 0.5) > w * 0.06]
        for order, x in enumerate(stops):
            y = points[0][1] if params["curve"] and order == 0 else _at(points, x)
            name = names.pop() if names else ""
            end = order in (0, len(stops) - 1)
            if params["curve"] and not end:
                continue
            marks.append(_stop(params, theme, (x, y), hue, end).named("station", name))
            words += [
                node
                for node in _name(params, theme, (x, y), name, size, (w, w * 0.86 / params["stops"][place]))
                if _free((x, y), taken, size)
            ]
        if params["cross"]:
            y = _at(points, w * 0.5)
            if not params["curve"]:
                marks.append(
                    circle(w * 0.5, y, params["width"] + 3, outlined("#ffffff", "#111111", 3)).named("interchange")
                )
    return [group(marks).noted("stations"), *([group(words).noted("names")] if words else [])]


def _free(at: Point, taken: list[Point], size: float) -> bool:
    """Whether no name stands close by; notes it as taken where none does."""
    free = all(abs(at[0] - x) > 84 or abs(at[1] - y) > size * 1.8 for x, y in taken)
    if free:
        taken.append(at)
    return free


def _stop(params: Mapping[str, Any], theme: Theme, at: Point, hue: str, end: bool) -> Node:
    x, y = at
    r = params["width"] * 0.9
    if end and params["ends"] == "bar":
        return line(x, y - r * 1.6, x, y + r * 1.6, pen(hue, params["width"]))
    if params["stop"] == "tick" and not end:
        return line(x, y, x, y + r * 2, pen(hue, params["width"] * 0.8))
    if params["stop"] == "square":
        return tile(at, r * 1.3, 4, outlined(theme.paper, hue, 2.5))
    return circle(x, y, r, outlined(theme.paper, hue, 2.5) if params["stop"] == "ring" else fill(theme.ink))


def _name(
    params: Mapping[str, Any], theme: Theme, at: Point, name: str, size: float, room: tuple[float, float]
) -> list[Node]:
    x, y = at
    wide = text_width_px(name, size)
    if params["named"] == "none" or not name:
        return []
    if params["named"] == "tilted":
        if params["lines"] > 4 or x + wide * 0.9 > room[0] - 8:
            return []
        spot = (x + 4, y - params["width"] - 5)
        return [text(*spot, name, size, theme.ink).moved(("rotate", -30, *spot)).named("station name")]
    if wide > room[1] - 6 or x - wide / 2 < 4 or x + wide / 2 > room[0] - 4:
        return []
    drop = params["width"] * 2.2 + size if params["named"] == "below" else -params["width"] * 1.9
    return [text(x, y + drop, name, size, theme.ink, "sans", "middle").named("station name")]


def _key(params: Mapping[str, Any], theme: Theme, view: View, size: float) -> list[Node]:
    if params["key"] == "none":
        return []
    nodes: list[Node] = []
    for place in range(params["lines"]):
        hue = theme.hues[place]
        x, y = (
            (20 + place * size * 2.6, view.height_px - 20.0)
            if params["key"] == "row"
            else (view.width_px - 24 - size * 2.6 * (place + 1), 24.0)
        )
        if params["ends"] == "badge":
            nodes.append(rect(x - 8, y - 10, 26, 20, fill(hue), 5).named("line badge"))
        else:
            nodes.append(circle(x + 5, y, 11, fill(hue)).named("line badge"))
        nodes.append(
            text(x + 5, baseline(y, size), str(place + 1), size, ink_on(hue), "sans-bold", "middle").named(
                "line number"
            )
        )
    return [group(nodes).noted("key")]
