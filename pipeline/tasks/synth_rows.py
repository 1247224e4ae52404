"""Task `synth_rows`: some planned sequences and the documents that they name -> proved trainer rows.

Payload: `plan` (path), `part`, `prepared` (paths, in the plan's order), `params`, `tokenizer` (spec), `base_dir`,
`identity` (of the tokenizer, as data), `stage`, `image_cost`, and where it is not none `compression`. Leaves `rows`
(Arrow IPC of packed_schema), `row_indexes`, `placed` (`file`, `row`, `made`: each document that stands in a row, once,
and those that were to stand in discarded ones, not made), and the media that rows show (`media_spill`); facts: `rows`,
`n_tokens`, `unasked` (questions left out, of which a window knows too much), `discarded` (reason -> sequences), `tasks`
(family -> number), `classes`, `modes` (mode -> rows), `media_tokens`, `bucket` (`documents`, `tokens`, `image_tokens`,
as manifests count them).
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.effects import facts_of_effects
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.ipc import IpcShards
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.trainer_schema import TokenizerIdentity, TrainerFormat, packed_schema
from gristmill.pipeline.media_places import Place as MediaPlace
from gristmill.pipeline.media_spill import MediaSpill
from gristmill.pipeline.spill import read_part, write_one
from gristmill.pipeline.synth_params import params_of
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.tokenise import known_tokenizer
from gristmill.synth.build import Discarded, build_with_media
from gristmill.synth.plan import BankPlan, SequencePlan
from gristmill.synth.protocol import Size
from gristmill.synth.stored import chosen

PLACED = pa.schema([("file", pa.int32()), ("row", pa.int64()), ("made", pa.bool_())])

Place = tuple[int, int]


@dataclass
class _Counts:
    """What the rows of a task hold."""

    rows: int = 0
    n_tokens: int = 0
    unasked: int = 0
    discarded: Counter[str] = field(default_factory=Counter[str])
    tasks: Counter[str] = field(default_factory=Counter[str])
    classes: Counter[str] = field(default_factory=Counter[str])
    modes: Counter[str] = field(default_factory=Counter[str])
    bucket: Counter[str] = field(default_factory=lambda: Counter(documents=0, tokens=0, image_tokens=0))

    def add(self, row: pa.RecordBatch, mode: str) -> None:
        """A row."""
        segments = row.column("segments")[0].as_py()
        texts = [s for s in segments if s["kind"] != "separator"]
        self.rows += 1
        self.n_tokens += row.column("n_tokens")[0].as_py()
        self.modes[mode] += 1
        self.bucket["documents"] += sum(s["doc_offset"] == 0 for s in texts)
        self.bucket["tokens"] += sum(s["end"] - s["start"] for s in texts)
        self.bucket["image_tokens"] += sum(m["token_len"] for m in row.column("media")[0].as_py())
        tasks = row.column("tasks")[0].as_py()
        self.tasks.update(t["family"] for t in tasks)
        self.classes.update(t["klass"] for t in tasks)

    def facts(self) -> dict[str, Any]:
        """For the receipt."""
        return {name: dict(sorted(v.items())) if isinstance(v, Counter) else v for name, v in vars(self).items()}


def _plans(table: pa.Table) -> Iterator[tuple[SequencePlan, list[Place]]]:
    """The plans of a part, each with the places of its documents; `docs` still have to be numbered."""
    for told in table.to_pylist():
        banks = tuple(
            BankPlan(b["family"], Size(**b["size"]), b["asked"], tuple(b["docs"])) for b in json.loads(told["banks"])
        )
        plan = SequencePlan(told["sequence"], told["mode"], (), tuple(told["use"]), banks)
        yield plan, list(zip(told["file"], told["row"], strict=True))


def _numbered(plan: SequencePlan, places: Sequence[Place], at: dict[Place, int]) -> SequencePlan:
    return SequencePlan(plan.number, plan.mode, tuple(at[p] for p in places), plan.uses, plan.banks)


def _placed(drawn: dict[Place, bool]) -> pa.RecordBatch:
    places = sorted(drawn)
    columns = [[file for file, _ in places], [row for _, row in places], [drawn[p] for p in places]]
    arrays = [pa.array(values, f.type) for values, f in zip(columns, PLACED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PLACED)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    params, tokenizer = params_of(payload["params"]), known_tokenizer(task)
    identity, cost = TokenizerIdentity(**payload["identity"]), ImageCost(**payload["image_cost"])
    form = TrainerFormat(params.context, identity, payload["stage"], cost)
    paths = [Path(p) for p in payload["prepared"]]
    counts = _Counts()
    drawn: dict[Place, bool] = {}
    with store.begin(task.key, task.what) as writer:
        media = MediaSpill(writer)
        shards = IpcShards(writer, "rows", packed_schema(form), "row_indexes", payload.get("compression", "none"))
        for plan, places in _plans(pa.Table.from_batches(list(read_part(Path(payload["plan"]), payload["part"])))):
            file, row = np.array(places, np.int64).reshape(-1, 2).T
            documents = chosen(paths, file, row)
            here = _numbered(plan, places, {place: at for at, place in enumerate(places)})
            try:
                built = build_with_media(here, params, documents, tokenizer, form)
            except Discarded as error:
                counts.discarded[error.reason] += 1
                drawn |= {place: drawn.get(place, False) for place in places}
                continue
            made = built.row
            counts.unasked += built.unasked
            for shown in built.media.values():
                media.add(MediaPlace(shown.medium, 0, memoryview(shown.data)))
            ids = {d["id"] for d in made.column("docs")[0].as_py()}
            drawn |= {p: True for p, d in zip(places, documents, strict=True) if d.source.id in ids}
            counts.add(made, plan.mode)
            shards.write(made)
        shards.close()
        media.close()
        write_one(writer, "placed", PLACED, [_placed(drawn)])
        images = counts.bucket["image_tokens"]
        return writer.commit({**counts.facts(), "media_tokens": images, **facts_of_effects()})
