"""An exchange over committed shards as tasks: emit keys shard by shard, reduce partition by partition, and cut what
that gives into the shares of the shards.

An address is `(place << 32) | row` inside the frozen plan. The place of a shard is its number there, or one that its
content gives it (`places_of`); what a task's key says of verdicts never holds one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.exchange_rows import partitions_for
from gristmill.pipeline.task import Task, make_task
from gristmill.pipeline.verdicts import read_verdicts

SHARD_ADDR_BITS = 32
_LEAST_PLACE_BITS = 8
REPEATED_IDS = {"stage": "repeated_ids", "params": {}, "fingerprint": {"stage": "repeated_ids", "version": 1}}


@dataclass(frozen=True)
class ShardDrops:
    """The verdicts of an exchange that concern one shard: file ranges, the shard's base address, a digest."""

    ranges: list[list[Any]]
    base: int
    digest: str


@dataclass(frozen=True)
class Found:
    """The verdicts of a corpus-wide stage on each shard, what else there is to tell (manifest `facts`), and what is to
    be put in place when the dataset is published (an index)."""

    drops: list[ShardDrops]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    save: Callable[[], None] | None = None


def exchange_shards(
    ctx: Context,
    label: str,
    step: Mapping[str, Any],
    shards: Sequence[ShardRef],
    role: str,
    found: Sequence[ShardDrops] | None = None,
) -> list[Receipt]:
    """Run an exchange over shards (documents, or `idkeys` files); the receipts of its partitions.

    `step` holds `stage`, `params`, `part` (for the worker) and `fingerprint` (for the key); `found` is what the round
    before found in each shard.
    """
    emits, parts = emit_tasks(ctx, label, step, shards, role, found)
    return ctx.exchange(reduce_tasks(ctx, label, step, ctx.map(emits), parts))


def _described(step: Mapping[str, Any], role: str, parts: int) -> dict[str, Any]:
    return {"exchange": step["fingerprint"], "part": step.get("part", ""), "format": role, "parts": parts}


def _worker_spec(step: Mapping[str, Any]) -> dict[str, Any]:
    return {name: step.get(name, "") for name in ("stage", "params", "part")}


def emit_tasks(
    ctx: Context,
    label: str,
    step: Mapping[str, Any],
    shards: Sequence[ShardRef],
    role: str,
    found: Sequence[ShardDrops] | None = None,
) -> tuple[list[Task], int]:
    """The emitting tasks of an exchange, one a shard, and the number of its partitions."""
    parts = partitions_for(step.get("rows_each", 1) * sum(s.entry.rows for s in shards))
    described, exchange = _described(step, role, parts), _worker_spec(step)
    tasks: list[Task] = []
    for i, shard in enumerate(shards):
        mine = found[i] if found is not None else None
        task = make_task(
            "emit_keys",
            {**described, "input": shard.entry.digest, **({"found": mine.digest} if mine else {})},
            {
                "exchange": exchange,
                "format": role,
                "parts": parts,
                "input": str(shard.path),
                "base_dir": ctx.base_dir,
                "found": {"ranges": mine.ranges, "base": mine.base} if mine else None,
            },
            f"{label} keys {i + 1}/{len(shards)}",
            shard.entry.bytes,
        )
        tasks.append(task)
    return tasks, parts


def places_of(digests: Sequence[str]) -> list[int]:
    """A place for each shard by its content, so that it seldom moves when others come or go: a hash of its digest, and
    where that is taken the next free one. There are 16 to 256 times as many places as shards."""
    bits = max(_LEAST_PLACE_BITS, -(-(len(digests).bit_length() + 4) // 4) * 4)
    places, taken = [0] * len(digests), set[int]()
    for shard in sorted(range(len(digests)), key=lambda i: (digests[i], i)):
        place = int.from_bytes(blake3(digests[shard].encode()).digest(4), "big") >> (32 - bits)
        while place in taken:
            place = (place + 1) % (1 << bits)
        taken.add(place)
        places[shard] = place
    return places


def spill_runs(
    ctx: Context, receipts: Sequence[Receipt], part: int, places: Sequence[int] | None = None
) -> list[list[Any]]:
    """Part `part` of the spill file of each receipt: `[path, part, address of the shard's row 0]`."""
    return [
        [str(ctx.store.path(r.key, f)), f.extra["parts"][part], place << SHARD_ADDR_BITS]
        for place, r in zip(places or range(len(receipts)), receipts, strict=True)
        for f in r.role("spill")
    ]


def reduce_tasks(
    ctx: Context,
    label: str,
    step: Mapping[str, Any],
    receipts: Sequence[Receipt],
    parts: int,
    places: Sequence[int] | None = None,
) -> list[Task]:
    """The reducing tasks of an exchange, one a partition, from the receipts of the emitting ones."""
    described = {"exchange": step["fingerprint"], "part": step.get("part", ""), "parts": parts}
    described |= {"spills": [r.digest for r in receipts], **({"places": list(places)} if places else {})}
    worker = {"exchange": _worker_spec(step), "base_dir": ctx.base_dir}
    return [
        make_task(
            "reduce",
            {**described, "partition": p},
            {**worker, "spills": spill_runs(ctx, receipts, p, places)},
            f"{label} reduce {p + 1}/{parts}",
        )
        for p in range(parts)
    ]


def shard_ranges(path: Path, places: Sequence[int]) -> Iterator[tuple[int, list[Any], np.ndarray]]:
    """Each shard of which a file sorted by `addr` has rows; these rows as `[path, first, stop]`; their addresses."""
    bases = np.array(places, np.uint64) << np.uint64(SHARD_ADDR_BITS)
    with pa.memory_map(str(path)) as source:
        addr = pa.ipc.open_file(source).read_all().column("addr").to_numpy()
    firsts = np.searchsorted(addr, bases)
    stops = np.searchsorted(addr, bases + np.uint64(1 << SHARD_ADDR_BITS))
    for shard in np.flatnonzero(stops > firsts).tolist():
        first, stop = int(firsts[shard]), int(stops[shard])
        yield shard, [str(path), first, stop], addr[first:stop]


def drops_by_shard(ctx: Context, reduced: Sequence[Receipt], places: Sequence[int]) -> list[ShardDrops]:
    """Cut the reduced rows (sorted by address in each partition) into the shares of the shards at these places."""
    ranges: list[list[list[Any]]] = [[] for _ in places]
    for receipt in reduced:
        for file in receipt.role("reduced"):
            for shard, mine, _ in shard_ranges(ctx.store.sound_path(receipt.key, file), places):
                ranges[shard].append(mine)
    bases = [place << SHARD_ADDR_BITS for place in places]
    return [ShardDrops(mine, base, _drops_digest(mine, base)) for base, mine in zip(bases, ranges, strict=True)]


def _drops_digest(ranges: list[list[Any]], base: int) -> str:
    if not ranges:
        return ""
    hasher = blake3()
    table = read_verdicts(ranges, base)
    for column in table.columns:
        for chunk in column.chunks:
            hasher.update(memoryview(chunk.buffers()[1])[: len(chunk) * chunk.type.byte_width])
    return DIGEST_PREFIX + hasher.hexdigest()
