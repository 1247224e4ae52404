"""The plain-Python twin of `lines_c4`: its test oracle, and C4's rules for another profile of words.

Such a profile supplies a `Dialect`; FAST is what the kernel has. For datatrove's decisions, with its faults:
`lines=str.splitlines` (each piece given twice), `words=lambda line: len(line.split())`, `sentences` the number of
spans of its tokenizer, `ends_well=lambda line: line.endswith(END_PUNCTUATION) and not line.endswith("...")`,
`fold=str.lower`, its own pattern of citations and `trims=False`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gristmill.stages.kernels import lines_plain
from gristmill.stages.kernels.lines_c4 import (
    CITATIONS,
    COUNTS,
    CURLY,
    JAVASCRIPT,
    LOREM,
    POLICY,
    POLICY_PHRASES,
    C4Limits,
)
from gristmill.stages.kernels.lines_chars import QUOTE, TERMINAL

_CITATION = re.compile(r"\[[0-9]*\]|\[edit\]|\[citation needed\]")
_MEDIUM = "\ufffc"


def _ends_well(line: str) -> bool:
    last = lines_plain.last_char(line)
    return bool(lines_plain.ends_of(last) & (TERMINAL | QUOTE)) and not (
        last == "." and line[: line.rindex(last) + 1].endswith("...")
    )


def _folded(line: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in line)


@dataclass(frozen=True)
class Dialect:
    """What C4's rules ask of a text: its lines (each without and with its end), the words and sentences of a line,
    whether it ends as it should, its letters in one case; `trims`: white space that a citation leaves behind goes."""

    lines: Callable[[str], Sequence[tuple[str, str]]] = lines_plain.raw_lines
    words: Callable[[str], int] = lines_plain.count_chunks
    sentences: Callable[[str], int] = lambda line: len(lines_plain.sentences(line))
    ends_well: Callable[[str], bool] = _ends_well
    fold: Callable[[str], str] = _folded
    citation: re.Pattern[str] = _CITATION
    trims: bool = True
    by_sentence: Callable[[str], Sequence[str]] = lines_plain.sentences


FAST = Dialect()


def clean_plain(text: str, limits: C4Limits, dialect: Dialect = FAST) -> tuple[str, dict[str, int]]:
    """The text of lines that stay ("" when it goes for a phrase), and the counts of `lines_c4.COUNTS` by name."""
    counts = dict.fromkeys(COUNTS, 0)
    kept: list[str] = []
    pieces = [(p, p) for p in dialect.by_sentence(text)] if limits.by_sentence else dialect.lines(text)
    fence = 0
    for raw, whole in pieces:
        before = fence
        if limits.keep_code and not limits.by_sentence:
            fence = lines_plain.fence_after(lines_plain.stripped(raw), fence)
        if before or fence:
            counts["kept_lines"] += 1
            kept.append(raw)
            continue
        if _MEDIUM in raw:
            line, reason = raw, ""
        else:
            line, reason = _judged(raw, limits, dialect)
        if reason in ("lorem", "curly"):
            return "", counts | {"dropped_for": LOREM if reason == "lorem" else CURLY}
        if reason:
            counts[reason] = counts.get(reason, 0) + len(whole)
            continue
        if _MEDIUM not in raw:
            counts["citation"] += len(lines_plain.stripped(raw)) - len(line)
        counts["kept_lines"] += 1
        counts["long_lines"] += len(line) >= limits.min_paragraph_chars
        counts["sentences"] += 1 if limits.by_sentence else dialect.sentences(line)
        kept.append(line)
    counts.pop("blank", None)
    return (" " if limits.by_sentence else "\n").join(kept).strip("\n"), counts


def _judged(raw: str, limits: C4Limits, dialect: Dialect) -> tuple[str, str]:
    """A line as it stays and "", or the reason that it goes for."""
    original = lines_plain.stripped(raw)
    if not original and (limits.terminal or limits.min_line_words > 0):
        return "", "blank"
    if limits.max_word_chars >= 0 and lines_plain.longest_chunk(original) > limits.max_word_chars:
        return "", "too_long_word"
    line = original
    if limits.on & CITATIONS:
        line = dialect.citation.sub("", original)
        line = lines_plain.stripped(line) if dialect.trims and "[" in original else line
    if limits.terminal and not dialect.ends_well(line):
        return "", "no_terminal_punc"
    if dialect.words(original) < limits.min_line_words:
        return "", "too_few_words"
    return line, _phrase(dialect.fold(original), limits.on)


def _phrase(folded: str, on: int) -> str:
    if on & LOREM and "lorem ipsum" in folded:
        return "lorem"
    if on & JAVASCRIPT and "javascript" in folded:
        return "javascript"
    if on & CURLY and "{" in folded:
        return "curly"
    return "policy" if on & POLICY and any(phrase in folded for phrase in POLICY_PHRASES) else ""
