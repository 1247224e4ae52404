"""Task `synth_plan`: the metadata of all prepared documents of a dataset -> the table of its sequences.

Made by one process. Payload: `prepared` (paths, in order), `params` (of `synth.plan.SynthParams`), `tokenizer` (spec),
`base_dir`. Leaves `plan` (Arrow IPC, spill layout with one part a shard of rows): `sequence`, `mode`, for each document
`file` (of `prepared`), `row` (in that file) and `use`, and `banks` (JSON of the tasks to plant); facts: `parts`
(sequences of each part), `documents`, `skipped` (family -> why it is not planted), `pictured` (whether some that are
have pictures).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.spill import SpillWriter
from gristmill.pipeline.synth_params import params_of
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.tokenise import known_tokenizer
from gristmill.synth.build import measure_costs
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.plan import ALL, SequencePlan, make_plans, skipped
from gristmill.synth.stored import light

PART_TOKENS = 8 << 20
LEAST_PARTS = 16
"""A part is a task: a few long sequences are to keep several workers busy, many must not make thousands of files."""

PLAN = pa.schema(
    [
        ("sequence", pa.int64()),
        ("mode", pa.string()),
        ("file", pa.list_(pa.int32())),
        ("row", pa.list_(pa.int64())),
        ("use", pa.list_(pa.int32())),
        ("banks", pa.string()),
    ]
)


def part_sizes(sequences: int, context: int) -> list[int]:
    """Sequences of each part, in order."""
    each = max(1, min(PART_TOKENS // context, -(-sequences // LEAST_PARTS)))
    return [min(each, sequences - first) for first in range(0, sequences, each)]


def _batch(plans: Sequence[SequencePlan], places: Sequence[tuple[int, int]]) -> pa.RecordBatch:
    columns: dict[str, list[Any]] = {
        "sequence": [plan.number for plan in plans],
        "mode": [plan.mode for plan in plans],
        "file": [[places[doc][0] for doc in plan.docs] for plan in plans],
        "row": [[places[doc][1] for doc in plan.docs] for plan in plans],
        "use": [plan.uses for plan in plans],
        "banks": [json.dumps([asdict(bank) for bank in plan.banks], sort_keys=True) for plan in plans],
    }
    return pa.RecordBatch.from_arrays([pa.array(columns[f.name], f.type) for f in PLAN], schema=PLAN)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    params = params_of(payload["params"])
    found = list(light([Path(p) for p in payload["prepared"]]))
    found.sort(key=lambda place: (place[0].source.content_hash, place[0].source.id))
    documents = [document for document, _, _ in found]
    lacking = skipped(params, documents)
    costs = measure_costs(known_tokenizer(task), params.image_cost, lacking)
    plans = make_plans(params, documents, costs)
    places = [(file, row) for _, file, row in found]
    sizes = part_sizes(len(plans), params.context)
    with store.begin(task.key, task.what) as writer:
        spill = SpillWriter(writer, PLAN)
        first = 0
        for size in sizes:
            spill.part([_batch(plans[first : first + size], places)])
            first += size
        spill.close("plan")
        planted = {bank.family for plan in plans for bank in plan.banks}
        asked = set(FAMILIES if params.families == ALL else params.families)
        told = {name: lacking.get(name, "found no room") for name in sorted(asked - planted)}
        pictured = any(FAMILIES[name].pictured for name in planted)
        return writer.commit({"parts": sizes, "documents": len(found), "skipped": told, "pictured": pictured})
