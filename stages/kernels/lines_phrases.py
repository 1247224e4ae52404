"""Many phrases at once in one pass over bytes: an Aho-Corasick automaton as one dense table.

Phrases are found in any case of ASCII letters and, where they hold other letters, as they are given, with a capital at
the start, in capitals (of the running Python). One load for each byte: some 600 MB/s whatever the number of phrases
(classes of bytes keep the table within the cache).
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.jit import helper
from gristmill.stages.kernels.lines import signed

TABLE = types.Array(types.int32, 1, "C", readonly=True)
MAX_KINDS = 31


@dataclass(frozen=True)
class Phrases:
    """`moves[state + classes[byte]]` is the next state; states are multiples of the number of classes.

    `kinds[state]` has the bit of each kind of which a phrase ends in that state; `sizes[state]` is the length in bytes
    of the longest such phrase, 0 where none ends. All are read-only; state 0 is the start.
    """

    classes: npt.NDArray[np.uint8]
    moves: npt.NDArray[np.int32]
    kinds: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int32]


def phrases(kinds: Sequence[Sequence[str]]) -> Phrases:
    """The automaton of phrases by kind: those of `kinds[k]` set bit k. ValueError on too many, or on an empty one."""
    if len(kinds) > MAX_KINDS or any(not phrase for kind in kinds for phrase in kind):
        raise ValueError(f"at most {MAX_KINDS} kinds of phrases, none of them empty")
    wanted: dict[bytes, int] = {}
    for bit, kind in enumerate(kinds):
        for phrase in kind:
            for form in _forms(phrase):
                wanted[form] = wanted.get(form, 0) | 1 << bit
    classes = _classes(wanted)
    return _automaton(wanted, classes)


def _forms(phrase: str) -> set[bytes]:
    lower = phrase.lower()
    forms = {lower} if lower.isascii() else {phrase, lower, lower[0].upper() + lower[1:], lower.title(), lower.upper()}
    return {bytes(_folded(byte) for byte in form.encode()) for form in forms}


def _folded(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte


def _classes(wanted: Mapping[bytes, int]) -> npt.NDArray[np.uint8]:
    """Class 0 for bytes that no phrase has; capitals are with small letters."""
    used = sorted({byte for form in wanted for byte in form})
    number = {byte: index + 1 for index, byte in enumerate(used)}
    return np.array([number.get(_folded(byte), 0) for byte in range(256)], dtype=np.uint8)


def _automaton(wanted: Mapping[bytes, int], classes: npt.NDArray[np.uint8]) -> Phrases:
    width = int(classes.max()) + 1
    children: list[dict[int, int]] = [{}]
    kinds, sizes = [0], [0]
    for form, bits in sorted(wanted.items()):
        state = 0
        for byte in form:
            if (cls := int(classes[byte])) not in children[state]:
                children[state][cls] = len(children)
                children.append({})
                kinds.append(0)
                sizes.append(0)
            state = children[state][cls]
        kinds[state] |= bits
        sizes[state] = len(form)
    moves = np.zeros((len(children), width), dtype=np.int32)
    fail = [0] * len(children)
    waiting = deque([0])
    while waiting:
        state = waiting.popleft()
        moves[state] = moves[fail[state]]
        for cls, child in children[state].items():
            fail[child] = int(moves[fail[state], cls]) if state else 0
            moves[state, cls] = child
            kinds[child] |= kinds[fail[child]]
            sizes[child] = sizes[child] or sizes[fail[child]]
            waiting.append(child)
    return _frozen(classes, moves * width, np.repeat(kinds, width), np.repeat(sizes, width))


def _frozen(classes: Any, moves: Any, kinds: Any, sizes: Any) -> Phrases:
    arrays = classes, moves.ravel().astype(np.int32), kinds.astype(np.int32), sizes.astype(np.int32)
    for array in arrays:
        array.flags.writeable = False
    return Phrases(*arrays)


@helper
def found_kinds(data: Any, start: int, end: int, classes: Any, moves: Any, kinds: Any) -> int:
    """The bits of all kinds of which a phrase lies within the range."""
    state = 0
    found = 0
    for i in range(start, end):
        state = signed(moves[state + signed(classes[data[i]])])
        found |= signed(kinds[state])
    return found
