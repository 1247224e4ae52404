"""A task: one piece of work with a key, the same on every engine.

`what` is the canonical description of the work (stage names, versions, parameters, digests of inputs): it
gives the key under which the result is committed, so equal work is done once and found again. `payload` says
how to do it here (paths, URLs); it never enters the key. Both are plain JSON data, so a task can be
shipped to any process. `run_task` is the one runner that every engine calls.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.canonical import key_of
from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.effects import effects_of_task
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.resources import SMALL, Resources

KINDS: Mapping[str, str] = {
    "read": "gristmill.pipeline.tasks.read_map",
    "map": "gristmill.pipeline.tasks.shard_map",
    "render": "gristmill.pipeline.tasks.render",
    "fix_ids": "gristmill.pipeline.tasks.fix_ids",
    "rename": "gristmill.pipeline.tasks.rename",
    "emit_keys": "gristmill.pipeline.tasks.exchange_emit",
    "reduce": "gristmill.pipeline.tasks.exchange_reduce",
    "census": "gristmill.pipeline.tasks.census",
    "decide": "gristmill.pipeline.tasks.decide",
    "similar_key": "gristmill.pipeline.tasks.similar_key",
    "similar_pairs": "gristmill.pipeline.tasks.similar_pairs",
    "similar_merge": "gristmill.pipeline.tasks.similar_merge",
    "similar_sets": "gristmill.pipeline.tasks.similar_sets",
    "similar_verify": "gristmill.pipeline.tasks.similar_verify",
    "similar_settle": "gristmill.pipeline.tasks.similar_settle",
    "similar_adopt": "gristmill.pipeline.tasks.similar_adopt",
    "similar_index": "gristmill.pipeline.tasks.similar_index",
    "tokenise": "gristmill.pipeline.tasks.tokenise",
    "held_once": "gristmill.pipeline.tasks.held_once",
    "media_plan": "gristmill.pipeline.tasks.media_plan",
    "media_shards": "gristmill.pipeline.tasks.media_shards",
    "pack_plan": "gristmill.pipeline.tasks.pack_plan",
    "pack_rows": "gristmill.pipeline.tasks.pack_rows",
    "synth_prepare": "gristmill.pipeline.tasks.synth_prepare",
    "synth_plan": "gristmill.pipeline.tasks.synth_plan",
    "synth_rows": "gristmill.pipeline.tasks.synth_rows",
    "synth_settle": "gristmill.pipeline.tasks.synth_settle",
}
"""Kind of task -> module with `run(task, store) -> Receipt`."""

RECORDED = "recorded_effects"
"""Of a payload: the effects to replay (`manifests.effects`), where the run replays an output that has this task."""

PARTS_FORMAT = 2
"""Of the parts of spill files (`pipeline.spill`): results of another one are made anew, not called damaged."""
_LEAVE_PARTS = (
    "emit_keys",
    "census",
    "pack_plan",
    "similar_adopt",
    "similar_pairs",
    "similar_sets",
    "synth_plan",
    "synth_prepare",
    "synth_rows",
    "tokenise",
)

_KEPT_BYTES = 512 << 20
"""Half of what a worker may take."""


@dataclass(frozen=True)
class Task:
    """One piece of work; `label` is how people see it, `bytes` a size hint for scheduling, as are `resources`."""

    kind: str
    key: str
    what: Mapping[str, Any]
    payload: Mapping[str, Any]
    label: str
    bytes: int = 0
    resources: Resources = SMALL


def make_task(kind: str, what: Mapping[str, Any], payload: Mapping[str, Any], label: str, size: int = 0) -> Task:
    """A task whose key follows from its kind and description."""
    described = {"kind": kind, **what, **({"parts_format": PARTS_FORMAT} if kind in _LEAVE_PARTS else {})}
    return Task(kind, key_of(described), described, payload, label, size)


def run_task(store: ObjectStore, task: Task) -> Receipt:
    """Do the work, or find it done. Safe to run many times and at once."""
    found = store.find(task.key)
    if found is not None:
        return found
    store.fetch(texts_of(task.payload))
    run: Callable[[Task, ObjectStore], Receipt] = importlib.import_module(KINDS[task.kind]).run
    try:
        with effects_of_task(task.payload.get(RECORDED)):
            return run(task, store)
    finally:
        # Arrow's pool keeps what it frees: 580 MB after one record of 200 MB, under every later task. To give back
        # little costs a tenth of all time, for pages have to be had anew.
        if _resident_bytes() > _KEPT_BYTES:
            pa.default_memory_pool().release_unused()


def texts_of(value: Any) -> Iterator[str]:
    """Every text in plain data: paths of files among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_of(inner)


def _resident_bytes() -> int:
    """Of this process; more than any bound where it is not told."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return sys.maxsize
    return pages * os.sysconf("SC_PAGE_SIZE")
