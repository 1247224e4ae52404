"""The plain-Python twin of `shingle_words`, `shingle_folding` and `shingle_rows`: docs/minhash.md step by step."""

import unicodedata
from collections.abc import Iterable, Sequence

from gristmill.stages.kernels.char_table import SOLO, SPACE
from gristmill.stages.kernels.shingle_fold import MAX_MARKS
from gristmill.stages.kernels.shingle_words import CHARS, CHUNKS, EXACT_CHARS, WORDS
from gristmill.stages.kernels.words_plain import flags_of, tokens

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_ROLL_FACTOR = 0xD1342543DE82EF95


def mix64(value: int) -> int:
    """The finaliser of splitmix64."""
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & _MASK
    return value ^ (value >> 31)


def stream(seed: int, count: int) -> list[int]:
    """The first values of splitmix64."""
    return [mix64((seed + (i + 1) * _GOLDEN) & _MASK) for i in range(count)]


def folded(text: str) -> str:
    """NFD(casefold(NFD(text))) without format characters; long sequences of marks in order in parts of MAX_MARKS."""
    done: list[str] = []
    marks: list[tuple[int, str]] = []
    for part in "".join(unicodedata.normalize("NFD", c) for c in text if unicodedata.category(c) != "Cf"):
        order = unicodedata.combining(part)
        if order == 0 or len(marks) == MAX_MARKS:
            done += [mark for _, mark in sorted(marks, key=lambda pair: pair[0])]
            marks = []
        if order:
            marks.append((order, part.casefold()))
        else:
            done.append(part.casefold())
    return "".join(done) + "".join(mark for _, mark in sorted(marks, key=lambda pair: pair[0]))


def units(text: str, kind: int) -> list[str]:
    """The units of a text."""
    if kind == WORDS:
        return [folded(token.text) for token in tokens(text) if token.kind != "symbol" and token.text.strip("_")]
    if kind == CHUNKS:
        return _chunks(text)
    kept = (c for c in text if kind == EXACT_CHARS or unicodedata.category(c) != "Cf")
    spaced = " ".join("".join(" " if flags_of(c) & SPACE else c for c in kept).split(" "))
    joined = " ".join(part for part in spaced.split(" ") if part)
    return list(folded(joined) if kind == CHARS else joined)


def _chunks(text: str) -> list[str]:
    found: list[str] = []
    is_open = False
    for char in text:
        if flags_of(char) & SPACE:
            is_open = False
        elif flags_of(char) & SOLO or not is_open:
            found.append(char)
            is_open = not flags_of(char) & SOLO
        else:
            found[-1] += char
    return found


def hash_word(word: bytes, key: int) -> int:
    """Hash of a unit of bytes."""
    value, factor = key, mix64(key) | 1
    for at in range(0, len(word), 8):
        product = (value ^ int.from_bytes(word[at : at + 8], "little")) * factor
        value = (product >> 64) ^ (product & _MASK)
    return mix64(value ^ len(word))


def unit_hashes(found: Iterable[str], kind: int, key: int) -> list[int]:
    """Hashes of units: of the bytes of words and chunks, of the code points of characters."""
    if kind in (CHARS, EXACT_CHARS):
        return [mix64(key ^ ord(char)) for char in found]
    return [hash_word(word.encode(), key) for word in found]


def shingles_of(hashes: Sequence[int], size: int, key: int) -> list[int]:
    """The shingles of units, in order."""
    powers = [pow(_ROLL_FACTOR, size - 1 - i, 1 << 64) for i in range(size)]
    return [
        mix64(sum(value * power for value, power in zip(hashes[at : at + size], powers, strict=True)) & _MASK ^ key)
        for at in range(len(hashes) - size + 1)
    ]


def shingles(text: str, kind: int, size: int, seed: int) -> list[int]:
    """The shingles of a text, in order, repeated ones each time."""
    unit_key, shingle_key = stream(seed, 2)
    return shingles_of(unit_hashes(units(text, kind), kind, unit_key), size, shingle_key)
