"""Values of attributes as a person writes them: numbers, colours, paths, transforms."""

import math
from collections.abc import Sequence
from typing import Any

from gristmill.render.svg.hand import Hand
from gristmill.render.svg.paths import Path

# Numbers that do not grow with the drawing's unit.
_PURE = frozenset({"opacity", "fill-opacity", "stroke-opacity", "stop-opacity", "offset", "font-weight"})
_COLOURS = frozenset({"fill", "stroke", "stop-color"})
_RELATIVE_LETTERS = {letter: letter.lower() for letter in "MLCQSTAZ"}


def number(value: float, decimals: int) -> str:
    """A number without needless digits: 0.5, -3, 12.25. Raises ValueError for one that is not finite."""
    rounded = round(float(value), decimals)
    if not math.isfinite(rounded):
        raise ValueError(f"not a number to draw with: {value}")
    shown = f"{rounded:.{decimals}f}"
    if "." in shown:
        shown = shown.rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def length(value: float, hand: Hand) -> str:
    """A length in pixels, in the hand's unit; small ones keep a digit more."""
    scaled = value * hand.unit
    decimals = hand.decimals
    if 0 < abs(scaled) < 2:
        decimals = max(decimals, 2)
    elif 0 < abs(scaled) < 20:
        decimals = max(decimals, 1)
    return number(scaled, decimals)


def attribute(name: str, value: Any, hand: Hand) -> str:
    """The text of an attribute's value."""
    if isinstance(value, str):
        return colour(value, hand) if name in _COLOURS else value
    if isinstance(value, int | float):
        return number(value, 3) if name in _PURE else length(value, hand)
    if name == "d":
        return path_data(value, hand)
    if name == "points":
        glue = "," if hand.separator != " " else " "
        return " ".join(f"{place(x, hand)}{glue}{place(y, hand)}" for x, y in value)
    if name == "transform":
        return " ".join(_step(step, hand) for step in value)
    return (" " if hand.separator == " " or name == "viewBox" else ",").join(length(item, hand) for item in value)


def place(value: float, hand: Hand) -> str:
    """A coordinate of a path or polygon, in the hand's unit and decimals."""
    return number(value * hand.unit, hand.decimals)


def colour(value: str, hand: Hand) -> str:
    """A colour #rrggbb in the hand's notation; names and url(#...) stay."""
    if not value.startswith("#") or len(value) != 7:
        return value
    if hand.colours == "rgb":
        return "rgb({}, {}, {})".format(*(int(value[at : at + 2], 16) for at in (1, 3, 5)))
    if hand.colours == "upper":
        return value.upper()
    if hand.colours == "short" and all(value[at] == value[at + 1] for at in (1, 3, 5)):
        return f"#{value[1]}{value[3]}{value[5]}"
    return value


def _step(step: Sequence[Any], hand: Hand) -> str:
    kind, *numbers = step
    glue = ", " if hand.separator == "," else " "
    if kind == "translate":
        shown = [place(value, hand) for value in numbers]
    elif kind == "rotate":
        shown = [number(numbers[0], 2), *(place(value, hand) for value in numbers[1:])]
    elif kind == "matrix":
        shown = [number(value, 4) for value in numbers[:4]] + [place(value, hand) for value in numbers[4:]]
    else:
        shown = [number(value, 3) for value in numbers]
    return f"{kind}({glue.join(shown)})"


def path_data(path: Path, hand: Hand) -> str:
    """Path data. Points are rounded before differences are taken, so relative writing does not drift."""
    decimals = hand.decimals
    at = start = (0.0, 0.0)
    out: list[str] = []
    last = ""
    for letter, *numbers in path:
        points = _rounded(letter, numbers, hand)
        end = (points[-2], points[-1]) if points else start
        if letter == "M":
            start = end
        shown_letter, shown = _segment(letter, points, at, hand)
        words = [number(value, decimals if odd < 99 else 0) for odd, value in enumerate(shown)]
        out.append(_join(shown_letter, words, last, hand))
        last, at = shown_letter, end
    return (" " if hand.separator != "tight" else "").join(out)


def _rounded(letter: str, numbers: Sequence[Any], hand: Hand) -> list[float]:
    if letter == "A":
        rx, ry, turn, large, sweep, x, y = numbers
        sizes = [round(value * hand.unit, max(hand.decimals, 1)) for value in (rx, ry)]
        ends = [round(value * hand.unit, hand.decimals) for value in (x, y)]
        return [*sizes, turn, large, sweep, *ends]
    return [round(value * hand.unit, hand.decimals) for value in numbers]


def _segment(letter: str, points: list[float], at: tuple[float, float], hand: Hand) -> tuple[str, list[float]]:
    x, y = (at[0], at[1]) if hand.relative else (0.0, 0.0)
    name = _RELATIVE_LETTERS[letter] if hand.relative else letter
    if letter == "A":
        return name, [*points[:5], points[5] - x, points[6] - y]
    if letter == "L" and hand.shortcuts and points[1] == at[1] and points[0] != at[0]:
        return "h" if hand.relative else "H", [points[0] - x]
    if letter == "L" and hand.shortcuts and points[0] == at[0] and points[1] != at[1]:
        return "v" if hand.relative else "V", [points[1] - y]
    return name, [value - (y if odd % 2 else x) for odd, value in enumerate(points)]


def _join(letter: str, words: list[str], last: str, hand: Hand) -> str:
    if not words:
        return letter
    if hand.separator == ",":
        pairs = [",".join(words[at : at + 2]) for at in range(0, len(words), 2)] if len(words) % 2 == 0 else words
        return letter + " ".join(pairs)
    glue = " ".join(words)
    return letter + glue if hand.separator == "tight" else f"{letter} {glue}"
