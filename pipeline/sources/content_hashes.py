"""`content_hash` of many texts at once: short ones by `blake3_lanes` where that pays, long ones by the library."""

from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from gristmill.manifests.schema import ID_BYTES, content_hash
from gristmill.pipeline.sources.kernel_use import kernels_pay

Bytes = npt.NDArray[np.uint8]

# From here on the library is as fast.
LONG_TEXT_BYTES = 16 << 10
# Below this a call of the kernel would not fill its lanes.
_MIN_ROWS = 8


def hash_rows(data: Bytes, offsets: npt.NDArray[np.int64]) -> Bytes:
    """`content_hash` of the bytes of each row: uint8 of shape (rows, ID_BYTES)."""
    sizes = np.diff(offsets)
    if len(sizes) < _MIN_ROWS or not kernels_pay(int(offsets[-1] - offsets[0])):
        return _by_library(data, offsets)
    from gristmill.stages.kernels.blake3_lanes import blake3_128

    long = sizes >= LONG_TEXT_BYTES
    if not long.any():
        return blake3_128(data, offsets[:-1], sizes)
    hashes = np.empty((len(sizes), ID_BYTES), np.uint8)
    hashes[~long] = blake3_128(data, offsets[:-1][~long], sizes[~long])
    for row in np.flatnonzero(long).tolist():
        hashes[row] = np.frombuffer(content_hash(cast(bytes, data[offsets[row] : offsets[row + 1]].data)), np.uint8)
    return hashes


def _by_library(data: Bytes, offsets: npt.NDArray[np.int64]) -> Bytes:
    view, bounds = memoryview(data.data), offsets.tolist()
    digests = [content_hash(cast(bytes, view[a:b])) for a, b in pairwise(bounds)]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, ID_BYTES)
