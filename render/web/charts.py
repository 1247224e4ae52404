"""Charts of a page as inline SVG: bars, lines, areas, rings. Values are numbers from 0 up; shapes carry no text."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin

from gristmill.render.draws import Draws
from gristmill.render.web.tree import Node, el

_W, _H = 400, 160


def _frame(label: str, width: int = _W, height: int = _H) -> dict[str, str | None]:
    return {"viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": label}


def _n(value: float) -> str:
    return f"{round(value, 1):g}"


def _grid(tokens: Mapping[str, str]) -> list[Node]:
    return [
        el(
            "line",
            {"x1": "0", "x2": str(_W), "y1": str(y), "y2": str(y), "stroke": tokens["line"], "stroke-width": "1"},
        )
        for y in (20, 60, 100, 140)
    ]


def bars(values: Sequence[float], tokens: Mapping[str, str], label: str) -> Node:
    """Upright bars of one colour, the highest of another."""
    top, step = max(*values, 1), _W / len(values)
    shapes = [
        el(
            "rect",
            {
                "x": _n(step * k + step * 0.18),
                "y": _n(140 - 120 * v / top),
                "width": _n(step * 0.64),
                "height": _n(max(120 * v / top, 2)),
                "fill": tokens["c2" if v == top else "c1"],
            },
        )
        for k, v in enumerate(values)
    ]
    return el("svg.picture", _frame(label), _grid(tokens), shapes)


def line(values: Sequence[float], tokens: Mapping[str, str], label: str, filled: bool = False) -> Node:
    """A line from the start side to the end, with the area below it or dots on it."""
    top, step = max(*values, 1), _W / (len(values) - 1)
    at = [(step * k, 140 - 120 * v / top) for k, v in enumerate(values)]
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in at)
    area = el("polygon", {"points": f"0,140 {points} {_W},140", "fill": tokens["c1"], "fill-opacity": "0.3"})
    stroke = {"points": points, "fill": "none", "stroke": tokens["c1"], "stroke-width": "3", "stroke-linejoin": "round"}
    dots = [el("circle", {"cx": _n(x), "cy": _n(y), "r": "4", "fill": tokens["c2"]}) for x, y in at[1:-1]]
    return el(
        "svg.picture",
        _frame(label),
        _grid(tokens),
        [area] if filled else None,
        el("polyline", stroke),
        None if filled else dots,
    )


def sample_shares(draws: Draws) -> list[int]:
    """Four parts of a hundred, the largest first."""
    parts = [draws.integer(8, 30) for _ in range(3)]
    return sorted([*parts, 100 - sum(parts)], reverse=True)


def ring(shares: Sequence[float], tokens: Mapping[str, str], label: str) -> Node:
    """A ring of arcs, clockwise from the top."""
    total, turned, arcs = sum(shares), 0.0, list[Node]()
    for place, share in enumerate(shares):
        start, turned = turned, turned + share / total
        a, b = 2 * pi * start - pi / 2, 2 * pi * min(turned, 0.9999) - pi / 2
        d = f"M{_n(80 + 60 * cos(a))} {_n(80 + 60 * sin(a))} A60 60 0 {int(b - a > pi)} 1 "
        d += f"{_n(80 + 60 * cos(b))} {_n(80 + 60 * sin(b))}"
        arcs.append(el("path", {"d": d, "fill": "none", "stroke": tokens[f"c{place % 6 + 1}"], "stroke-width": "28"}))
    return el("svg.picture", _frame(label, 160, 160), arcs)


def spark(values: Sequence[float], tokens: Mapping[str, str]) -> Node:
    """A small line without a frame."""
    top, step = max(*values, 1), 96 / (len(values) - 1)
    points = " ".join(f"{_n(2 + step * k)},{_n(26 - 22 * v / top)}" for k, v in enumerate(values))
    stroke = {"points": points, "fill": "none", "stroke": tokens["c1"], "stroke-width": "2"}
    attrs: dict[str, str | None] = {"width": "100", "height": "28", "viewBox": "0 0 100 28", "aria-hidden": "true"}
    return el("svg.icon", attrs, el("polyline", stroke))
