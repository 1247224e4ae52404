"""Letters by script, and stop words, in the first characters of documents, in one pass over Arrow's bytes.

A letter is what `char_table` calls so; its script follows from fixed ranges of code points, for letters of the Latin
script from `char_table`. A word here is a sequence of letters and of the marks on them: enough to look for stop words,
simpler than the runs of `kernels.words`. The plain twin is `scripts_plain`.
"""

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, CODE_POINTS, LATIN, char_flags
from gristmill.stages.kernels.jit import BITS_OUT, BYTES, COUNTS_OUT, KEYS, OFFSETS, SMALL, helper, kernel
from gristmill.stages.kernels.stop_table import HASH_FACTOR, HASH_SHIFT, MAX_WORD_BYTES, SLOTS, StopTable

SCRIPTS: tuple[str, ...] = (
    "latin",
    "cyrillic",
    "greek",
    "arabic",
    "hebrew",
    "devanagari",
    "han",
    "kana",
    "hangul",
    "thai",
    "other",
)
"""Columns of the counts."""
LETTER_WORTH = np.array([3 if s == "han" else 2 if s == "hangul" else 1 for s in SCRIPTS], dtype=np.int64)
"""How many letters of Latin say as much as one of a script, by its column. Ours, measured on a handbook in English and
its translations (`debian-handbook`): 3.3 in Chinese, 2.6 in Korean, 1.7 in Japanese, 0.9 to 1.25 in Russian, Greek,
Arabic and Persian."""
LETTER = 0x80
MARK = 0x40
_SCRIPT = 0x3F

_BLOCKS = (
    (0x0370, 0x0400, "greek"),
    (0x1F00, 0x2000, "greek"),
    (0x0400, 0x0530, "cyrillic"),
    (0x1C80, 0x1C90, "cyrillic"),
    (0x2DE0, 0x2E00, "cyrillic"),
    (0xA640, 0xA6A0, "cyrillic"),
    (0x0590, 0x0600, "hebrew"),
    (0xFB1D, 0xFB50, "hebrew"),
    (0x0600, 0x0700, "arabic"),
    (0x0750, 0x0780, "arabic"),
    (0x0870, 0x0900, "arabic"),
    (0xFB50, 0xFE00, "arabic"),
    (0xFE70, 0xFEFF, "arabic"),
    (0x0900, 0x0980, "devanagari"),
    (0xA8E0, 0xA900, "devanagari"),
    (0x0E00, 0x0E80, "thai"),
    (0x1100, 0x1200, "hangul"),
    (0x3130, 0x3190, "hangul"),
    (0xA960, 0xA980, "hangul"),
    (0xAC00, 0xD800, "hangul"),
    (0x3041, 0x3100, "kana"),
    (0x31F0, 0x3200, "kana"),
    (0xFF66, 0xFFA0, "kana"),
    (0x1AFF0, 0x1B170, "kana"),
    (0x3005, 0x3008, "han"),
    (0x3400, 0x4DC0, "han"),
    (0x4E00, 0xA000, "han"),
    (0xF900, 0xFB00, "han"),
    (0x20000, 0x32400, "han"),
)
"""Blocks of Unicode 14 (Blocks.txt) whose letters are counted as a script; the rest is `other`."""


@functools.lru_cache(maxsize=1)
def script_table() -> npt.NDArray[np.uint8]:
    """For each code point LETTER | its script's column, or MARK, or 0; uint8 (CODE_POINTS), read-only."""
    flags = char_flags()
    scripts = np.full(CODE_POINTS, SCRIPTS.index("other"), dtype=np.uint8)
    for first, end, script in _BLOCKS:
        scripts[first:end] = SCRIPTS.index(script)
    scripts[flags & LATIN != 0] = SCRIPTS.index("latin")
    table = np.where(flags & ALPHA != 0, scripts | LETTER, np.where(flags & ATTACHED != 0, MARK, 0)).astype(np.uint8)
    table.flags.writeable = False
    return table


Counts = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.uint64]
Ids = npt.NDArray[np.int16]

# numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float.
_signed = cast(Callable[[Any], int], np.int64)


@helper
def next_point(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Code point at `at` and the byte behind it, of bytes that are UTF-8; any others give some code point."""
    first = _signed(data[at])
    if first < 0x80:
        return first, at + 1
    size = 2 + (first >= 0xE0) + (first >= 0xF0)
    point = first & (0xFF >> (size + 1))
    behind = min(at + size, end)
    for i in range(at + 1, behind):
        point = point << 6 | _signed(data[i]) & 0x3F
    return (point if point < CODE_POINTS else 0), behind


@helper
def _mark_word(data: Bytes, start: int, end: int, keys: Keys, ids: Ids, bits: Bits) -> None:
    """Set the bit of the stop word that these bytes are, if any; ASCII letters in either case."""
    if end - start > MAX_WORD_BYTES:
        return
    key = np.uint64(0)
    for i in range(start, end):
        byte = np.uint64(data[i])
        if np.uint64(65) <= byte <= np.uint64(90):
            byte += np.uint64(32)
        key |= byte << np.uint64(8 * (i - start))
    slot = _signed(key * np.uint64(HASH_FACTOR) >> np.uint64(HASH_SHIFT))
    while keys[slot] != np.uint64(0):
        if keys[slot] == key:
            bits[ids[slot] >> 6] |= np.uint64(1) << np.uint64(ids[slot] & 63)
            return
        slot = (slot + 1) & (SLOTS - 1)


@kernel((BYTES, OFFSETS, types.int64, BYTES, KEYS, SMALL, COUNTS_OUT, BITS_OUT))
def _scan_documents(
    data: Bytes, offsets: Offsets, max_chars: int, table: Bytes, keys: Keys, ids: Ids, counts: Counts, bits: Bits
) -> None:
    for row in range(len(offsets) - 1):
        at, end = offsets[row], offsets[row + 1]
        word_start, left = -1, max_chars
        while at < end and left > 0:
            point, behind = next_point(data, at, end)
            kind = _signed(table[point])
            if kind & LETTER:
                counts[row, kind & _SCRIPT] += 1
                if word_start < 0:
                    word_start = at
            elif word_start >= 0 and kind & MARK == 0:
                _mark_word(data, word_start, at, keys, ids, bits[row])
                word_start = -1
            at = behind
            left -= 1
        if word_start >= 0 and at >= end:
            _mark_word(data, word_start, end, keys, ids, bits[row])


def scan_scripts(
    data: Bytes, offsets: Offsets, max_chars: int, stop: StopTable
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Letters by script (n, len(SCRIPTS)) in the first `max_chars` characters of each document, and the stop words
    there as bits (n, stop.bit_words). A word that the limit cuts is not looked up."""
    rows = len(offsets) - 1
    counts = np.zeros((rows, len(SCRIPTS)), dtype=np.int64)
    bits = np.zeros((rows, stop.bit_words), dtype=np.uint64)
    _scan_documents(data, offsets, max_chars, script_table(), stop.keys, stop.ids, counts, bits)
    return counts, bits
