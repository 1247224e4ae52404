"""The documents of a shard that no emit may see, kept apart as a task goes through it.

Leaves `heldout` (Parquet of schema.DOCUMENT) and in the receipt `heldout`: `stats` (of `row_pass`) and `sources`
(`{source: [records, chars]}`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.commit import ObjectWriter
from gristmill.manifests.schema import DOCUMENT
from gristmill.manifests.shard import ParquetShards
from gristmill.pipeline.account import rows_by_source
from gristmill.pipeline.holdout import held_out
from gristmill.pipeline.row_pass import Stats
from gristmill.stages.chain import Fate, Ints, count_chars

NAN = float("nan")

Bools = npt.NDArray[np.bool_]


def held_rows(batch: pa.RecordBatch, holdout: Mapping[str, Any] | None) -> Bools:
    """Which rows of a batch are held out; `holdout` as recipes have it (`frac`, `seed`), None for nothing."""
    if holdout is None:
        return np.zeros(batch.num_rows, dtype=np.bool_)
    cluster = pc.coalesce(batch.column("dup_cluster"), batch.column("content_hash"))
    return held_out(cluster, holdout["frac"], holdout["seed"])


class HeldDocuments:
    """See the module."""

    def __init__(self, holdout: Mapping[str, Any] | None, writer: ObjectWriter) -> None:
        self._holdout = holdout
        self._shards = ParquetShards(writer, "heldout", DOCUMENT)
        self._stats = Stats()
        self._sources: dict[str, list[int]] = {}

    def take(self, batch: pa.RecordBatch, fates: dict[int, Fate], chars: Ints) -> Bools:
        """Keep those of a batch that are held out, each with its fate; which they are."""
        held = held_rows(batch, self._holdout)
        if self._holdout is None or not held.any():
            return held
        for row in np.flatnonzero(held).tolist():
            fates[row] = Fate(row, 0, "drop", "holdout", "", NAN, self._holdout["frac"], "")
        self.keep(batch.filter(pa.array(held)), chars[held])
        return held

    def keep(self, part: pa.RecordBatch, chars: Ints | None = None) -> None:
        """Keep documents that are held out; `chars` of their texts, where known."""
        of_part = count_chars(part) if chars is None else chars
        self._shards.write(part.select(DOCUMENT.names))
        self._stats.add(part, of_part)
        for source, at in rows_by_source(part):
            total = self._sources.setdefault(source, [0, 0])
            total[0] += len(at)
            total[1] += int(of_part[at].sum())

    def close(self) -> dict[str, Any]:
        """Close the file; the facts."""
        self._shards.close()
        return {"stats": self._stats.to_json(), "sources": dict(sorted(self._sources.items()))}
