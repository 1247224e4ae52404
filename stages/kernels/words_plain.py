"""The plain-Python twin of `words`: the same counts, one readable step after another. The kernel's test oracle."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, BREAK, LATIN, SOLO, SPACE, UPPER, WORD, char_flags
from gristmill.stages.kernels.stop_table import MAX_WORD_BYTES

APOSTROPHES = "'\u2019"


@dataclass(frozen=True)
class Token:
    """A token of `words`; the text of a run holds its marks, that of a symbol its repetitions."""

    kind: Literal["run", "solo", "symbol"]
    text: str


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
        elif flag & SOLO:
            found.append(Token("solo", text[at]))
            at += 1
        elif flag & (ALPHA | WORD) or _is_apostrophe_of_word(text, at):
            end = _end_of_run(text, at)
            found.append(Token("run", text[at:end]))
            at = end
        else:
            sequence, at = _repeated(text, at)
            found += [Token("symbol", sequence)] if text[at - 1] != "#" else [Token("symbol", "#")] * len(sequence)
    return found


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


def _repeated(text: str, at: int) -> tuple[str, int]:
    """The symbols equal to the one at `at`, with nothing but marks between, and the index behind the last."""
    first, end, sequence = text[at], at + 1, text[at]
    ahead = end
    while ahead < len(text) and (text[ahead] == first or flags_of(text[ahead]) & ATTACHED):
        if text[ahead] == first:
            sequence += first
            end = ahead + 1
        ahead += 1
    return sequence, end


def lines(text: str) -> list[str]:
    """The lines of a text without their ends and without white space around them."""
    found: list[str] = []
    line = ""
    text = text.replace("\r\n", "\n")
    for char in text:
        if flags_of(char) & BREAK:
            found.append(line)
            line = ""
        else:
            line += char
    if line:
        found.append(line)
    return [_stripped(line) for line in found]


def _stripped(line: str) -> str:
    inside = [i for i, char in enumerate(line) if not flags_of(char) & SPACE]
    return line[inside[0] : inside[-1] + 1] if inside else ""


def count_document(text: str, stop_words: Collection[str]) -> tuple[dict[str, int], set[str]]:
    """The counts of `words.COUNTS` by name, and the stop words (in lower case) that occur."""
    found = tokens(text)
    runs = [t.text for t in found if t.kind == "run"]
    symbols = [t.text for t in found if t.kind == "symbol"]
    letters = [c for c in text if flags_of(c) & ALPHA]
    ends = lines(text)
    counts = {
        "chars": len(text),
        "runs": len(runs),
        "run_chars": sum(len(run) for run in runs),
        "solos": sum(t.kind == "solo" for t in found),
        "symbols": len(symbols),
        "alpha_runs": sum(any(flags_of(c) & ALPHA for c in run) for run in runs),
        "hashes": symbols.count("#"),
        "ellipses": sum((s[0] == "." and len(s) >= 3) or s[0] == "\u2026" for s in symbols),
        "lines": len(ends),
        "bullet_lines": sum(line.startswith(("\u2022", "-")) for line in ends),
        "ellipsis_lines": sum(line.endswith(("...", "\u2026")) for line in ends),
        "letters": len(letters),
        "latin_letters": sum(1 for c in letters if flags_of(c) & LATIN),
    }
    return counts, {word for run in runs if (word := _lowered(run)) in stop_words}


def _lowered(run: str) -> str:
    # ASCII letters only: what the kernel can do on bytes.
    return "".join(c.lower() if c.isascii() else c for c in run) if len(run.encode()) <= MAX_WORD_BYTES else ""
