"""`content_hash` of many texts at once: short ones by `blake3_lanes` where that pays, long ones by the library."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt
from blake3 import blake3

from gristmill.manifests.schema import ID_BYTES, content_hash
from gristmill.pipeline.sources.kernel_use import kernels_pay

Bytes = npt.NDArray[np.uint8]

# From here on the library is as fast.
LONG_TEXT_BYTES = 16 << 10
# Below this a call of the kernel would not fill its lanes.
_MIN_ROWS = 8
_NONE: Mapping[int, bytes] = {}


def hash_rows(data: Bytes, offsets: npt.NDArray[np.int64], known: Mapping[int, bytes] = _NONE) -> Bytes:
    """`content_hash` of the bytes of each row: uint8 of shape (rows, ID_BYTES); `known` are those of some rows."""
    sizes = np.diff(offsets)
    if len(sizes) - len(known) < _MIN_ROWS or not kernels_pay(int(offsets[-1] - offsets[0])):
        return _by_library(data, offsets, known)
    from gristmill.stages.kernels.blake3_lanes import blake3_128

    short = sizes < LONG_TEXT_BYTES
    short[list(known)] = False
    if short.all():
        return blake3_128(data, offsets[:-1], sizes)
    hashes = np.empty((len(sizes), ID_BYTES), np.uint8)
    hashes[short] = blake3_128(data, offsets[:-1][short], sizes[short])
    for row in np.flatnonzero(~short).tolist():
        digest = known.get(row) or content_hash(cast(bytes, data[offsets[row] : offsets[row + 1]].data))
        hashes[row] = np.frombuffer(digest, np.uint8)
    return hashes


def hash_parts(parts: Sequence[memoryview]) -> bytes:
    """`content_hash` of parts put together."""
    hasher = blake3(parts[0])
    for part in parts[1:]:
        hasher.update(part)
    return hasher.digest(ID_BYTES)


def _by_library(data: Bytes, offsets: npt.NDArray[np.int64], known: Mapping[int, bytes]) -> Bytes:
    view, bounds = memoryview(data.data), offsets.tolist()
    rows = enumerate(pairwise(bounds))
    digests = [known.get(row) or content_hash(cast(bytes, view[a:b])) for row, (a, b) in rows]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, ID_BYTES)
