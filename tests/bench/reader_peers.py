"""Readers of others over the same rows, for `bench_reader`; runs in the peers' environment, without this package.

`python reader_peers.py FOLDER PEER`: FOLDER holds `rows.npy` (uint32[n, context]) and `order.npy` (int64[n], each row
once). Writes the rows in the peer's own format into FOLDER unless they are there, opens it, reads WARM rows, then every
row of the order into a reused int32 buffer, twice, and goes through its loader in batches of 8, copied to int64. Prints
a line of JSON, rows per CPU second: `{"first": x, "again": x, "loader": x}`. One round a process: a map that was read
once is no longer what a pre-training run, which reads each page once, meets.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

WARM = 64
BATCH = 8


def hf(folder: Path, rows: Any, workers: int = 0) -> tuple[Callable[[int], Any], Callable[[], Iterator[Any]]]:
    """Hugging Face datasets, torch format, the DataLoader without workers."""
    import datasets
    import pyarrow as pa
    from torch.utils.data import DataLoader

    place = folder / "hf"
    if not place.exists():
        column = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1).view(np.int32)), rows.shape[1])
        datasets.Dataset(pa.table({"ids": column})).save_to_disk(str(place))
    data = datasets.load_from_disk(str(place)).with_format("torch")
    return (lambda i: data[i]["ids"]), lambda: (
        b["ids"] for b in DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=workers)
    )


def mds(folder: Path, rows: Any, workers: int = 0) -> tuple[Callable[[int], Any], Callable[[], Iterator[Any]]]:
    """mosaicml-streaming, uncompressed, local."""
    from streaming import MDSWriter, StreamingDataset
    from torch.utils.data import DataLoader

    place = folder / "mds"
    if not place.exists():
        with MDSWriter(out=str(place), columns={"ids": f"ndarray:int32:{rows.shape[1]}"}) as out:
            for row in rows:
                out.write({"ids": row.view(np.int32)})
    data = StreamingDataset(local=str(place), shuffle=True, batch_size=BATCH)
    return (lambda i: data[i]["ids"]), lambda: (
        b["ids"] for b in DataLoader(data, batch_size=BATCH, num_workers=workers)
    )


def litdata(folder: Path, rows: Any, workers: int = 0) -> tuple[Callable[[int], Any], Callable[[], Iterator[Any]]]:
    """litdata's loader of tokens."""
    import torch
    from litdata import StreamingDataLoader, StreamingDataset, TokensLoader
    from litdata.streaming.writer import BinaryWriter

    place = folder / "litdata"
    if not place.exists():
        place.mkdir()
        context = rows.shape[1]
        writer = BinaryWriter(str(place), chunk_bytes="64MB", item_loader=TokensLoader(context))
        for number, row in enumerate(rows):
            writer[number] = torch.from_numpy(row.view(np.int32).copy())
        writer.done()
        writer.merge()
    data = StreamingDataset(str(place), item_loader=TokensLoader(block_size=rows.shape[1]), shuffle=True)
    return (lambda i: data[i]), lambda: iter(StreamingDataLoader(data, batch_size=BATCH, num_workers=workers))


PEERS = {"hf": hf, "mds": mds, "litdata": litdata}


def main(folder: Path, name: str) -> None:
    """See the module."""
    import torch

    torch.set_num_threads(1)  # its threads wait for work in a loop, which would count as CPU time
    rows, order = np.load(folder / "rows.npy", mmap_mode="r"), np.load(folder / "order.npy").tolist()
    get, batches = PEERS[name](folder, rows)
    buffer = np.empty(rows.shape[1], dtype=np.int32)
    for i in order[:WARM]:
        buffer[:] = np.asarray(get(i))
    told: dict[str, float] = {}
    for which in ("first", "again"):
        start = time.process_time()
        for i in order[WARM:]:
            buffer[:] = np.asarray(get(i))
        told[which] = (len(order) - WARM) / (time.process_time() - start)
    start, seen = time.process_time(), 0
    for batch in batches():
        batch.to(dtype=torch.int64, copy=True)
        seen += len(batch)
    told["loader"] = seen / (time.process_time() - start)
    assert (buffer.view(np.uint32) == rows[order[-1]]).all(), "another row"
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
