"""Prepared documents as files hold them, so that plans read their metadata and builders the few that they need.

`PREPARED`: a document a row, in the order of its shard: `row` is its place there, `bounds` and `tokens` are those of
`atoms.Prepared`, `text` is its `whole_text`. `light` leaves the text in the file: what plans are made of.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.media_shard import MEDIA, Medium
from gristmill.manifests.schema import ID_BYTES
from gristmill.synth.atoms import Prepared, Source
from gristmill.synth.media import Shown

_MEDIUM = pa.struct([MEDIA.field(name) for name in (*Medium._fields, "bytes")])

PREPARED = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("domain", pa.string(), nullable=False),
        pa.field("license", pa.string(), nullable=False),
        pa.field("content_hash", pa.binary(ID_BYTES), nullable=False),
        pa.field("cluster", pa.binary(ID_BYTES), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("bounds", pa.large_list(pa.int64()), nullable=False),
        pa.field("tokens", pa.large_list(pa.int64()), nullable=False),
        pa.field("media", pa.list_(_MEDIUM), nullable=False),
        pa.field("uncut", pa.int64(), nullable=False),
    ]
)
_EMPTY: dict[str, Any] = {"text": "", "bounds": (), "media": ()}
_LIGHT = [name for name in PREPARED.names if name not in ("text", "bounds", "media")]


def to_batch(prepared: Sequence[Prepared], rows: Sequence[int]) -> pa.RecordBatch:
    """Rows of PREPARED; `rows[i]` is the place of document i in its shard."""
    columns: dict[str, Any] = {
        "row": list(rows),
        **{name: [getattr(p.source, name) for p in prepared] for name in PREPARED.names[1:7]},
        "text": [p.text for p in prepared],
        "bounds": [p.bounds for p in prepared],
        "tokens": [p.tokens for p in prepared],
        "media": [[{**s.medium._asdict(), "bytes": s.data} for s in p.media] for p in prepared],
        "uncut": [p.uncut for p in prepared],
    }
    return pa.RecordBatch.from_arrays([pa.array(columns[f.name], f.type) for f in PREPARED], schema=PREPARED)


def light(paths: Sequence[Path]) -> Iterator[tuple[Prepared, int, int]]:
    """Every document without its text, with the number of its file and its row there."""
    for number, path in enumerate(paths):
        first = 0
        for batch in read_ipc(path):
            for at, found in enumerate(_documents(batch.select(_LIGHT))):
                yield found, number, first + at
            first += batch.num_rows


def chosen(paths: Sequence[Path], file: np.ndarray, row: np.ndarray) -> list[Prepared]:
    """The documents at these places (two int64[n]), in their order; only what is asked for is read."""
    found: list[Prepared | None] = [None] * len(file)
    for number in np.unique(file).tolist():
        at = np.flatnonzero(file == number)
        table = pa.Table.from_batches(list(read_ipc(paths[number])), PREPARED)
        taken = table.take(pa.array(row[at])).combine_chunks()
        for place, document in zip(at.tolist(), _documents(taken.to_batches()[0]), strict=True):
            found[place] = document
    return [document for document in found if document is not None]


def rows_and_tokens(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Of each document of a file its place in the shard that it was prepared from, and its tokens: two int64[n]."""
    rows, tokens = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in read_ipc(path):
        column = batch.column("tokens")
        ends = np.concatenate(([0], np.cumsum(column.flatten().to_numpy())))[np.asarray(column.offsets)]
        rows.append(batch.column("row").to_numpy())
        tokens.append(np.diff(ends))
    return np.concatenate(rows), np.concatenate(tokens)


def _documents(batch: pa.RecordBatch) -> Iterator[Prepared]:
    nothing: dict[str, list[Any]] = {name: [empty] * batch.num_rows for name, empty in _EMPTY.items()}
    columns = nothing | {name: batch.column(name).to_pylist() for name in batch.schema.names}
    for at in range(batch.num_rows):
        told = {name: columns[name][at] for name in PREPARED.names[1:7]}
        yield Prepared(
            source=Source(**told, text=""),
            text=columns["text"][at],
            bounds=tuple(columns["bounds"][at]),
            tokens=tuple(columns["tokens"][at]),
            media=tuple(map(_shown, columns["media"][at])),
            uncut=columns["uncut"][at],
        )


def _shown(told: dict[str, Any]) -> Shown:
    return Shown(Medium(**{name: told[name] for name in Medium._fields}), told["bytes"])
