"""Samples: for each step, verdict and reason the few records that a person would look at first.

A sample is chosen by content: the records with the smallest priority, a hash of seed and content, so the
choice is the same for any split or worker and samples of splits merge to the samples of the whole.
A line of JSON a sample: `step`, `verdict` (keep, drop, quarantine), `reason`, `id`, `url`, `source`, `value`,
`limit`, `chars`, `text` (the first `TEXT_CHARS` characters of what the step saw), `priority`, `row`.
"""

import heapq
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from blake3 import blake3

SAMPLES_A_CELL = 20
TEXT_CHARS = 2000

Sample = dict[str, Any]
Cell = tuple[str, str, str]


def priorities(content_hash: pa.FixedSizeBinaryArray, seed: int, purpose: str) -> npt.NDArray[np.uint64]:
    """64 uniform bits a row from its content hash (16 bytes), seed and purpose; null hashes count as zero.

    The finaliser is splitmix64's (Steele, Lea, Flood 2014), so that two purposes are independent.
    """
    rows = len(content_hash)
    if rows == 0:
        return np.zeros(0, dtype=np.uint64)
    filled = content_hash.fill_null(bytes(16)) if content_hash.null_count else content_hash
    raw = np.frombuffer(filled.buffers()[1], dtype=">u8")[2 * filled.offset : 2 * (filled.offset + rows) : 2]
    salt = blake3(f"{purpose}\0{seed}".encode()).digest(8)
    mixed = raw.astype(np.uint64) ^ np.uint64(int.from_bytes(salt, "big"))
    with np.errstate(over="ignore"):
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def threshold(fraction: float) -> np.uint64:
    """The bound below which `fraction` of all priorities lie (1.0 gives all but one in 2^64)."""
    return np.uint64(min((1 << 64) - 1, int(fraction * (1 << 64))))


class Reservoir:
    """Keeps the samples of each (step, verdict, reason)."""

    def __init__(self, size: int = SAMPLES_A_CELL) -> None:
        self._size = size
        self._cells: dict[Cell, list[tuple[int, str, int, Sample]]] = {}

    def admits(self, cell: Cell, rank: int) -> bool:
        """Whether a record of this priority would enter its cell."""
        heap = self._cells.get(cell)
        return heap is None or len(heap) < self._size or rank < -heap[0][0]

    def candidates(self, cell: Cell, ranks: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Which of these priorities may enter the cell, in order: all others would not, or would leave it again."""
        heap = self._cells.get(cell, [])
        able = np.ones(len(ranks), np.bool_)
        if len(heap) >= self._size:
            able = ranks < np.uint64(-heap[0][0])
        if len(ranks) > self._size:
            able &= ranks <= np.partition(ranks, self._size - 1)[self._size - 1]
        return np.flatnonzero(able)

    def put(self, cell: Cell, rank: int, sample: Sample) -> None:
        """Enter a sample (plain data, without step, verdict, reason and priority)."""
        heap = self._cells.setdefault(cell, [])
        entry = (-rank, str(sample.get("id")), int(sample.get("row") or 0), sample)
        if len(heap) < self._size:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)

    def lines(self) -> list[Sample]:
        """All samples, cells in order of first entry sorted by name, smallest priority first."""
        out: list[Sample] = []
        for (step, verdict, reason), heap in sorted(self._cells.items()):
            for rank, _, _, sample in sorted(heap, key=lambda e: (-e[0], e[1], e[2])):
                out.append({"step": step, "verdict": verdict, "reason": reason, "priority": -rank, **sample})
        return out


def merge_samples(parts: Iterable[Iterable[Sample]], size: int = SAMPLES_A_CELL) -> list[Sample]:
    """The samples of the whole from those of its parts."""
    cells: dict[Cell, list[Sample]] = {}
    for part in parts:
        for sample in part:
            cells.setdefault((sample["step"], sample["verdict"], sample["reason"]), []).append(sample)
    merged: list[Sample] = []
    for _, samples in sorted(cells.items()):
        merged.extend(sorted(samples, key=lambda s: (s["priority"], str(s["id"]), s["row"] or 0))[:size])
    return merged


def samples_to_bytes(samples: Iterable[Sample]) -> bytes:
    """JSON lines."""
    return b"".join(
        json.dumps(s, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass") + b"\n" for s in samples
    )


def samples_from_bytes(data: bytes) -> list[Sample]:
    """Inverse of `samples_to_bytes`."""
    return [json.loads(line) for line in data.split(b"\n") if line]
