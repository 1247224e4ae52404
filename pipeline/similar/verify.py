"""Comparing candidates: each pair once, the sets that it takes, the similarity of each pair."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.exchange_job import SHARD_ADDR_BITS, shard_ranges
from gristmill.pipeline.similar.search import Search, paths_of
from gristmill.pipeline.task import Task, make_task


@dataclass(frozen=True)
class Demand:
    """Documents of a shard whose sets a part wants: `[path, first, stop]` of their addresses, and a digest of their
    rows in the shard."""

    rows: list[Any]
    digest: str


@dataclass
class Candidates:
    """What was compared so far: for each of the `parts` the receipts of its merged pairs; numbers of pairs."""

    parts: int
    compared: int = 0
    similar: int = 0
    merged: dict[int, list[Receipt]] = field(default_factory=dict[int, list[Receipt]])


def verify_pairs(search: Search, candidates: Candidates, pairs: Sequence[Receipt], number: int) -> list[Receipt]:
    """The receipts that hold edges, of the pairs that were not compared before."""
    fresh = _merge(search, candidates, pairs, number)
    if not fresh:
        return []
    tasks, shard_of = _set_tasks(search, candidates, fresh, number)
    sets = search.ctx.map(tasks)
    receipts = search.ctx.map(_verify_tasks(search, fresh, (sets, shard_of), number))
    candidates.compared += sum(r.facts["compared"] for r in receipts)
    candidates.similar += sum(r.facts["similar"] for r in receipts)
    return [r for r in receipts if r.role("edges")]


def _merge(search: Search, candidates: Candidates, pairs: Sequence[Receipt], number: int) -> dict[int, Receipt]:
    """Part -> its merged pairs; parts without any are left out."""
    ctx, tasks, parts = search.ctx, list[Task](), list[int]()
    for part in range(candidates.parts):
        files = [(r, f) for r in pairs for f in r.role("pairs") if f.extra["parts"][part][2]]
        if not files:
            continue
        earlier = candidates.merged.get(part, [])
        what = {
            "pairs": [f.extra["parts"][part][-1] for _, f in files],
            "earlier": [f.digest for r in earlier for f in r.role("merged")],
        }
        payload = {
            "spills": [[str(ctx.store.path(r.key, f)), f.extra["parts"][part], 0] for r, f in files],
            "earlier": paths_of(ctx, earlier, "merged"),
        }
        label = f"{search.label} round {number} pairs {part + 1}/{candidates.parts}"
        tasks.append(make_task("similar_merge", what, payload, label))
        parts.append(part)
    found = {p: r for p, r in zip(parts, ctx.exchange(tasks), strict=True) if r.role("merged")}
    for part, receipt in found.items():
        candidates.merged.setdefault(part, []).append(receipt)
    return found


def _set_tasks(
    search: Search, candidates: Candidates, fresh: dict[int, Receipt], number: int
) -> tuple[list[Task], list[int]]:
    """One task for each shard that a pair wants something of, and these shards."""
    demands: dict[int, dict[int, Demand]] = {}
    for part, receipt in fresh.items():
        (file,) = receipt.role("demand")
        path = search.ctx.store.sound_path(receipt.key, file)
        for shard, mine, addr in shard_ranges(path, search.places):
            local = addr - np.uint64(search.places[shard] << SHARD_ADDR_BITS)
            demands.setdefault(shard, {})[part] = Demand(mine, DIGEST_PREFIX + blake3(local.tobytes()).hexdigest())
    wanted = sorted(demands)
    by_part = [[demands[shard].get(part) for part in range(candidates.parts)] for shard in wanted]
    return [_set_task(search, *of_shard, number) for of_shard in zip(wanted, by_part, strict=True)], wanted


def _set_task(search: Search, shard: int, demands: list[Demand | None], number: int) -> Task:
    ours = shard < len(search.shards)
    base = search.places[shard] << SHARD_ADDR_BITS
    if ours:
        path, entry = str(search.shards[shard].path), search.shards[shard].entry
    else:
        indexed = search.indexed[shard - len(search.shards)]
        path, entry = indexed.paths["sets"], indexed.files["sets"]
    what = {
        "sets": search.stage.decides("sets"),
        "key": search.key,
        "input": entry.digest,
        "indexed": not ours,
        "demands": [demand.digest if demand else "" for demand in demands],
    }
    ranges = [[demand.rows] if demand else [] for demand in demands]
    told = {"key": search.key, "shard": path, "indexed": not ours, "base": base, "demands": ranges}
    payload = {**search.worker(), **told}
    label = f"{search.label} round {number} sets {shard + 1}/{len(search.rows)}"
    return make_task("similar_sets", what, payload, label, entry.bytes)


def _verify_tasks(
    search: Search, fresh: dict[int, Receipt], sets: tuple[Sequence[Receipt], Sequence[int]], number: int
) -> list[Task]:
    tasks: list[Task] = []
    for part, receipt in fresh.items():
        # In the order of their places: what a file is called decides no key.
        of_part = sorted(
            (search.places[shard] << SHARD_ADDR_BITS, str(search.ctx.store.path(r.key, f)), f.extra["parts"][part])
            for r, shard in zip(*sets, strict=True)
            for f in r.role("sets")
            if f.extra["parts"][part][2]
        )
        what = {
            "verify": search.stage.decides("verify"),
            "merged": [f.digest for f in receipt.role("merged")],
            "sets": [[base, found[-1]] for base, _, found in of_part],
        }
        payload = {
            **search.worker(),
            "merged": paths_of(search.ctx, [receipt], "merged"),
            "sets": [[path, found, base] for base, path, found in of_part],
        }
        label = f"{search.label} round {number} comparing {part + 1}/{search.pair_parts}"
        tasks.append(make_task("similar_verify", what, payload, label))
    return tasks
