"""The order of an epoch in blocks, for rows that are cheaper to fetch together: a permutation as a function.

Rows are cut into blocks of `block_rows`, the last with fewer; blocks are permuted, and rows again within each window of
`window_blocks` blocks of that order. So whoever reads on needs the blocks of one window at a time, each once an epoch.

In the order of blocks the full ones are a Feistel permutation, and the one with fewer stands at a drawn place among
them; how many rows come before any place is then arithmetic. Row c of the epoch lies in the window w whose bounds hold
it, and within it at the place that the window's own Feistel permutation gives (the epoch's round keys, each with mix64
of w + 1 xored in).

Less is mixed than by `permute`: docs/reader.md has how much. `shuffled_plain` is the twin of the kernel.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numba import types
from pydantic import BaseModel, ConfigDict, Field

from gristmill.pipeline.reader.permute import feistel, half_bits, permuted, permuted_plain
from gristmill.stages.kernels.jit import KEYS, OFFSETS, helper, kernel
from gristmill.stages.kernels.shingle_hash import GOLDEN, mix64, splitmix64

BLOCK_BYTES = 8 << 20
"""Rows that are fetched at once, where no plan says how many: at 100 MB/s a block takes four times as long as the
request for it."""
MAX_BLOCK_ROWS = 256
WINDOW_BLOCKS = 64
_LAST_BLOCK = 0xB10C

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


class ShuffleModel(BaseModel):
    """`shuffle:` of a plan as a mapping."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    block_rows: int = Field(ge=1, le=1 << 20)
    window_blocks: int = Field(default=WINDOW_BLOCKS, ge=1, le=1 << 16)


ShuffleChoice = Literal["global", "block"] | ShuffleModel


@dataclass(frozen=True)
class BlockShuffle:
    """See the module."""

    block_rows: int
    window_blocks: int

    def plain(self) -> Mapping[str, int]:
        """As data, for a digest."""
        return {"block_rows": self.block_rows, "window_blocks": self.window_blocks}


def shuffle_of(choice: ShuffleChoice | None, context: int, remote: bool) -> BlockShuffle | None:
    """How a dataset is shuffled; None is globally. Where nothing is chosen: in blocks where it lies in object storage,
    of as many rows as BLOCK_BYTES hold, MAX_BLOCK_ROWS at most."""
    if isinstance(choice, ShuffleModel):
        return BlockShuffle(choice.block_rows, choice.window_blocks)
    if choice == "global" or (choice is None and not remote):
        return None
    return BlockShuffle(min(max(BLOCK_BYTES // (4 * context), 1), MAX_BLOCK_ROWS), WINDOW_BLOCKS)


@dataclass(frozen=True)
class _Blocks:
    """Of n rows: `full` blocks, and at place `short_at` of their order one with `missing` rows fewer (none: behind)."""

    n: int
    size: int
    window: int
    full: int
    short_at: int
    missing: int

    @staticmethod
    def of(n: int, shuffle: BlockShuffle, keys: Keys) -> "_Blocks":
        full, rest = divmod(n, shuffle.block_rows)
        short_at = int(splitmix64(int(keys[0]) ^ _LAST_BLOCK, 1)[0]) % (full + 1) if rest else full + 1
        missing = shuffle.block_rows - rest if rest else 0
        return _Blocks(n, shuffle.block_rows, shuffle.window_blocks, full, short_at, missing)

    def start(self, window: int) -> int:
        """Rows before a window."""
        place = window * self.window
        return min(place * self.size - (self.missing if self.short_at < place else 0), self.n)

    def window_of(self, counter: int) -> int:
        """The window that a row of the epoch comes in."""
        span = self.window * self.size
        before = counter < self.start(self.short_at // self.window + 1)
        return (counter if before else counter + self.missing) // span


def shuffled(counters: Ints, n: int, shuffle: BlockShuffle | None, keys: Keys) -> Ints:
    """Where each of the counters, int64 in [0, n), goes: a bijection of [0, n), global where `shuffle` is None."""
    if shuffle is None:
        return permuted(counters, n, keys)
    if len(counters) and not 0 <= int(counters.min()) <= int(counters.max()) < n:
        raise IndexError(f"counters must be in [0, {n})")
    b = _Blocks.of(n, shuffle, keys)
    numbers = np.array([n, b.size, b.window, b.full, b.short_at, b.missing], dtype=np.int64)
    return _shuffled(np.ascontiguousarray(counters), numbers, half_bits(b.full), keys)


@helper
def _start(window: int, numbers: Any) -> Any:
    place = window * numbers[2]
    missing = numbers[5] if numbers[4] < place else 0
    return min(place * numbers[1] - missing, numbers[0])


@helper
def _half_bits(n: Any) -> int:
    half = 1
    while (np.int64(1) << np.int64(2 * half)) < n:
        half += 1
    return half


@kernel(types.int64[::1](OFFSETS, OFFSETS, types.int64, KEYS))
def _shuffled(counters: Ints, numbers: Ints, half: int, keys: Keys) -> Ints:
    size, window, full, short_at, missing = numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    behind_short = _start(short_at // window + 1, numbers)
    own = np.empty(len(keys), dtype=np.uint64)
    out = np.empty(len(counters), dtype=np.int64)
    last, rows, half_rows, before = np.int64(-1), np.int64(0), 1, np.int64(0)
    for i in range(len(counters)):
        counter = counters[i]
        w = (counter if counter < behind_short else counter + missing) // (window * size)
        if w != last:
            last, before = w, _start(w, numbers)
            rows = _start(w + 1, numbers) - before
            half_rows = _half_bits(rows)
            for k in range(len(keys)):
                own[k] = keys[k] ^ mix64(np.uint64(w) + np.uint64(1))
        place = np.int64(feistel(np.uint64(counter - before), np.uint64(rows), half_rows, own))
        # The block at a place of the order, and the row in it.
        short = short_at - w * window
        if short >= 0 and place >= short * size:
            if place < (short + 1) * size - missing:
                out[i] = full * size + place - short * size
                continue
            place += missing
        at = w * window + place // size
        at -= np.int64(at > short_at)
        out[i] = np.int64(feistel(np.uint64(at), np.uint64(full), half, keys)) * size + place % size
    return out


def shuffled_plain(counter: int, n: int, shuffle: BlockShuffle, keys: Keys) -> int:
    """`shuffled` of one counter, by lists of blocks."""
    blocks = _Blocks.of(n, shuffle, keys)
    window = blocks.window_of(counter)
    rows = [row for first, stop in window_blocks(n, shuffle, keys, window) for row in range(first, stop)]
    own = keys ^ np.uint64(_mix64_plain(window + 1))
    return rows[permuted_plain(counter - blocks.start(window), len(rows), own)]


def _mix64_plain(value: int) -> int:
    return int(splitmix64((value - GOLDEN) & (1 << 64) - 1, 1)[0])


def window_at(counter: int, n: int, shuffle: BlockShuffle, keys: Keys) -> int:
    """The window that a row of the epoch comes in."""
    return _Blocks.of(n, shuffle, keys).window_of(counter)


def window_blocks(n: int, shuffle: BlockShuffle, keys: Keys, window: int) -> list[tuple[int, int]]:
    """The rows [first, stop) of each block of a window, in the order of blocks; [] behind the last window."""
    b = _Blocks.of(n, shuffle, keys)
    count = b.full + (b.missing > 0)
    places = np.arange(window * b.window, min((window + 1) * b.window, count), dtype=np.int64)
    full = places[places != b.short_at]
    firsts = permuted(full - (full > b.short_at), b.full, keys) * b.size if len(full) else full
    found = dict(zip(full.tolist(), firsts.tolist(), strict=True))
    return [(found.get(p, b.full * b.size), min(found.get(p, n) + b.size, n)) for p in places.tolist()]
