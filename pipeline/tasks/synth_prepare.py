"""Task `synth_prepare`: one shard of documents -> those that sequences can be made of, cut into atoms.

Payload: `shard` (path), `tokenizer` (spec), `base_dir`, `holdout` (null, or `frac` and `seed`), `image_cost`,
`medium_limit` (tokens). Leaves `prepared` (Arrow IPC of `synth.stored.PREPARED`, mapped by who builds sequences) and
`refused` (`row` in the shard, `reason`); documents that are held out are in neither. Facts: `documents` and `tokens` of
`prepared`, `longest_medium` (tokens).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.effects import facts_of_effects
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.ipc import IpcShards
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.shard import read_numbered
from gristmill.manifests.tokenizer import Tokenizer
from gristmill.pipeline.held_documents import held_rows
from gristmill.pipeline.media_places import MediaPlaces, MediaRules, Place, media_places
from gristmill.pipeline.spill import write_one
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.tokenise import known_tokenizer
from gristmill.stages.chain import Ints
from gristmill.synth.atoms import Source, prepare
from gristmill.synth.media import Shown
from gristmill.synth.stored import PREPARED, to_batch

REFUSED = pa.schema([("row", pa.int64()), ("reason", pa.string())])
_TOLD = ("id", "source", "domain", "license", "content_hash", "text")
_COLUMNS = (*_TOLD, "dup_cluster", "media")


def _sources(batch: pa.RecordBatch, places: MediaPlaces) -> list[Source]:
    """The rows of a batch; a medium that has no place is None, and cut."""
    told = {name: batch.column(name).to_pylist() for name in _TOLD}
    clusters = pc.coalesce(batch.column("dup_cluster"), batch.column("content_hash")).to_pylist()
    counts = pc.fill_null(pc.list_value_length(batch.column("media")), 0).to_pylist()
    sources: list[Source] = []
    for at in range(batch.num_rows):
        names = {name: told[name][at] or "" for name in _TOLD if name != "content_hash"}
        media = tuple(_shown(place) for place in places.of_row.get(at) or [None] * counts[at])
        sources.append(Source(**names, content_hash=told["content_hash"][at], cluster=clusters[at], media=media))
    return sources


def _shown(place: Place | None) -> Shown | None:
    return None if place is None else Shown(place.medium, bytes(place.data))


class _Prepare:
    """The state of one task: `refused` as REFUSED."""

    def __init__(self, payload: Mapping[str, Any], tokenizer: Tokenizer) -> None:
        self._payload = payload
        self._tokenizer = tokenizer
        self._cost = ImageCost(**payload["image_cost"])
        self.refused: list[tuple[int, str]] = []
        self.documents = self.tokens = self.longest_medium = 0

    def prepare(self, batch: pa.RecordBatch, numbers: Ints) -> pa.RecordBatch:
        """Rows of PREPARED of a batch of the shard, whose rows have these numbers."""
        stay = np.flatnonzero(~held_rows(batch, self._payload["holdout"]))
        batch, numbers = batch.take(pa.array(stay)), numbers[stay]
        places = media_places(batch, MediaRules(self._cost, self._payload["medium_limit"]))
        found = (place.tokens for of_row in places.of_row.values() for place in of_row if place is not None)
        self.longest_medium = max(self.longest_medium, *found, 0)
        self.refused += [(int(numbers[row]), v.reason) for row, v in sorted(places.verdicts.items())]
        rows = [row for row in range(batch.num_rows) if row not in places.verdicts]
        found = _sources(batch, places)
        sources = [found[row] for row in rows]
        where = {found[row].id: int(numbers[row]) for row in rows}
        prepared, why = prepare(sources, self._tokenizer, self._cost)
        self.refused += sorted((where[name], reason) for name, reason in why.items())
        self.documents += len(prepared)
        self.tokens += sum(p.total for p in prepared)
        return to_batch(prepared, [where[p.source.id] for p in prepared])


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    state = _Prepare(task.payload, known_tokenizer(task))
    with store.begin(task.key, task.what) as writer:
        shards = IpcShards(writer, "prepared", PREPARED)
        for batch, numbers in read_numbered(Path(task.payload["shard"]), _COLUMNS):
            shards.write(state.prepare(batch, numbers.astype(np.int64)))
        shards.close()
        told = [[row for row, _ in state.refused], [reason for _, reason in state.refused]]
        columns = [pa.array(values, field.type) for values, field in zip(told, REFUSED, strict=True)]
        write_one(writer, "refused", REFUSED, [pa.RecordBatch.from_arrays(columns, schema=REFUSED)])
        counts = {name: getattr(state, name) for name in ("documents", "tokens", "longest_medium")}
        return writer.commit({**counts, **facts_of_effects()})
