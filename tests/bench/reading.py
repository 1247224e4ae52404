"""A source timed against the bare parser over the same files, for the benches of reading.

CPU seconds, medians of interleaved rounds after one that is not counted; `spread` is (max - min) / median of the
source.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from gristmill.pipeline.sources.protocol import InputFile, ReadBatch, ReadOptions

TARGET = 0.7

ReadFile = Callable[[InputFile, ReadOptions], Iterator[ReadBatch]]


@dataclass(frozen=True)
class Contest:
    """`bare` gives the bytes that `unit` counts, `peer` names it."""

    read_file: ReadFile
    bare: Callable[[Sequence[str]], int]
    peer: str
    unit: str
    rounds: int


def read_source(read_file: ReadFile, paths: Sequence[str]) -> int:
    """Rows of the source."""
    files = (InputFile(path, os.path.basename(path), os.path.getsize(path), "") for path in paths)
    return sum(read.batch.num_rows for file in files for read in read_file(file, ReadOptions("bench")))


def cpu_s(work: Callable[[], int]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(what: str, paths: Sequence[str], contest: Contest) -> dict[str, Any]:
    """One row of results; `{each}` in `what` becomes the bytes of a row, on average."""
    size, rows = contest.bare(paths), read_source(contest.read_file, paths)
    rounds = [
        (cpu_s(lambda: contest.bare(paths)), cpu_s(lambda: read_source(contest.read_file, paths)))
        for _ in range(contest.rounds)
    ]
    bare, own = (median(one) for one in zip(*rounds, strict=True))
    return {
        "what": what.format(each=f"{size // rows:,}"),
        "value": size / 1e6 / own,
        "unit": contest.unit,
        "peer": contest.peer,
        "peer_value": size / 1e6 / bare,
        "ratio": bare / own,
        "target": f"at least {TARGET}",
        "n": contest.rounds,
        "spread": round((max(r[1] for r in rounds) - min(r[1] for r in rounds)) / own, 3),
    }
