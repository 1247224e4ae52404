"""One loader behind two DataLoader workers, for `bench_reader_workers`: `python reader_workers.py FOLDER NAME`.

NAME is `ours` (FOLDER/out/rows, in an environment with this package and torch), or a peer of `reader_peers`. Prints a
line of JSON: rows per second of wall time and of CPU time, workers included, batches of 8 copied to int64.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

BATCH, WORKERS = 8, 2


def ours(folder: Path) -> Iterator[Any]:
    """Through a DataLoader, as nobody should."""
    from torch.utils.data import DataLoader

    from gristmill.pipeline.reader import ReadOptions, TokenStream

    stream = TokenStream(folder / "out" / "rows", global_batch=BATCH, options=ReadOptions(prefetch=0))
    return (batch.tokens for batch in DataLoader(stream, batch_size=None, num_workers=WORKERS))


def theirs(folder: Path, name: str) -> Iterator[Any]:
    """A peer's loader over what `reader_peers` wrote."""
    sys.path.insert(0, str(Path(__file__).parent))
    from reader_peers import PEERS  # pyright: ignore[reportMissingImports]

    rows = np.load(folder / "rows.npy", mmap_mode="r")
    return PEERS[name](folder, rows, WORKERS)[1]()


def cpu_s() -> float:
    """Of this process and of workers that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def main(folder: Path, name: str) -> None:
    """See the module."""
    import torch

    torch.set_num_threads(1)
    batches = ours(folder) if name == "ours" else theirs(folder, name)
    start, used, seen = time.perf_counter(), cpu_s(), 0
    for batch in batches:
        batch.to(dtype=torch.int64, copy=True)
        seen += len(batch)
    wall = time.perf_counter() - start
    del batches
    print(json.dumps({"rows_per_s": seen / wall, "rows_per_cpu_s": seen / (cpu_s() - used)}), flush=True)
    os._exit(0)  # some peers' threads do not end


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
