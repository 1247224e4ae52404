"""The libraries' own writers over the same samples, for `bench_export`; runs in the environment of the extras.

`python export_peers.py FOLDER FORMAT`: FOLDER holds `table.arrow` (rows), `samples.pickle` (what the writer of FORMAT
is given, a sample each). What is read lies in memory before the clock starts. Writes ROUNDS times after one that is not
counted, and prints a line of JSON, the CPU seconds of each.
"""

import json
import pickle
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 5


def hf(folder: Path, samples: Any) -> Callable[[Path], None]:
    """`save_to_disk` of a table in memory."""
    import datasets
    import pyarrow as pa

    del samples
    table = pa.ipc.open_file((folder / "table.arrow").read_bytes()).read_all()
    return lambda target: datasets.Dataset(table).save_to_disk(str(target))


def mds(folder: Path, samples: Any) -> Callable[[Path], None]:
    """`MDSWriter` of its default shards, with the hash that ours have."""
    from streaming import MDSWriter

    columns = json.loads((folder / "columns.json").read_bytes())

    def write(target: Path) -> None:
        with MDSWriter(out=str(target), columns=columns, hashes=["xxh3_64"]) as out:
            for sample in samples:
                out.write(sample)

    return write


def webdataset(folder: Path, samples: Any) -> Callable[[Path], None]:
    """`ShardWriter`, which makes .npy and .json of arrays and mappings."""
    import webdataset as library

    del folder

    def write(target: Path) -> None:
        target.mkdir()
        with library.ShardWriter(f"{target}/shard-%05d.tar", maxsize=256 << 20, verbose=0) as out:
            for sample in samples:
                out.write(sample)

    return write


def megatron(folder: Path, samples: Any) -> Callable[[Path], None]:
    """`IndexedDatasetBuilder`; it writes no .jsonl, which ours do."""
    import numpy as np
    from megatron.core.datasets.indexed_dataset import IndexedDatasetBuilder

    del folder

    def write(target: Path) -> None:
        target.mkdir()
        builder = IndexedDatasetBuilder(f"{target}/x.bin", dtype=np.uint16)
        for ids in samples:
            builder.add_document(ids, [len(ids)])
        builder.finalize(f"{target}/x.idx")

    return write


WRITERS = {"hf": hf, "mds": mds, "webdataset": webdataset, "megatron": megatron}


def main(folder: Path, form: str) -> None:
    """See the module."""
    write = WRITERS[form](folder, pickle.loads((folder / "samples.pickle").read_bytes()))
    seconds: list[float] = []
    for _ in range(ROUNDS + 1):
        start = time.process_time()
        write(folder / "written")
        seconds.append(time.process_time() - start)
        shutil.rmtree(folder / "written")
    print(json.dumps(seconds[1:]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
