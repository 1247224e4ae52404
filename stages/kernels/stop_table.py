"""A set of short words as a hash table that a kernel can probe without making a string.

A word is its UTF-8 bytes, at most MAX_WORD_BYTES, little-endian in one uint64: equal keys are equal words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MAX_WORD_BYTES = 8
SLOTS = 1024
HASH_FACTOR = 0x9E3779B97F4A7C15
HASH_SHIFT = 54
"""Fibonacci hashing (Knuth, TAOCP 3, section 6.4): the top 10 bits of key times 2^64 / golden ratio."""
_MAX_WORDS = SLOTS // 2


@dataclass(frozen=True)
class StopTable:
    """`keys` (uint64, SLOTS; 0 is free) and `ids` (int16): a word's id is its bit in `bit_words` uint64s."""

    words: tuple[str, ...]
    keys: npt.NDArray[np.uint64]
    ids: npt.NDArray[np.int16]

    @property
    def bit_words(self) -> int:
        """How many uint64s hold a bit for each word."""
        return -(-len(self.words) // 64)

    def mask(self, chosen: Sequence[str]) -> npt.NDArray[np.uint64]:
        """The bits of some of the words, uint64 (bit_words). Raises ValueError on a word not in the table."""
        bits = np.zeros(self.bit_words, dtype=np.uint64)
        for word in chosen:
            number = self.words.index(word)
            bits[number >> 6] |= np.uint64(1 << (number & 63))
        return bits


def stop_table(words: Sequence[str]) -> StopTable:
    """The table of these words, which are in lower case. Raises ValueError when one is empty or too long."""
    known = tuple(dict.fromkeys(words))
    if len(known) > _MAX_WORDS:
        raise ValueError(f"{len(known)} words, at most {_MAX_WORDS}")
    keys = np.zeros(SLOTS, dtype=np.uint64)
    ids = np.zeros(SLOTS, dtype=np.int16)
    for number, word in enumerate(known):
        raw = word.encode()
        if not 0 < len(raw) <= MAX_WORD_BYTES:
            raise ValueError(f"not between 1 and {MAX_WORD_BYTES} bytes: {word!r}")
        key = int.from_bytes(raw, "little")
        slot = key * HASH_FACTOR % 2**64 >> HASH_SHIFT
        while keys[slot]:
            slot = (slot + 1) % SLOTS
        keys[slot], ids[slot] = key, number
    keys.flags.writeable = False
    ids.flags.writeable = False
    return StopTable(known, keys, ids)
