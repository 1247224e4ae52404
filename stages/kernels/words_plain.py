"""The plain-Python twin of `words`: the same counts, one readable step after another. The kernel's test oracle."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, BREAK, LATIN, SOLO, SPACE, UPPER, WORD, char_flags
from gristmill.stages.kernels.segments import HYPHENS, MAX_SINGLE_SYMBOLS, SEPARATORS
from gristmill.stages.kernels.stop_table import MAX_WORD_BYTES

APOSTROPHES = "'\u2019"


@dataclass(frozen=True)
class Token:
    """A token of `words`: a run with its marks, a solo, a symbol with its repetitions and the marks on all of them."""

    kind: Literal["run", "solo", "symbol"]
    text: str
    start: int
    """Index of its first character."""


def flags_of(char: str) -> int:
    """Class flags of a character; 0 past the end of a text."""
    return int(char_flags()[ord(char)]) if char else 0


def tokens(text: str) -> list[Token]:
    """The document's tokens in order."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        flag = flags_of(text[at])
        if flag & (SPACE | ATTACHED):
            at += 1
        elif not flag & SOLO and (flag & (ALPHA | WORD) or _is_apostrophe_of_word(text, at)):
            end = _end_of_run(text, at)
            found.append(Token("run", text[at:end], at))
            at = end
        else:
            end = _end_of_symbol(text, at, repeats=not flag & SOLO and text[at] != "#")
            found.append(Token("solo" if flag & SOLO else "symbol", text[at:end], at))
            at = end
    return found


def parts_of(text: str) -> list[Token]:
    """The tokens of which compounds are made: underscores alone are a symbol."""
    return [token if token.text.strip("_") else replace(token, kind="symbol") for token in tokens(text)]


def _end_of_run(text: str, at: int) -> int:
    before = 0
    if text[at] in APOSTROPHES:
        at += 1
    while at < len(text):
        flag = flags_of(text[at])
        if flag & (ALPHA | WORD) and not flag & SOLO:
            before = flag
        elif not flag & ATTACHED and not _joins(text[at], before, flags_of(text[at + 1 : at + 2])):
            return at
        elif not flag & ATTACHED:
            before = flag
        at += 1
    return at


def _joins(char: str, before: int, after: int) -> bool:
    if after & SOLO or not after & (ALPHA | WORD):
        return False
    letter_before, letter_after = before & ALPHA, after & ALPHA
    if char == ".":
        sentence_ends = letter_before and not before & UPPER and after & UPPER
        return not sentence_ends
    if char == ",":
        return not letter_before and not letter_after
    return False


def _is_apostrophe_of_word(text: str, at: int) -> bool:
    if text[at] not in APOSTROPHES or not flags_of(text[at + 1 : at + 2]) & ALPHA:
        return False
    if flags_of(text[at + 1]) & SOLO:
        return False
    before = text[:at].rstrip("".join(c for c in set(text[:at]) if flags_of(c) & ATTACHED))[-1:]
    return bool(flags_of(before) & ALPHA) and not flags_of(before) & SOLO


def _end_of_symbol(text: str, at: int, repeats: bool) -> int:
    """Behind the marks on the character at `at` and, if it `repeats`, behind all that are equal to it, with theirs."""
    end = at + 1
    while end < len(text) and (flags_of(text[end]) & ATTACHED or (repeats and text[end] == text[at])):
        end += 1
    return end


def chunks(found: list[Token]) -> list[list[Token]]:
    """The tokens by chunk: solos are chunks of their own, and white space is between any two others."""
    parts: list[list[Token]] = []
    for token in found:
        before = parts[-1][-1] if parts else None
        apart = before is None or "solo" in (before.kind, token.kind)
        if apart or (before and token.start > before.start + len(before.text)):
            parts.append([])
        parts[-1].append(token)
    return parts


def parts(chunk: list[Token], i: int) -> bool:
    """Whether the symbol at `i` of a chunk parts the runs beside it, if it stands between two."""
    if not 0 < i < len(chunk) - 1 or [t.kind for t in chunk[i - 1 : i + 2]] != ["run", "symbol", "run"]:
        return False
    char, repeats = chunk[i].text[0], len(without_marks(chunk[i].text))
    if _address_at(chunk) < i or char not in SEPARATORS:
        return False
    if repeats > 1:
        return char == "." or (char == "-" and repeats <= MAX_SINGLE_SYMBOLS and _between(chunk, i))
    return _between(chunk, i)


def _between(chunk: list[Token], i: int) -> bool:
    before, after = (_is_letter(char) for char in (chunk[i - 1].text[-1], chunk[i + 1].text[0]))
    if chunk[i].text[0] == ",":
        return before and after
    return after or (chunk[i].text[0] in HYPHENS and not before)


def _is_letter(char: str) -> bool:
    return not char.isascii() or bool(flags_of(char) & ALPHA)


def _address_at(chunk: list[Token]) -> int:
    """Where the address in a chunk begins, else its length."""
    runs = [i for i, token in enumerate(chunk) if token.kind == "run"]
    if len(runs) > 1 and runs[1] == runs[0] + 3 and without_marks(chunk[runs[0] + 2].text) == "//":
        return runs[1]
    return len(chunk)


def without_marks(text: str) -> str:
    """A symbol's repetitions without the marks on them."""
    return "".join(char for char in text if not flags_of(char) & ATTACHED)


def compounds(found: list[Token]) -> list[str]:
    """The words that are made of runs."""
    words: list[str] = []
    for chunk in chunks(found):
        runs = [i for i, token in enumerate(chunk) if token.kind == "run"]
        for before, i in zip([None, *runs], runs, strict=False):
            if before is None or i == before + 1 or (i == before + 2 and parts(chunk, before + 1)):
                words.append(chunk[i].text)
            else:
                words[-1] += "".join(token.text for token in chunk[before + 1 : i + 1])
    return words


def raw_lines(text: str) -> list[tuple[str, str]]:
    """The lines of a text, each with its end."""
    found: list[tuple[str, str]] = []
    first, at = 0, 0
    while at < len(text):
        at += 1
        if flags_of(text[at - 1]) & BREAK:
            end = at - 1
            at += text[end : at + 1] == "\r\n"
            found.append((text[first:end], text[end:at]))
            first = at
    return [*found, (text[first:], "")] if first < len(text) else found


def lines(text: str) -> list[str]:
    """The lines of a text without their ends and without white space around them."""
    return [stripped(line) for line, _ in raw_lines(text)]


def stripped(line: str) -> str:
    """A line without white space around it."""
    inside = [i for i, char in enumerate(line) if not flags_of(char) & SPACE]
    return line[inside[0] : inside[-1] + 1] if inside else ""


def count_document(text: str, stop_words: Collection[str]) -> tuple[dict[str, int], set[str]]:
    """The counts of `words.COUNTS` by name, and the stop words (in lower case) that occur."""
    found = parts_of(text)
    runs = [t.text for t in found if t.kind == "run"]
    words = compounds(found)
    symbols = [without_marks(t.text) for t in found if t.kind == "symbol"]
    letters = [c for c in text if flags_of(c) & ALPHA]
    ends = lines(text)
    counts = {
        "chars": len(text),
        "runs": len(runs),
        "compounds": len(words),
        "compound_chars": sum(len(word) for word in words),
        "alpha_compounds": sum(any(flags_of(c) & ALPHA for c in word) for word in words),
        "solos": sum(t.kind == "solo" for t in found),
        "symbols": len(symbols),
        "hashes": symbols.count("#"),
        "ellipses": sum((s[0] == "." and len(s) >= 3) or s[0] == "\u2026" for s in symbols),
        "lines": len(ends),
        "bullet_lines": sum(line.startswith(("\u2022", "-")) for line in ends),
        "ellipsis_lines": sum(line.endswith(("...", "\u2026")) for line in ends),
        "letters": len(letters),
        "latin_letters": sum(1 for c in letters if flags_of(c) & LATIN),
    }
    lowered = {_lowered(token.text) for token in found if token.kind != "symbol"}
    return counts, lowered & set(stop_words)


def _lowered(run: str) -> str:
    # ASCII letters only: what the kernel can do on bytes.
    return "".join(c.lower() if c.isascii() else c for c in run) if len(run.encode()) <= MAX_WORD_BYTES else ""
