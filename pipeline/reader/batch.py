"""A batch of rows as a trainer takes it: ids, and what follows from the sides of the rows, made when asked for.

`tokens` is int32[b, context]: ids are stored as uint32, and none is above 2^31. It is a torch tensor where the stream
hands out those; all else is numpy:

    segment_ids   int32[b, context]: the attention group, -1 on padding; tokens may attend to earlier ones of it alone
    positions     int32[b, context]: from 0 within each attention group, 0 on padding
    loss_mask     float32[b, context]: the weight of each token as a *target*: 1 unless a loss span says otherwise; 0 on
                  padding and on the first token of an attention group, which nothing that it may see comes before
    provenance    for each row what it is made of (`Provenance`), read when asked for
    media         for each row the list of its pictures and videos (`pipeline.reader.media`), made when asked for
    cu_seqlens    int32[groups + 1] (int64 where a batch has 2^31 tokens or more): bounds of the runs of one attention
                  group through all rows, one behind the other (row i's tokens begin at i * context; padding is a run of
                  its own), as kernels for packed rows want
    n_tokens      int64[b]: valid tokens of each row
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.pipeline.reader.media import MediaSource, RowMedium, media_of
from gristmill.pipeline.reader.sides import RawSides, Sides

Ints = npt.NDArray[np.int64]

_INT32_MAX = (1 << 31) - 1


@dataclass(frozen=True)
class Provenance:
    """Where a row comes from: its global index, the source that it was drawn of, its number in its dataset, and what
    it says of itself: `docs` (id, source, domain, license, content_hash, n_tokens_total, use_no) and `segments` (start,
    end, kind, attn_group, doc_idx, doc_offset, media_idx)."""

    index: int
    source: str
    row: int
    row_id: bytes
    docs: Sequence[Mapping[str, Any]]
    segments: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Batch:
    """See the module. `first` is the global index of the batch's first row over all ranks, `indices` those of this
    rank's rows; `stage` counts from 0; `source` names the dataset of each row, `row` is its number there."""

    tokens: Any
    first: int
    stage: int
    indices: Ints
    source: tuple[str, ...]
    row: Ints
    raw: tuple[tuple[Ints, RawSides], ...]
    """(rows of the batch, their sides) for each dataset that takes part."""
    datasets: Mapping[str, MediaSource] = field(default_factory=dict[str, MediaSource])
    """Where the media of the sources are."""
    free: Callable[[], None] | None = field(default=None, repr=False, compare=False)

    def release(self) -> None:
        """Hand `tokens` back, to be filled anew for a batch to come: nobody may read them any more. Not needed; it
        spares the trainer fresh memory for each batch."""
        if self.free is not None:
            self.free()
            object.__setattr__(self, "free", None)  # twice, and two batches would share the memory

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "free": None}

    @property
    def context(self) -> int:
        """Tokens in a row."""
        return int(self.tokens.shape[1])

    @cached_property
    def sides(self) -> list[tuple[Ints, Sides]]:
        """Segments, loss spans and media, as `raw`."""
        return [(rows, raw.decoded()) for rows, raw in self.raw]

    @cached_property
    def runs(self) -> Ints:
        """int64[k, 4], sorted: row in the batch, start, end, attention group of each run of tokens of one group."""
        parts: list[Ints] = []
        for rows, sides in self.sides:
            of_row = np.repeat(rows, np.diff(sides.segment_bounds))
            parts.append(np.column_stack([of_row, sides.segments[:, [0, 1, 3]]]))
        segments = np.concatenate([np.empty((0, 4), np.int64), *parts])
        segments = segments[np.lexsort((segments[:, 1], segments[:, 0]))]
        if not len(segments):
            return segments
        new = np.ones(len(segments), dtype=np.bool_)
        new[1:] = (segments[1:, [0, 3]] != segments[:-1, [0, 3]]).any(axis=1)
        starts = np.flatnonzero(new)
        last = np.append(starts[1:], len(segments)) - 1
        return np.column_stack([segments[starts][:, :2], segments[last, 2], segments[starts, 3]])

    @cached_property
    def n_tokens(self) -> Ints:
        """int64[b]: valid tokens of each row."""
        out = np.zeros(len(self.row), dtype=np.int64)
        np.maximum.at(out, self.runs[:, 0], self.runs[:, 2])
        return out

    @cached_property
    def segment_ids(self) -> npt.NDArray[np.int32]:
        """int32[b, context]; see the module."""
        out = np.full((len(self.row), self.context), -1, dtype=np.int32)
        for row, start, end, group in self.runs.tolist():
            out[row, start:end] = group
        return out

    @cached_property
    def positions(self) -> npt.NDArray[np.int32]:
        """int32[b, context]; see the module."""
        out = np.zeros((len(self.row), self.context), dtype=np.int32)
        seen: dict[tuple[int, int], int] = {}
        for row, start, end, group in self.runs.tolist():
            first = seen.get((row, group), 0)
            out[row, start:end] = np.arange(first, first + end - start, dtype=np.int32)
            seen[row, group] = first + end - start
        return out

    @cached_property
    def loss_mask(self) -> npt.NDArray[np.float32]:
        """float32[b, context]; see the module."""
        out = np.zeros((len(self.row), self.context), dtype=np.float32)
        for row, start, end, _ in self.runs.tolist():
            out[row, start:end] = 1
        for rows, sides in self.sides:
            of_row = np.repeat(rows, np.diff(sides.loss_bounds))
            spans = zip(of_row.tolist(), sides.loss.tolist(), sides.weight.tolist(), strict=True)
            for row, (start, end), weight in spans:
                out[row, start:end] = weight
        seen: set[tuple[int, int]] = set()
        for row, start, _, group in self.runs.tolist():
            if (row, group) not in seen:
                out[row, start] = 0
                seen.add((row, group))
        return out

    @cached_property
    def media(self) -> list[list[RowMedium]]:
        """For each row its media (`pipeline.reader.media`). Rows without cost nothing; no bytes are read. Raises
        CorruptRowError."""
        found: list[list[RowMedium]] = [[] for _ in range(len(self.row))]
        for rows, sides in self.sides:
            for i in rows[np.diff(sides.media_bounds) > 0].tolist():
                found[i] = media_of([int(self.row[i])], self.datasets[self.source[i]])[0]
        return found

    @cached_property
    def provenance(self) -> list[Provenance]:
        """Of each row; its record batch is read for it. Raises CorruptRowError."""
        found: list[Provenance] = []
        for index, source, row in zip(self.indices.tolist(), self.source, self.row.tolist(), strict=True):
            said = self.datasets[source].dataset().documents(row)
            found.append(Provenance(index, source, row, said["row_id"], said["docs"], said["segments"]))
        return found

    @cached_property
    def cu_seqlens(self) -> npt.NDArray[np.int32] | Ints:
        """int32[groups + 1], or int64; see the module."""
        ends = self.runs[:, 0] * self.context + self.runs[:, 2]
        rows = np.arange(len(self.row) + 1) * self.context
        bounds = np.unique(np.concatenate([ends, rows]))
        return bounds if bounds[-1] > _INT32_MAX else bounds.astype(np.int32)

    def __len__(self) -> int:
        return len(self.row)
