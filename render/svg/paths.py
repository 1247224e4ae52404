"""Path data as lists of absolute segments, and the shapes that people draw with them.

A segment is a tuple: ("M", x, y), ("L", x, y), ("C", x1, y1, x2, y2, x, y), ("Q", x1, y1, x, y), ("S", x2, y2, x, y),
("T", x, y), ("A", rx, ry, turn, large, sweep, x, y) or ("Z",). Trigonometry is rounded to 1e-4, so that machines agree.
"""

import itertools
import math
import re
from collections.abc import Sequence
from typing import Any

Point = tuple[float, float]
Path = list[tuple[Any, ...]]

_TOKEN = re.compile(r"[A-Za-z]|-?\d*\.?\d+")
ARITY = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


def polar(x: float, y: float, r: float, degrees: float) -> Point:
    """The point at a distance, clockwise from the right."""
    turn = math.radians(degrees)
    return round(x + r * math.cos(turn), 4), round(y + r * math.sin(turn), 4)


def parse(data: str) -> Path:
    """Absolute segments of path data that a person wrote; arcs' flags must stand apart."""
    tokens = _TOKEN.findall(data)
    path: Path = []
    at: Point = (0.0, 0.0)
    start: Point = (0.0, 0.0)
    place, letter = 0, ""
    while place < len(tokens):
        if tokens[place].isalpha():
            letter = tokens[place]
            place += 1
        count = ARITY[letter.upper()]
        numbers = [float(token) for token in tokens[place : place + count]]
        place += count
        segment, at = _absolute(letter, numbers, at)
        if segment[0] == "M":
            start = at
            letter = "L" if letter == "M" else "l"
        if segment[0] == "Z":
            at = start
        path.append(segment)
    return path


def _absolute(letter: str, numbers: list[float], at: Point) -> tuple[tuple[Any, ...], Point]:
    upper, relative = letter.upper(), letter.islower()
    dx, dy = at if relative else (0.0, 0.0)
    if upper == "Z":
        return ("Z",), at
    if upper == "H":
        return ("L", numbers[0] + dx, at[1]), (numbers[0] + dx, at[1])
    if upper == "V":
        return ("L", at[0], numbers[0] + dy), (at[0], numbers[0] + dy)
    if upper == "A":
        end = (numbers[5] + dx, numbers[6] + dy)
        return ("A", *numbers[:3], int(numbers[3]), int(numbers[4]), *end), end
    moved = [number + (dy if odd % 2 else dx) for odd, number in enumerate(numbers)]
    return (upper, *moved), (moved[-2], moved[-1])


def placed(path: Path, scale: float, dx: float, dy: float) -> Path:
    """A path made larger and moved."""
    out: Path = []
    for letter, *numbers in path:
        if letter == "A":
            rx, ry, turn, large, sweep, x, y = numbers
            out.append(("A", rx * scale, ry * scale, turn, large, sweep, x * scale + dx, y * scale + dy))
        else:
            out.append((letter, *(n * scale + (dy if odd % 2 else dx) for odd, n in enumerate(numbers))))
    return out


def open_path(points: Sequence[Point]) -> Path:
    """Straight lines through points."""
    return [("M" if place == 0 else "L", *point) for place, point in enumerate(points)]


def closed(points: Sequence[Point]) -> Path:
    """A closed polygon."""
    return [*open_path(points), ("Z",)]


def smooth(points: Sequence[Point], tension: float = 0.5) -> Path:
    """A curve through points, flat where they turn (Catmull-Rom as cubics)."""
    path: Path = [("M", *points[0])]
    for place in range(len(points) - 1):
        before = points[max(place - 1, 0)]
        here, there = points[place], points[place + 1]
        after = points[min(place + 2, len(points) - 1)]
        pull = tension / 3
        one = (here[0] + (there[0] - before[0]) * pull, here[1] + (there[1] - before[1]) * pull)
        two = (there[0] - (after[0] - here[0]) * pull, there[1] - (after[1] - here[1]) * pull)
        path.append(("C", *one, *two, *there))
    return path


def loop(points: Sequence[Point], tension: float = 1.0) -> Path:
    """A closed smooth curve through points."""
    count = len(points)
    path: Path = [("M", *points[0])]
    for place in range(count):
        before, here = points[place - 1], points[place]
        there, after = points[(place + 1) % count], points[(place + 2) % count]
        pull = tension / 6
        one = (here[0] + (there[0] - before[0]) * pull, here[1] + (there[1] - before[1]) * pull)
        two = (there[0] - (after[0] - here[0]) * pull, there[1] - (after[1] - here[1]) * pull)
        path.append(("C", *one, *two, *there))
    return [*path, ("Z",)]


def steps(points: Sequence[Point]) -> Path:
    """Stairs through points: across, then up or down."""
    path: Path = [("M", *points[0])]
    for before, here in itertools.pairwise(points):
        path += [("L", here[0], before[1]), ("L", *here)]
    return path


def regular(x: float, y: float, r: float, count: int, turn: float = -90) -> list[Point]:
    """Corners of a regular polygon."""
    return [polar(x, y, r, turn + 360 * place / count) for place in range(count)]


def star(centre: Point, outer: float, inner: float, count: int, turn: float = -90) -> list[Point]:
    """Corners of a star with `count` points."""
    step = 180 / count
    return [polar(*centre, inner if place % 2 else outer, turn + step * place) for place in range(2 * count)]


def slice_of(centre: Point, outer: float, inner: float, start: float, end: float) -> Path:
    """A slice of a pie, or of a ring where `inner` is not 0; angles in degrees, less than a whole turn."""
    large = int(end - start > 180)
    path: Path = [("M", *polar(*centre, outer, start)), ("A", outer, outer, 0, large, 1, *polar(*centre, outer, end))]
    if inner:
        path += [("L", *polar(*centre, inner, end)), ("A", inner, inner, 0, large, 0, *polar(*centre, inner, start))]
    else:
        path.append(("L", *centre))
    return [*path, ("Z",)]


def arc(centre: Point, r: float, start: float, end: float) -> Path:
    """An open arc, clockwise from `start` to `end`."""
    large = int(end - start > 180)
    return [("M", *polar(*centre, r, start)), ("A", r, r, 0, large, 1, *polar(*centre, r, end))]


def round_top(x: float, y: float, w: float, h: float, r: float) -> Path:
    """A bar with round upper corners."""
    r = min(r, w / 2, h)
    return [
        ("M", x, y + h),
        ("L", x, y + r),
        ("Q", x, y, x + r, y),
        ("L", x + w - r, y),
        ("Q", x + w, y, x + w, y + r),
        ("L", x + w, y + h),
        ("Z",),
    ]


def arrow_head(tip: Point, tail: Point, length: float) -> list[Point]:
    """Corners of an arrow head at `tip` of a line from `tail`."""
    degrees = math.degrees(math.atan2(tip[1] - tail[1], tip[0] - tail[0]))
    return [tip, polar(*tip, length, degrees + 155), polar(*tip, length, degrees - 155)]
