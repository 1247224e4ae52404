"""Which documents are held out of every emit: decided by content and seed alone.

The hash is that of the duplicate cluster (`dup_cluster`; the content hash of a document that nothing is like), so
documents that are near one another, or near one that went, are held out together. The draw is a keyed BLAKE3 with a
context of its own, independent of sampling, of sharding and of every other draw from the same seed.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from blake3 import blake3

_CONTEXT = "gristmill holdout 1"
_DRAW_BYTES = 8


def held_out(cluster: pa.FixedSizeBinaryArray, frac: float, seed: int) -> npt.NDArray[np.bool_]:
    """True for the documents held out: bool[n].

    A document is held out when its draw, an integer in [0, 2^64), is below frac * 2^64, computed exactly; so what a
    fraction holds out, every larger one does too. Raises ValueError on a fraction outside [0, 1] or a null.
    """
    if not 0.0 <= frac <= 1.0:
        raise ValueError(f"the held-out fraction must be in [0, 1], not {frac}")
    if cluster.null_count:
        raise ValueError("a document without content hash")
    key = blake3(str(seed).encode(), derive_key_context=_CONTEXT).digest()
    limit = Fraction(frac) * (1 << 8 * _DRAW_BYTES)
    draws = (blake3(h, key=key).digest(_DRAW_BYTES) for h in cluster.to_pylist())
    return np.array([int.from_bytes(d, "big") < limit for d in draws], dtype=np.bool_)
