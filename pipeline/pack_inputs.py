"""What packing reads of tokenised documents: lengths, keys, domains, and the inside of those that may be cut.

In: files of TOKENISED; out: `Documents`, in the order of the files. Ids are not read. Memory: some 60 bytes a
document, and the breaks of those that are longer than a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import InputError
from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.schema import id_bytes
from gristmill.pipeline.cut import Ints, Structure
from gristmill.pipeline.exchange_rows import words
from gristmill.pipeline.pack import Keys

_COLUMNS = ("n_tokens", "content_hash", "id", "domain", "media", "breaks")
_SPAN = ("token_start", "token_len")


@dataclass(frozen=True)
class Documents:
    """n documents. lengths, image_tokens: int64[n]; keys: uint64[n, 4], content hash and id; domain: int64[n] indices
    into `names`, "" for none; structure: of those longer than the context; shard, row: where each stands."""

    lengths: Ints
    image_tokens: Ints
    keys: Keys
    domain: Ints
    names: tuple[str, ...]
    structure: Structure
    shard: npt.NDArray[np.int32]
    row: Ints


def read_documents(paths: Sequence[Path], context: int) -> Documents:
    """All documents of these files. Raises InputError where one has a medium that is longer than a row."""
    parts = [_of_table(_table(path), context) for path in paths]
    names = sorted({name for part in parts for name in part.names})
    domain = [np.array([names.index(n) for n in p.names], np.int64)[p.domain] for p in parts]
    counts = [len(p.lengths) for p in parts]
    none = np.zeros(0, np.int64)
    return Documents(
        lengths=np.concatenate([none, *(p.lengths for p in parts)]),
        image_tokens=np.concatenate([none, *(p.image_tokens for p in parts)]),
        keys=np.concatenate([np.zeros((0, 4), np.uint64), *(p.keys for p in parts)]),
        domain=np.concatenate([none, *domain]),
        names=tuple(names),
        structure=_joined([p.structure for p in parts]),
        shard=np.repeat(np.arange(len(counts), dtype=np.int32), counts),
        row=np.concatenate([none, *(np.arange(n, dtype=np.int64) for n in counts)]),
    )


def _table(path: Path) -> pa.Table:
    batches = [batch.select(list(_COLUMNS)) for batch in read_ipc(path)]
    return pa.Table.from_batches(batches).combine_chunks()


def _of_table(table: pa.Table, context: int) -> Documents:
    lengths = table.column("n_tokens").to_numpy().astype(np.int64)
    ids = id_bytes(table.column("id").combine_chunks())
    domain = pc.fill_null(table.column("domain").cast(pa.string()), "").combine_chunks().dictionary_encode()
    none = np.zeros(table.num_rows, np.int64)
    return Documents(
        lengths=lengths,
        image_tokens=_image_tokens(table.column("media").combine_chunks()),
        keys=np.stack([*words(table.column("content_hash")), *words(ids)], axis=1),
        domain=domain.indices.to_numpy().astype(np.int64),
        names=tuple(domain.dictionary.to_pylist()),
        structure=_structure(table, lengths > context, context),
        shard=none.astype(np.int32),
        row=none,
    )


def _structure(table: pa.Table, is_long: npt.NDArray[np.bool_], context: int) -> Structure:
    chosen = table.filter(pa.array(is_long))
    breaks, media = (chosen.column(name).combine_chunks() for name in ("breaks", "media"))
    start, length = _spans(media)
    too_long = np.flatnonzero(length > context)
    if len(too_long):
        row = int(np.searchsorted(np.cumsum(_lengths(media)), too_long[0], side="right"))
        raise InputError(
            "a medium has more tokens than a row",
            where=f"document {chosen.column('id')[row]}",
            value=f"{length[too_long[0]]} tokens, rows have {context}",
            remedy="raise the context, or lower the size in which the model sees media",
        )
    breaks_of, media_of = (_bounds(is_long, _lengths(lists)) for lists in (breaks, media))
    return Structure(breaks_of, breaks.flatten().to_numpy(), media_of, start, length)


def _bounds(is_long: npt.NDArray[np.bool_], lengths: Ints) -> Ints:
    counts = np.zeros(len(is_long), np.int64)
    counts[is_long] = lengths
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))


def _lengths(lists: pa.Array) -> Ints:
    return pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)


def _spans(media: pa.Array) -> tuple[Ints, Ints]:
    """(token_start, token_len) of all media."""
    items = media.flatten()
    start, length = (items.field(name).cast(pa.int64()).to_numpy(zero_copy_only=False) for name in _SPAN)
    return start, length


def _image_tokens(media: pa.Array) -> Ints:
    sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(_spans(media)[1])))
    return np.diff(sums[np.concatenate((np.zeros(1, np.int64), np.cumsum(_lengths(media))))])


def _joined(parts: Sequence[Structure]) -> Structure:
    def bounds(lists: list[Ints]) -> Ints:
        return np.concatenate(
            (np.zeros(1, np.int64), np.cumsum(np.concatenate([np.zeros(0, np.int64), *map(np.diff, lists)])))
        )

    def items(lists: list[Ints]) -> Ints:
        return np.concatenate([np.zeros(0, np.int64), *lists])

    return Structure(
        bounds([p.breaks_of for p in parts]),
        items([p.breaks for p in parts]),
        bounds([p.media_of for p in parts]),
        items([p.media_start for p in parts]),
        items([p.media_len for p in parts]),
    )
