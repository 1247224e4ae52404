"""Series as lines: shared by the families of line and area charts."""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.render.svg.charts import Plot
from gristmill.render.svg.nodes import Node, Paint, circle, fill, outlined, path, polygon, rect
from gristmill.render.svg.palettes import Theme
from gristmill.render.svg.paths import Path, Point, open_path, regular, smooth, steps


def sample_series(draws: Draws, series: int, count: int) -> list[list[float]]:
    """Walks that start apart and stay above 0."""
    scale = draws.pick((10, 50, 100, 800))
    out: list[list[float]] = []
    for _ in range(series):
        level, drift = draws.real(0.3, 0.9), draws.real(-0.05, 0.08)
        row: list[float] = []
        for _ in range(count):
            level = min(max(level + drift + draws.real(-0.12, 0.12), 0.08), 1.4)
            row.append(round(level * scale, 1 if scale < 50 else 0))
        out.append(row)
    return out


def points_of(plot: Plot, values: Sequence[float]) -> list[Point]:
    """Where values stand, in the middle of their slots."""
    return [
        (start + width / 2, plot.y(value))
        for (start, width), value in zip(plot.slots(len(values)), values, strict=True)
    ]


def through(points: Sequence[Point], kind: str) -> Path:
    """A line through points: straight, smooth or steps."""
    if kind == "smooth":
        return smooth(points)
    return steps(points) if kind == "steps" else open_path(points)


def marker(kind: str, at: Point, r: float, colour: str, theme: Theme) -> Node:
    """A mark on a line."""
    solid: Paint = fill(colour)
    if kind == "ring":
        return circle(*at, r, outlined(theme.paper, colour, 2))
    if kind == "square":
        return rect(at[0] - r, at[1] - r, 2 * r, 2 * r, solid)
    if kind == "diamond":
        return polygon(regular(*at, r * 1.3, 4), solid)
    if kind == "triangle":
        return polygon(regular(*at, r * 1.3, 3), solid)
    if kind == "cross":
        x, y = at
        d = [("M", x - r, y - r), ("L", x + r, y + r), ("M", x - r, y + r), ("L", x + r, y - r)]
        return path(d, {"fill": "none", "stroke": colour, "stroke-width": 2.5})
    return circle(*at, r, solid)
