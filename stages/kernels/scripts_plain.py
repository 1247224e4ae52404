"""The plain-Python twin of `scripts`: the kernel's test oracle."""

from collections.abc import Collection

from gristmill.stages.kernels.scripts import LETTER, MARK, SCRIPTS, script_table
from gristmill.stages.kernels.stop_table import MAX_WORD_BYTES


def scan_document(text: str, max_chars: int, stop_words: Collection[str]) -> tuple[dict[str, int], set[str]]:
    """Letters by script in the first `max_chars` characters, and the stop words (in lower case) there."""
    head = text[:max_chars]
    kinds = [int(script_table()[ord(char)]) for char in head]
    counts = dict.fromkeys(SCRIPTS, 0)
    words: list[str] = []
    word = ""
    for char, kind in zip(head, kinds, strict=True):
        if kind & LETTER:
            counts[SCRIPTS[kind & ~LETTER]] += 1
        if kind & LETTER or (word and kind & MARK):
            word += char
        elif word:
            words.append(word)
            word = ""
    if word and len(text) <= max_chars:
        words.append(word)
    return counts, {lowered for word in words if (lowered := _lowered(word)) in stop_words}


def _lowered(word: str) -> str:
    # ASCII letters only: what the kernel can do on bytes.
    return "".join(c.lower() if c.isascii() else c for c in word) if len(word.encode()) <= MAX_WORD_BYTES else ""
