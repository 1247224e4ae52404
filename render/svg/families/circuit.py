"""Circuits: a loop or ladder of sources, resistors, capacitors, lamps, switches and meters, with names and nodes."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, Paint, circle, fill, group, line, path, pen, polygon, polyline, rect, text
from gristmill.render.svg.palettes import Theme, theme_of
from gristmill.render.svg.paths import Path
from gristmill.render.svg.writer import document

KINDS = {
    "resistor": "R",
    "zigzag": "R",
    "capacitor": "C",
    "coil": "L",
    "lamp": "H",
    "switch": "S",
    "diode": "D",
    "meter": "A",
    "fuse": "F",
}
UNITS = {"R": "k", "C": "n", "L": "m", "H": "W", "F": "A"}


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.2)
    branches = draws.integer(1, 4)
    top = branches * (2 if branches == 1 and draws.chance(0.6) else 1)
    kinds = sorted(KINDS)
    parts = [draws.pick(kinds) for _ in range(top)]
    return view, params | {
        "title": draws.pick(("Circuit", "Test set-up", "Filter", "Divider", "Lamp circuit")),
        "source": draws.pick(("battery", "cell", "round", "wave")),
        "top": parts,
        "branches": [[draws.pick(kinds) for _ in range(draws.integer(1, 3))] for _ in range(branches)],
        "low": draws.pick(kinds) if draws.chance(0.4) else "",
        "values": draws.chance(0.55),
        "figures": [draws.pick((1, 2, 4, 10, 22, 47)) for _ in range(16)],
        "nodes": draws.chance(0.6),
        "earth": draws.chance(0.4),
        "arrow": draws.chance(0.35),
        "terminals": draws.chance(0.3),
        "width": draws.pick((1.5, 2, 2.5)),
        "dots": draws.chance(0.15),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    ink = pen(theme.ink, params["width"]) | {"stroke-linejoin": "round"}
    x0, x1 = 62.0, view.width_px - 62.0
    y0, y1 = top + 36, view.height_px - 48.0
    body = [*ground(params, view), *head]
    if params["dots"]:
        body.append(
            group(
                [
                    circle(x, y, 1, fill(theme.rule))
                    for x in range(20, view.width_px, 40)
                    for y in range(int(top), view.height_px, 40)
                ]
            ).named("grid dots")
        )
    xs = [x0 + (x1 - x0) * (n + 1) / len(params["branches"]) for n in range(len(params["branches"]))]
    counts: dict[str, int] = {}
    draw = _Drawer(params, theme, ink, size, counts)
    wires = [line(x0, y1, x1, y1, ink)] if not params["low"] else []
    parts: list[Node] = []
    parts += draw.run((x0, y0), (x0, y1), [params["source"]])
    step = (x1 - x0) / len(params["top"])
    for n, kind in enumerate(params["top"]):
        parts += draw.run((x0 + step * n, y0), (x0 + step * (n + 1), y0), [kind])
    if params["low"]:
        parts += draw.run((x0, y1), (xs[0], y1), [params["low"]])
        wires.append(line(xs[0], y1, x1, y1, ink))
    for x, kinds in zip(xs, params["branches"], strict=True):
        parts += draw.run((x, y0), (x, y1), kinds)
    body += [group([*wires, *parts]).noted("circuit")]
    body += _extras(params, theme, (x0, y0, x1, y1), xs[:-1])
    return document(body, [], params, view)


def _extras(
    params: Mapping[str, Any], theme: Theme, box: tuple[float, float, float, float], xs: list[float]
) -> list[Node]:
    x0, y0, x1, y1 = box
    nodes: list[Node] = []
    if params["nodes"] and xs:
        nodes += [circle(x, y, 4, fill(theme.ink)).named("node") for x in xs for y in (y0, y1)]
    if params["earth"]:
        d: Path = [
            ("M", x0, y1),
            ("L", x0, y1 + 14),
            ("M", x0 - 14, y1 + 14),
            ("L", x0 + 14, y1 + 14),
            ("M", x0 - 9, y1 + 20),
            ("L", x0 + 9, y1 + 20),
            ("M", x0 - 4, y1 + 26),
            ("L", x0 + 4, y1 + 26),
        ]
        nodes.append(path(d, pen(theme.ink, params["width"])).named("earth"))
    if params["arrow"]:
        nodes.append(
            polygon([(x0 + 6, y0 - 6), (x0 + 16, y0), (x0 + 6, y0 + 6)], fill(theme.hues[0])).named("current arrow")
        )
    if params["terminals"]:
        nodes += [
            circle(x1 + 8, y, 5, {"fill": theme.paper, "stroke": theme.ink, "stroke-width": params["width"]}).named(
                "terminal"
            )
            for y in (y0, y1)
        ]
    return [group(nodes).noted("marks")] if nodes else []


class _Drawer:
    """Draws runs of parts along straight wires, numbering parts of a kind as it goes."""

    def __init__(
        self, params: Mapping[str, Any], theme: Theme, ink: Paint, size: float, counts: dict[str, int]
    ) -> None:
        self.params, self.theme, self.ink, self.size, self.counts = params, theme, ink, size, counts

    def run(self, start: tuple[float, float], end: tuple[float, float], kinds: list[str]) -> list[Node]:
        """Parts at equal distances from start to end, level or downwards, with the wire between them."""
        (xa, ya), (xb, yb) = start, end
        down = abs(yb - ya) > abs(xb - xa)
        long = max(abs(xb - xa), abs(yb - ya))
        half = min(22.0, long / len(kinds) * 0.32)
        nodes: list[Node] = []
        at = 0.0
        for place, kind in enumerate(kinds):
            middle = long * (place + 0.5) / len(kinds)
            nodes.append(self._wire(start, down, at, middle - half))
            spot = (xa, ya + middle) if down else (xa + middle, ya)
            steps: list[tuple[Any, ...]] = [("translate", *spot)] + ([("rotate", 90)] if down else [])
            nodes.append(
                group(_symbol(kind, half, self.ink, self.theme), *steps).named(
                    "zigzag resistor" if kind == "zigzag" else kind
                )
            )
            nodes += self._label(kind, spot, half, down)
            at = middle + half
        return [*nodes, self._wire(start, down, at, long)]

    def _wire(self, start: tuple[float, float], down: bool, a: float, b: float) -> Node:
        x, y = start
        return line(x, y + a, x, y + b, self.ink) if down else line(x + a, y, x + b, y, self.ink)

    def _label(self, kind: str, spot: tuple[float, float], half: float, down: bool) -> list[Node]:
        letter = KINDS.get(kind, "U")
        self.counts[letter] = self.counts.get(letter, 0) + 1
        words = f"{letter}{self.counts[letter]}"
        figure = self.params["figures"][sum(self.counts.values()) % 16]
        if self.params["values"] and letter in UNITS and down:
            words += f" {figure}{UNITS[letter]}"
        x, y = spot
        size = self.size
        if down:
            left = kind in ("battery", "cell", "round", "wave")
            at = x - half - 5 if left else x - half - 3
            return [text(at, baseline(y, size), words, size, self.theme.ink, "sans", "end").named("part name")]
        return [text(x, y - half * 0.75 - 5, words, size, self.theme.ink, "sans", "middle").named("part name")]


def _symbol(kind: str, a: float, ink: Paint, theme: Theme) -> list[Node]:
    """A part about the origin, lying, from -a to a."""
    if kind in ("resistor", "fuse"):
        body = rect(-a, -a * 0.38, 2 * a, a * 0.76, ink | {"fill": theme.paper})
        return [body, line(-a, 0, a, 0, ink)] if kind == "fuse" else [body]
    if kind == "zigzag":
        return [polyline([(-a, 0), *((-a + a * (2 * n + 1) / 6, (-1) ** n * a * 0.4) for n in range(6)), (a, 0)], ink)]
    if kind == "coil":
        d: Path = [("M", -a, 0)]
        d += [("A", a / 4, a / 4, 0, 0, 1, -a + a / 2 * (n + 1), 0) for n in range(4)]
        return [path(d, ink)]
    if kind in ("capacitor", "cell"):
        low = 0.35 if kind == "cell" else 0.7
        return [
            line(-a, 0, -a * 0.15, 0, ink),
            line(a * 0.15, 0, a, 0, ink),
            line(-a * 0.15, -a * 0.7, -a * 0.15, a * 0.7, ink),
            line(a * 0.15, -a * low, a * 0.15, a * low, ink),
        ]
    if kind == "battery":
        bars = [
            line(a * x, -a * tall, a * x, a * tall, ink)
            for x, tall in ((-0.45, 0.7), (-0.15, 0.35), (0.15, 0.7), (0.45, 0.35))
        ]
        return [line(-a, 0, -a * 0.45, 0, ink), line(a * 0.45, 0, a, 0, ink), *bars]
    if kind == "switch":
        return [
            circle(-a * 0.8, 0, 3, fill(theme.ink)),
            circle(a * 0.8, 0, 3, fill(theme.ink)),
            line(-a * 0.8, 0, a * 0.65, -a * 0.6, ink),
        ]
    if kind == "diode":
        return [
            polygon([(-a * 0.5, -a * 0.5), (a * 0.4, 0), (-a * 0.5, a * 0.5)], ink | {"fill": theme.ink}),
            line(a * 0.4, -a * 0.5, a * 0.4, a * 0.5, ink),
            line(-a, 0, -a * 0.5, 0, ink),
            line(a * 0.4, 0, a, 0, ink),
        ]
    return _round(kind, a, ink, theme)


def _round(kind: str, a: float, ink: Paint, theme: Theme) -> list[Node]:
    """A lamp, a meter or a source of waves."""
    ring = [
        circle(0, 0, a * 0.75, ink | {"fill": theme.paper}),
        line(-a, 0, -a * 0.75, 0, ink),
        line(a * 0.75, 0, a, 0, ink),
    ]
    if kind == "lamp":
        s = a * 0.53
        return [*ring, line(-s, -s, s, s, ink), line(-s, s, s, -s, ink)]
    if kind == "meter":
        return [
            *ring,
            path(
                [
                    ("M", -a * 0.4, a * 0.3),
                    ("L", a * 0.35, -a * 0.35),
                    ("M", a * 0.05, -a * 0.35),
                    ("L", a * 0.35, -a * 0.35),
                    ("L", a * 0.35, -a * 0.05),
                ],
                ink,
            ),
        ]
    return [*ring, path([("M", -a * 0.45, 0), ("Q", -a * 0.22, -a * 0.5, 0, 0), ("T", a * 0.45, 0)], ink)]
