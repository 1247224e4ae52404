"""Readers of others over the same media, for `bench_media`; runs in the peers' environment, without this package.

`python media_peers.py FOLDER PEER`: FOLDER holds the files `blobs/0`, `blobs/1`, ... and `order.npy` (int64[m]). Writes
them in the peer's own format into FOLDER once, opens it, and reads every medium of the order as bytes, after one round
that is not counted. Prints media per second of CPU time.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def hf(folder: Path, blobs: list[Path]) -> Callable[[int], Any]:
    """Hugging Face datasets, a binary column."""
    import datasets

    place = folder / "hf"
    if not place.exists():
        features = datasets.Features({"data": datasets.Value("binary")})
        datasets.Dataset.from_dict({"data": [b.read_bytes() for b in blobs]}, features).save_to_disk(str(place))
    data = datasets.load_from_disk(str(place))
    return lambda i: data[i]["data"]


def mds(folder: Path, blobs: list[Path]) -> Callable[[int], Any]:
    """mosaicml-streaming, uncompressed, local."""
    from streaming import MDSWriter, StreamingDataset

    place = folder / "mds"
    if not place.exists():
        with MDSWriter(out=str(place), columns={"data": "bytes"}) as out:
            for blob in blobs:
                out.write({"data": blob.read_bytes()})
    data = StreamingDataset(local=str(place), shuffle=False, batch_size=1)
    return lambda i: data[i]["data"]


PEERS = {"hf": hf, "mds": mds}


def main(folder: Path, name: str) -> None:
    """See the module."""
    blobs = sorted((folder / "blobs").iterdir(), key=lambda path: int(path.name))
    order = np.load(folder / "order.npy").tolist()
    get = PEERS[name](folder, blobs)
    for i in order:
        get(i)
    start = time.process_time()
    for i in order:
        get(i)
    told = len(order) / (time.process_time() - start)
    assert bytes(get(order[-1])) == blobs[order[-1]].read_bytes(), "another medium"
    print(told)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
