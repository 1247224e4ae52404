"""The plain-Python twin of `windows_units` and `windows_sections`: units of a text, and what of it is repeated."""

from dataclasses import dataclass

from gristmill.stages.kernels.char_table import SPACE
from gristmill.stages.kernels.words_plain import Token, flags_of, parts_of

MEDIUM = "\ufffc"


@dataclass(frozen=True)
class Unit:
    """Characters [start, stop) of the text; `tokens` are what it is made of; `part` counts the media before it."""

    start: int
    stop: int
    tokens: tuple[str, ...]
    part: int


def units(text: str) -> list[Unit]:
    """The units of a text in order."""
    found: list[Unit] = []
    held: list[Token] = []
    for token in parts_of(text):
        has_word = any(t.kind != "symbol" for t in held)
        apart = bool(held) and token.start > _end(held[-1])
        if has_word and (token.kind != "symbol" or apart):
            found.append(_unit(text, held))
            held = []
        elif held and MEDIUM in text[_end(held[-1]) : token.start]:
            held = []
        held.append(token)
    return [*found, _unit(text, held)] if any(t.kind != "symbol" for t in held) else found


def _end(token: Token) -> int:
    return token.start + len(token.text)


def _unit(text: str, tokens: list[Token]) -> Unit:
    start = tokens[0].start
    return Unit(start, _end(tokens[-1]), tuple(t.text for t in tokens), text.count(MEDIUM, 0, start))


def repeated_spans(text: str, length: int) -> list[tuple[int, int]]:
    """Spans of characters that stand in a repeated window of `length` units, with the white space behind, in order."""
    words = units(text)
    first: dict[tuple[object, ...], int] = {}
    gone: set[int] = set()
    for at in range(len(words) - length + 1):
        window = words[at : at + length]
        start, stop = window[0].start, window[-1].stop
        if window[0].part != window[-1].part:
            continue
        solid = "".join(char for char in text[start:stop] if not flags_of(char) & SPACE)
        begin = first.setdefault((solid, *(unit.tokens for unit in window)), at)
        if words[begin + length - 1].stop <= start:
            while stop < len(text) and flags_of(text[stop]) & SPACE and text[stop] != MEDIUM:
                stop += 1
            gone.update(range(start, stop))
    return _spans(sorted(gone))


def _spans(places: list[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for place in places:
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return spans
