"""Path data, read and written shorter: relative where that is shorter, rounded, without letters that repeat."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"([MmLlHhVvCcSsQqTtAaZz])|([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_FLAG = re.compile(r"[\s,]*([01])")
_ARGS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_ARC_FLAGS = (3, 4)


@dataclass(frozen=True)
class Step:
    """One command with absolute numbers: `letter` is upper case."""

    letter: str
    args: tuple[float, ...]


def steps(data: str) -> Iterator[Step]:
    """The commands of valid path data, each with its own letter and absolute coordinates."""
    x = y = start_x = start_y = 0.0
    for letter, args in _raw(data):
        kind = letter.upper()
        whole = _absolute(kind, args, (x, y)) if letter != kind else args
        if kind == "Z":
            x, y = start_x, start_y
        else:
            x, y = _end(kind, whole, (x, y))
        if kind == "M":
            start_x, start_y = x, y
        yield Step(kind, tuple(whole))


def shorter(data: str, decimals: int) -> str:
    """The same path with numbers of so many decimals; what is rounded away does not add up along the path."""
    out: list[str] = []
    last, at, start = "", (0.0, 0.0), (0.0, 0.0)
    for step in steps(data):
        if step.letter == "Z":
            out.append("z")
            last, at = "z", start
            continue
        absolute = [_round(value, decimals) for value in step.args]
        moved = [_round(value, decimals) for value in _relative(step.letter, step.args, at)]
        for flag in _ARC_FLAGS if step.letter == "A" else ():
            absolute[flag] = moved[flag] = step.args[flag]
        one, other = _joined(absolute), _joined(moved)
        letter, words = (step.letter, one) if len(one) < len(other) or not out else (step.letter.lower(), other)
        values = absolute if letter == step.letter else _absolute(step.letter, moved, at)
        out.append(_tied(last, letter, words))
        at = _end(step.letter, values, at)
        last = {"M": "L", "m": "l"}.get(letter, letter)
        if step.letter == "M":
            start = at
    return "".join(out)


def _raw(data: str) -> Iterator[tuple[str, list[float]]]:
    """Letters as written, an implicit one spelled out, with their numbers."""
    place, letter = 0, ""
    while found := _TOKEN.search(data, place):
        if found.group(1):
            letter, place = found.group(1), found.end()
        count = _ARGS.get(letter.upper(), 0)
        args: list[float] = []
        for index in range(count):
            pattern = _FLAG if letter in "Aa" and index in _ARC_FLAGS else _TOKEN
            number = pattern.match(data, place) if pattern is _FLAG else pattern.search(data, place)
            if number is None:
                return
            args.append(float(number.group(1) if pattern is _FLAG else number.group(2)))
            place = number.end()
        yield letter, args
        letter = {"M": "L", "m": "l"}.get(letter, letter)


def _absolute(kind: str, args: list[float], at: tuple[float, float]) -> list[float]:
    return _shifted(kind, args, at, 1)


def _relative(kind: str, args: tuple[float, ...], at: tuple[float, float]) -> list[float]:
    return _shifted(kind, list(args), at, -1)


def _shifted(kind: str, args: list[float], at: tuple[float, float], sign: int) -> list[float]:
    if kind == "A":
        return [*args[:5], args[5] + sign * at[0], args[6] + sign * at[1]]
    if kind in "HV":
        return [args[0] + sign * at[kind == "V"]]
    return [value + sign * at[index % 2] for index, value in enumerate(args)]


def _end(kind: str, args: list[float], at: tuple[float, float]) -> tuple[float, float]:
    if kind == "H":
        return args[0], at[1]
    if kind == "V":
        return at[0], args[0]
    return args[-2], args[-1]


def _round(value: float, decimals: int) -> float:
    return round(value, decimals) + 0.0


def number(value: float) -> str:
    """A number as short as it can be written."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    text = "0" if text in ("", "-0") else text
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _joined(values: list[float]) -> str:
    out = ""
    for value in values:
        word = number(value)
        out += word if not out or word.startswith("-") else f" {word}"
    return out


def _tied(last: str, letter: str, words: str) -> str:
    if letter != last:
        return letter + words
    return words if words.startswith("-") else f" {words}"
