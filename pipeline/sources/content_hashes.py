"""`content_hash` of many texts at once."""

from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from gristmill.manifests.schema import ID_BYTES, content_hash

Bytes = npt.NDArray[np.uint8]


def hash_rows(data: Bytes, offsets: npt.NDArray[np.int64]) -> Bytes:
    """`content_hash` of the bytes of each row: uint8 of shape (rows, ID_BYTES)."""
    view, bounds = memoryview(data.data), offsets.tolist()
    digests = [content_hash(cast(bytes, view[a:b])) for a, b in pairwise(bounds)]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, ID_BYTES)
