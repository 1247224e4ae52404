"""What pictures without axes begin with: a view, a hand, colours; and grounds to draw on."""

from collections.abc import Sequence
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.hand import sample_hand
from gristmill.render.svg.layout import sample_view
from gristmill.render.svg.nodes import Node, circle, fill, path, pen, polygon, rect
from gristmill.render.svg.palettes import sample_theme


def sample_scene(
    draws: Draws,
    sizes: Sequence[tuple[int, int]],
    title: str,
    dark: float = 0.25,
    units: tuple[float, ...] = (1, 1, 1, 0.5, 2),
) -> tuple[View, dict[str, Any]]:
    """A view of one of the sizes, and params that hold hand, theme and title."""
    return sample_view(draws, sizes), {
        "hand": sample_hand(draws, units),
        "theme": sample_theme(draws, dark),
        "title": title,
    }


def backdrop(view: View, colour: str) -> Node:
    """The whole view in one colour."""
    return rect(0, 0, view.width_px, view.height_px, fill(colour)).named("background")


def compass(x: float, y: float, r: float, ink: str, paper: str) -> list[Node]:
    """A small compass rose: ring and needle."""
    return [
        circle(x, y, r, {"fill": paper, "stroke": ink, "stroke-width": 1.5}).named("compass"),
        polygon([(x, y - r * 0.8), (x + r * 0.28, y), (x, y + r * 0.8), (x - r * 0.28, y)], fill(ink)).named(
            "compass needle"
        ),
    ]


def scale_bar(x: float, y: float, step: float, ink: str) -> Node:
    """A scale of three ticks on a line."""
    d = [
        ("M", x, y - 5),
        ("L", x, y),
        ("L", x + 2 * step, y),
        ("L", x + 2 * step, y - 5),
        ("M", x + step, y - 4),
        ("L", x + step, y),
    ]

    return path(d, pen(ink, 1.5)).named("scale bar")
