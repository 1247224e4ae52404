"""Waves, zigzags, scales and stripes across the view, drawn line by line or as one pattern fill."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import Node, circle, clip, fill, group, linear, path, pen, polyline, rect
from gristmill.render.svg.palettes import Theme, mix, ramp, theme_of
from gristmill.render.svg.paths import Path
from gristmill.render.svg.patterns import edge, ground_of, pattern, sample_pattern
from gristmill.render.svg.scene import backdrop
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_pattern(draws, "Waves")
    return view, params | {
        "kind": draws.pick(("bands", "lines", "zigzag", "scales", "stripes", "hills")),
        "rows": draws.integer(5, 13),
        "long": draws.pick((60, 80, 120, 160)),
        "tall": round(draws.real(0.2, 0.55), 2),
        "shift": draws.chance(0.5),
        "shade": draws.pick(("ramp", "hues", "two")),
        "dashed": draws.chance(0.25),
        "moon": draws.chance(0.3),
        "window": draws.pick(("none", "none", "circle", "round")),
        "fade": draws.chance(0.3),
        "filled": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = view.width_px, view.height_px
    ground = ground_of(params, theme)
    waves: list[Node] = []
    if params["moon"]:
        waves.append(circle(w * 0.75, h * 0.24, min(w, h) * 0.14, fill(theme.hues[1])).named("moon"))
    defs: list[Node] = []
    if params["filled"]:
        defs.append(_tile(params, theme))
        waves.append(rect(0, h * 0.3, w, h * 0.7, fill("url(#waves)")).named("pattern"))
    waves += _rows(params, theme, view)
    body = [backdrop(view, ground)]
    if params["fade"]:
        defs.append(linear("sky", ((0, mix(theme.hues[2], theme.paper, 0.5)), (1, ground))))
        body.append(rect(0, 0, w, h * 0.6, fill("url(#sky)")).named("sky"))
    if params["window"] == "none":
        body += waves
    else:
        shape = (
            circle(w / 2, h / 2, min(w, h) * 0.45, {})
            if params["window"] == "circle"
            else rect(20, 20, w - 40, h - 40, {}, 30)
        )
        defs.append(clip("window", shape))
        body.append(group(waves).with_("clip-path", "url(#window)").named("window"))
    return document([*body, *edge(params, theme, view)], defs, params, view)


def _tile(params: Mapping[str, Any], theme: Theme) -> Node:
    long = params["long"] / 2
    d: Path = [("M", 0, long / 4), ("Q", long / 4, 0, long / 2, long / 4), ("T", long, long / 4)]
    return pattern("waves", long, long / 2, [path(d, pen(mix(theme.hues[3], theme.paper, 0.5), 2))])


def _colour(params: Mapping[str, Any], theme: Theme, row: int) -> str:
    if params["shade"] == "ramp":
        return ramp(mix(theme.hues[0], theme.paper, 0.55), theme.hues[0], params["rows"])[row]
    return theme.hues[row % (2 if params["shade"] == "two" else 6)]


def _rows(params: Mapping[str, Any], theme: Theme, view: View) -> list[Node]:
    w, h = view.width_px, view.height_px
    step = h * 0.74 / params["rows"]
    nodes: list[Node] = []
    for row in range(params["rows"]):
        y = h * 0.26 + step * (row + 0.5)
        start = -params["long"] / 2 if params["shift"] and row % 2 else 0.0
        nodes.append(_row(params, (w, h, y), (start - params["long"], step), _colour(params, theme, row)))
    return [group(nodes).noted("waves")]


def _row(params: Mapping[str, Any], at: tuple[float, float, float], run: tuple[float, float], hue: str) -> Node:
    w, h, y = at
    start, step = run
    kind, long, up = params["kind"], params["long"], step * params["tall"] * 2
    thick = max(step * 0.3, 4)
    dash = (thick * 2, thick) if params["dashed"] else ()
    count = int((w - start) / long) + 2
    if kind == "zigzag":
        points = [(start + long / 2 * n, y - up * (n % 2)) for n in range(2 * count + 1)]
        return polyline(points, pen(hue, thick, dash, "", "miter")).named("zigzag")
    if kind == "stripes":
        return rect(0, y - step * 0.3, w, step * 0.6, fill(hue)).named("stripe")
    if kind == "scales":
        arcs: Path = []
        for n in range(count):
            x = start + long * n
            arcs += [("M", x, y), ("A", long / 2, long / 2, 0, 0, 0, x + long, y), ("Z",)]
        return path(arcs, fill(hue)).named("scales")
    if kind == "hills":
        d: Path = [("M", start, y)]
        for n in range(count):
            d.append(
                (
                    "C",
                    start + long * (n + 0.25),
                    y - up * 1.5,
                    start + long * (n + 0.75),
                    y + up,
                    start + long * (n + 1),
                    y,
                )
            )
        return path([*d, ("L", w + 20, h + 20), ("L", start, h + 20), ("Z",)], fill(hue)).named("hills")
    d = [("M", start, y), ("Q", start + long / 4, y - up, start + long / 2, y)]
    d += [("T", start + long / 2 * n, y) for n in range(2, 2 * count + 1)]
    if kind == "bands":
        return path([*d, ("L", d[-1][1], h + 20), ("L", start, h + 20), ("Z",)], fill(hue)).named("wave")
    return path(d, pen(hue, thick, dash)).named("wave")
