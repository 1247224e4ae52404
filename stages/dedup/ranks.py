"""The rank of a record as bytes that sort: keeper's policy, then content hash, then id.

Columns in: `id` (hex of 16 bytes), `content_hash` (16 bytes), and those of the policy. Exchanges begin their `order`
with it, so that which copy stays depends on nothing else.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.schema import ID_BYTES
from gristmill.stages.columns import bytes_of
from gristmill.stages.dedup import keeper
from gristmill.stages.dedup.shingles import EXACT_DOMAINS
from gristmill.stages.kernels.buffers import text_buffers

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

_NO_DIGIT = 255


def columns_of(keep: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that `rank_bytes` reads, each once."""
    return tuple(dict.fromkeys(("id", "content_hash", *keeper.columns_of(keep))))


def rank_width(keep: tuple[str, ...]) -> int:
    """Bytes of a rank; the last 16 are the id, the 16 before them the content hash."""
    return keeper.order_bytes(keep) + 2 * ID_BYTES


def rank_bytes(batch: pa.RecordBatch, keep: tuple[str, ...], where: str) -> Bytes:
    """(n, rank_width(keep)) uint8. Raises GristmillError on an id that is not 32 hex digits, or a null."""
    ids = _id_bytes(batch.column("id"), where)
    return np.concatenate([keeper.rank_bytes(batch, keep), content_bytes(batch, where), ids], axis=1)


def content_bytes(batch: pa.RecordBatch, where: str) -> Bytes:
    """Content hashes (n, 16). Raises GristmillError on a null."""
    hashes = batch.column("content_hash")
    if hashes.null_count:
        raise GristmillError("a record without content_hash", where=where)
    return bytes_of(hashes)


def is_of_domain(domain: pa.Array, names: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Whether a row is of one of these domains; not so where it has none."""
    given = domain.dictionary_decode() if pa.types.is_dictionary(domain.type) else domain
    return pc.is_in(given, value_set=pa.array(names, given.type)).to_numpy(zero_copy_only=False)


def is_exact_domain(domain: pa.Array) -> npt.NDArray[np.bool_]:
    """Whether a row is of a domain in which nothing but white space is normalised."""
    return is_of_domain(domain, EXACT_DOMAINS)


def _nibbles() -> Bytes:
    table = np.full(256, _NO_DIGIT, dtype=np.uint8)
    for value, digit in enumerate("0123456789abcdef"):
        table[ord(digit)] = value
    return table


_NIBBLE = _nibbles()


def _id_bytes(ids: pa.Array, where: str) -> Bytes:
    """The 16 bytes of each id, (n, 16)."""
    data, offsets = text_buffers(ids)
    if ids.null_count or (np.diff(offsets) != 2 * ID_BYTES).any():
        raise GristmillError("an id that is not 32 hex digits", where=where)
    digits = _NIBBLE[data[offsets[0] : offsets[-1]]].reshape(-1, ID_BYTES, 2)
    if (digits == _NO_DIGIT).any():
        raise GristmillError("an id that is not 32 lower-case hex digits", where=where)
    return np.bitwise_or(digits[:, :, 0] << np.uint8(4), digits[:, :, 1], dtype=np.uint8)
