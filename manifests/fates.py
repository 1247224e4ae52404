"""What became of every record of a dataset: kept, or gone at a step for a reason.

A `Fates` lists, sorted by id, one entry for each place where a record stands: a row of the kept documents (for
trainer rows: a document that stands in rows), or a row of the ledger. A sound dataset has each id once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.scan import (
    Part,
    Words,
    doc_ids,
    id_words,
    named_paths,
    read_columns,
    sort_by_id,
    valid_ids,
)

Cell = tuple[str, str, str]
"""(verdict, step, reason)."""

KEPT: Cell = ("keep", "", "")


@dataclass(frozen=True)
class Fates:
    """Entries sorted by id: its two words, the index of the fate in `cells`, and 64 bits of the content hash.

    `cells[0]` is KEPT. Trainer rows have no content here: it is 0.
    """

    first: Words
    second: Words
    cell: npt.NDArray[np.int32]
    content: Words
    cells: list[Cell]


@dataclass
class _Gathered:
    """Arrays of a part, batch by batch."""

    part: Part
    cells: dict[Cell, int]
    columns: list[tuple[Words, Words, npt.NDArray[np.int32], Words]]

    def add(self, ids: pa.StringArray, cell: npt.NDArray[np.int32], content: Words) -> None:
        valid = valid_ids(ids)
        if not valid.all():
            ids, cell, content = ids.filter(pa.array(valid)), cell[valid], content[valid]
        first, second = id_words(ids)
        mine = self.part.holds(first)
        self.columns.append((first[mine], second[mine], cell[mine], content[mine]))


def read_fates(folder: Path, manifest: Mapping[str, Any], part: Part) -> Fates:
    """The fates of the records whose ids fall into a part; malformed ids are left out.

    Raises VerifyError when a file cannot be read.
    """
    gathered = _Gathered(part, {KEPT: 0}, [])
    if manifest["kind"] == "rows":
        _placed(folder, manifest, gathered)
    else:
        for path in named_paths(folder, manifest, "shards"):
            for batch in read_columns(path, ("id", "content_hash")):
                kept = np.zeros(batch.num_rows, np.int32)
                gathered.add(batch.column("id"), kept, _content(batch.column("content_hash")))
    for path in named_paths(folder, manifest, "ledger"):
        for batch in read_columns(path, ("id", "verdict", "step", "reason")):
            gathered.add(batch.column("id"), _cells(batch, gathered.cells), np.zeros(batch.num_rows, np.uint64))
    fates = _sorted(gathered)
    # A document stands in several rows, or several times in one.
    return _once_kept(fates) if manifest["kind"] == "rows" and not manifest["tokenised"] else fates


def _once_kept(fates: Fates) -> Fates:
    # Sorting is stable and the kept were read first: what stands before a kept entry of the same id is kept, too.
    new = ~(same_as_before(fates) & (fates.cell == 0))
    return Fates(fates.first[new], fates.second[new], fates.cell[new], fates.content[new], fates.cells)


def same_as_before(fates: Fates) -> npt.NDArray[np.bool_]:
    """Which entries have the id of the entry before them."""
    same = np.zeros(len(fates.first), np.bool_)
    same[1:] = (fates.first[1:] == fates.first[:-1]) & (fates.second[1:] == fates.second[:-1])
    return same


def _placed(folder: Path, manifest: Mapping[str, Any], gathered: _Gathered) -> None:
    """The documents of a dataset of rows: by its tokenised documents, else by what the rows name."""
    tokenised = bool(manifest["tokenised"])
    for path in named_paths(folder, manifest, "tokenised" if tokenised else "shards"):
        for batch in read_columns(path, ("id" if tokenised else "docs",)):
            ids = batch.column(0) if tokenised else doc_ids(batch.column(0))
            gathered.add(ids, np.zeros(len(ids), np.int32), np.zeros(len(ids), np.uint64))


def _content(hashes: pa.FixedSizeBinaryArray) -> Words:
    if not len(hashes):
        return np.zeros(0, np.uint64)
    filled = hashes.fill_null(bytes(16)) if hashes.null_count else hashes
    raw = np.frombuffer(filled.buffers()[1], dtype=">u8")
    return raw[2 * filled.offset : 2 * (filled.offset + len(filled)) : 2].astype(np.uint64)


def _cells(batch: pa.RecordBatch, cells: dict[Cell, int]) -> npt.NDArray[np.int32]:
    """The fate of each ledger row as an index, new fates entered into `cells`."""
    columns = [pc.fill_null(batch.column(name), "").dictionary_encode() for name in ("verdict", "step", "reason")]
    codes = np.stack([c.indices.to_numpy(zero_copy_only=False) for c in columns], axis=1)
    words = [c.dictionary.to_pylist() for c in columns]
    distinct, place = np.unique(codes, axis=0, return_inverse=True)
    index = [cells.setdefault((words[0][v], words[1][s], words[2][r]), len(cells)) for v, s, r in distinct.tolist()]
    return np.array(index, dtype=np.int32)[place.reshape(-1)]


def _sorted(gathered: _Gathered) -> Fates:
    columns = gathered.columns
    first = np.concatenate([np.zeros(0, np.uint64), *(c[0] for c in columns)])
    second = np.concatenate([np.zeros(0, np.uint64), *(c[1] for c in columns)])
    cell = np.concatenate([np.zeros(0, np.int32), *(c[2] for c in columns)])
    content = np.concatenate([np.zeros(0, np.uint64), *(c[3] for c in columns)])
    columns.clear()
    order = sort_by_id(first, second)
    return Fates(first[order], second[order], cell[order], content[order], list(gathered.cells))
