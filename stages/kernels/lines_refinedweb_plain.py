"""The plain-Python twin of `lines_refinedweb`: its test oracle."""

import re
from collections.abc import Mapping, Sequence

from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, UPPER, WORD
from gristmill.stages.kernels.lines_plain import count_words, fence_after, is_space, last_char, raw_lines, stripped
from gristmill.stages.kernels.lines_refinedweb import COUNTS
from gristmill.stages.kernels.words_plain import flags_of

_NUMBER = re.compile(r"[0-9][0-9.,]*[kKmM]? +")
_MAX_COUNTER_BYTES = 64
_MEDIUM = "\ufffc"

Kinds = Mapping[str, Sequence[str]]
"""Phrases by `at_start`, `at_end`, `inside`, `counted`, in lower case."""


def correct_plain(text: str, kinds: Kinds, max_upper_frac: float, max_words: int) -> tuple[str, dict[str, int]]:
    """The corrected text, and the counts of `lines_refinedweb.COUNTS` by name."""
    counts = dict.fromkeys(COUNTS, 0)
    out: list[str] = []
    fence = 0
    for raw, whole in raw_lines(text):
        line = stripped(raw)
        words = count_words(line)
        counts["words"] += words
        before, fence = fence, fence_after(line, fence)
        if before or fence:
            out.append(whole)
            continue
        reason = _reason(line, kinds, max_upper_frac, words)
        if not words or _MEDIUM in raw:
            out.append(whole)
        elif reason:
            counts[reason] += len(whole)
            counts["cut_words"] += words
        elif words > max_words:
            out.append(whole)
        else:
            left = _edited(line, kinds)
            written = "" if left == "" else whole.replace(line, left, 1)
            counts["cut_words"] += words - count_words(left)
            counts["navigation"] += len(whole) - len(written)
            out.append(written)
    return "".join(out), counts


def _reason(line: str, kinds: Kinds, max_upper_frac: float, words: int) -> str:
    flags = [flags_of(char) for char in line]
    visible = [f for char, f in zip(line, flags, strict=True) if not is_space(char) and not f & ATTACHED]
    upper = sum(bool(f & UPPER) for f in flags)
    if upper * 1_000_000 > round(max_upper_frac * 1_000_000) * len(visible):
        return "uppercase"
    digits = [c for c, f in zip(line, flags, strict=True) if f & WORD and c != "_"]
    letters = any(f & ALPHA for f in flags)
    others = [c for c, f in zip(line, flags, strict=True) if not (f & (ALPHA | WORD | ATTACHED) or is_space(c))]
    if digits and not letters and all(c in ".,:/-" for c in others):
        return "numeric"
    number = _NUMBER.match(line)
    counted = number is not None and _cased(line[number.end() :], kinds["counted"])
    if counted and len(line.encode()) <= _MAX_COUNTER_BYTES:
        return "counter"
    return "one_word" if words == 1 else ""


def _folded(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def _cased(text: str, wanted: Sequence[str]) -> bool:
    """Whether a text is one of the phrases in a case that the automaton knows."""
    return any(_folded(text) in {_folded(f) for f in forms_of(phrase)} for phrase in wanted)


def forms_of(phrase: str) -> set[str]:
    """The cases in which a phrase is found."""
    lower = phrase.lower()
    return {lower} if lower.isascii() else {phrase, lower, lower[0].upper() + lower[1:], lower.title(), lower.upper()}


def _edited(line: str, kinds: Kinds) -> str:
    """The line without its first navigational phrase, "" where no letter is left."""
    folded = _folded(line)
    found = [
        (at, -len(phrase))
        for kind in ("at_start", "at_end", "inside")
        for phrase in kinds[kind]
        for at in range(len(line))
        if folded.startswith(phrase, at)
        and (kind != "at_start" or at == 0)
        and (kind != "at_end" or at + len(phrase) == len(line))
        and _parted(line, at)
        and _parted(line, at + len(phrase))
    ]
    if not found:
        return line
    at, size = min(found)
    before, after = line[:at], line[at - size :]
    if not any(flags_of(char) & ALPHA for char in before + after):
        return ""
    before, after = stripped(before), stripped(after)
    return f"{before} {after}" if before and after else before + after


def _parted(line: str, at: int) -> bool:
    if not 0 < at < len(line):
        return True
    inside = flags_of(last_char(line[:at])) & (ALPHA | WORD)
    return not (inside and flags_of(line[at]) & (ALPHA | WORD | ATTACHED))
