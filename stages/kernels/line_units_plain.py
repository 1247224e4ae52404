"""The plain-Python twin of `line_units`: its test oracle. Texts are str, ranges are characters."""

from collections.abc import Iterator

from gristmill.stages.kernels import lines_plain
from gristmill.stages.kernels.line_units import LINES, PARAGRAPHS, UnitRules

_MEDIUM = "\ufffc"
Range = tuple[int, int]


def text_units(text: str, rules: UnitRules) -> list[Range]:
    """The units of one text."""
    lines = list(_marked_lines(text, rules))
    if rules.unit == LINES:
        return [
            (at, at + len(whole))
            for at, raw, whole, code in lines
            if not code and _is_unit(raw, rules) and not (rules.keep_blocks and _is_table_row(raw))
        ]
    return _paragraphs(text, lines, rules) if rules.unit == PARAGRAPHS else _spans(text, lines, rules)


_Line = tuple[int, str, str, bool]
"""Where it begins, without its end, with it, whether it is code or a fence."""


def _marked_lines(text: str, rules: UnitRules) -> Iterator[_Line]:
    at, fence = 0, 0
    for raw, whole in lines_plain.raw_lines(text):
        before = fence
        fence = lines_plain.fence_after(lines_plain.stripped(raw), fence) if rules.keep_blocks else 0
        yield at, raw, whole, bool(before or fence)
        at += len(whole)


def _is_unit(part: str, rules: UnitRules) -> bool:
    shown = lines_plain.stripped(part)
    enough = len(shown) >= rules.min_chars and lines_plain.count_words(shown) >= rules.min_words
    return bool(shown) and enough and _MEDIUM not in part


def _is_table_row(raw: str) -> bool:
    shown = lines_plain.stripped(raw)
    return len(shown) > 1 and raw.lstrip("".join(map(chr, range(0x21)))).startswith("|") and shown.endswith("|")


def _is_blank(raw: str) -> bool:
    return not lines_plain.stripped(raw) and _MEDIUM not in raw


def _paragraphs(text: str, lines: list[_Line], rules: UnitRules) -> list[Range]:
    found: list[Range] = []
    open_: list[_Line] = []
    gap = False

    def close(stop: int) -> None:
        if open_:
            last = open_[-1]
            if _is_unit(text[open_[0][0] : last[0] + len(last[1])], rules):
                found.append((open_[0][0], stop))
            open_.clear()

    for line in lines:
        at, raw, _, code = line
        blank = _is_blank(raw)
        if code or (gap and not blank):
            close(at)
        if not blank and not code:
            open_.append(line)
        gap = blank
    close(len(text))
    return found


def _spans(text: str, lines: list[_Line], rules: UnitRules) -> list[Range]:
    found: list[Range] = []
    open_: list[tuple[int, bool]] = []
    for at, raw, whole, code in lines:
        if code or _MEDIUM in raw:
            open_.clear()
            continue
        start = at
        for piece in lines_plain.sentences(raw) if not _is_blank(raw) else []:
            open_.append((start, start == at))
            start += len(piece)
            if len(open_) >= rules.span:
                first, heads = open_[-rules.span]
                if _is_unit(text[first:start], rules):
                    found.append((first, at + len(whole) if heads and start == at + len(raw) else start))
    return found
