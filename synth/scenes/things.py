"""Things on a plain ground: coloured forms, each in a box of whole pixels that it fills, none touching another.

A scene is a `Drawing` of some `Thing`s. `laid_out` puts them into the cells of a grid, in the order of reading, at
random places and sizes within. Forms: circle, ring (a circle with a hole), square, triangle (tip up), diamond, star
(five points, tip up), cross (upright). A colour has two shades; what it is called does not depend on which.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Drawing

FORMS = ("circle", "ring", "square", "triangle", "diamond", "star", "cross")
SHADES = {
    "red": ("#d92626", "#c81e2b"),
    "orange": ("#f08c00", "#ee7f1a"),
    "yellow": ("#f2d21c", "#ffdf2e"),
    "green": ("#2f9e44", "#3aa655"),
    "blue": ("#1c6fd6", "#2456c4"),
    "purple": ("#8a2fbf", "#9440d0"),
    "brown": ("#7a4a24", "#84502c"),
    "black": ("#1a1a1a", "#262626"),
}
COLOURS = tuple(SHADES)
GROUNDS = ("#ffffff", "#f6f3ea", "#eef3f8", "#f1f6ee", "#f7eef1")
MIN_SIDE_PX, GAP_PX = 26, 5
RING_FRAC = 0.2
"""Width of a ring, of its diameter."""
CROSS_FRAC = 0.34
"""Width of a cross's arms, of its side."""
STAR_INNER = 0.42


@dataclass(frozen=True)
class Thing:
    """A form of `side` by `side` pixels whose box begins at (x, y)."""

    colour: str
    form: str
    x: int
    y: int
    side: int

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Its box, in pixels."""
        return float(self.x), float(self.y), float(self.x + self.side), float(self.y + self.side)


Kind = tuple[str, str]
"""Colour and form."""


def laid_out(kinds: Sequence[Kind | None], grid: tuple[int, int], size: tuple[int, int], draws: Draws) -> list[Thing]:
    """A thing for each cell of the grid (columns, rows) of a picture of that size, line by line; None: an empty one."""
    wide, high = size[0] // grid[0], size[1] // grid[1]
    things: list[Thing] = []
    for cell, kind in enumerate(kinds):
        if kind is not None:
            side = draws.integer(MIN_SIDE_PX, min(wide, high) - 2 * GAP_PX + 1)
            x = cell % grid[0] * wide + draws.integer(GAP_PX, wide - side - GAP_PX + 1)
            y = cell // grid[0] * high + draws.integer(GAP_PX, high - side - GAP_PX + 1)
            things.append(Thing(*kind, x, y, side))
    return things


def scene(things: Sequence[Thing], size: tuple[int, int], draws: Draws, one_shade: bool = False) -> Drawing:
    """The picture of things; `draws` gives ground and shades, where each colour has not always the same."""
    ground = draws.pick(GROUNDS)
    shades = {colour: (shade(colour),) if one_shade else SHADES[colour] for colour in COLOURS}
    lines = [element(thing, draws.pick(shades[thing.colour])) for thing in draws.shuffled(things)]
    return picture([f'<rect width="{size[0]}" height="{size[1]}" fill="{ground}"/>', *lines], size)


def picture(lines: Sequence[str], size: tuple[int, int]) -> Drawing:
    """A drawing of these elements."""
    width, height = size
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    return Drawing("\n".join((head, *(f"  {line}" for line in lines), "</svg>")), width, height)


def shade(colour: str) -> str:
    """The first shade of a colour."""
    return SHADES[colour][0]


def element(thing: Thing, fill: str) -> str:
    """A thing as an element of SVG."""
    x, y, side = thing.x, thing.y, thing.side
    if thing.form == "square":
        return f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill="{fill}"/>'
    if thing.form in ("circle", "ring"):
        line = side * RING_FRAC if thing.form == "ring" else 0.0
        paint = f'fill="none" stroke="{fill}" stroke-width="{line:g}"' if line else f'fill="{fill}"'
        return f'<circle cx="{x + side / 2:g}" cy="{y + side / 2:g}" r="{side / 2 - line / 2:g}" {paint}/>'
    points = " ".join(f"{x + side * u:.2f},{y + side * v:.2f}" for u, v in _OUTLINES[thing.form])
    return f'<polygon points="{points}" fill="{fill}"/>'


def _star() -> list[tuple[float, float]]:
    """Ten corners that fill the unit square."""
    corners = [(1.0 if n % 2 == 0 else STAR_INNER, n * pi / 5) for n in range(10)]
    raw = [(r * sin(turn), -r * cos(turn)) for r, turn in corners]
    left, top = min(x for x, _ in raw), min(y for _, y in raw)
    wide, high = max(x for x, _ in raw) - left, max(y for _, y in raw) - top
    return [((x - left) / wide, (y - top) / high) for x, y in raw]


def _cross() -> list[tuple[float, float]]:
    near, far = 0.5 - CROSS_FRAC / 2, 0.5 + CROSS_FRAC / 2
    half = [(near, 0.0), (far, 0.0), (far, near), (1.0, near), (1.0, far), (far, far)]
    return [*half, *((1 - x, 1 - y) for x, y in half)]


_OUTLINES = {
    "triangle": [(0.5, 0.0), (1.0, 1.0), (0.0, 1.0)],
    "diamond": [(0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)],
    "star": _star(),
    "cross": _cross(),
}
