"""Near-duplicate search over the shards of a dataset, as tasks in rounds.

1. copies: an exchange by content hash; only one document of each content takes part in what follows;
2. candidates: an exchange by band key; groups too large for all pairs are compared with their best members only;
3. each pair once (`similar_merge`), the sets of the documents in them (`similar_sets`), and their similarity
   (`similar_verify`): an exchange keyed by the pair, which carries shingle hashes;
4. who stays (`similar_settle`): one process.

Where groups were too large, 2 to 4 are done again for what is left of them, with the next best members, twice as many
each time (up to `max_bucket`), until all pairs that matter were compared; at most MAX_ROUNDS times, and no longer than
rounds find something. The fact `large_left` says whether groups are left then of which not all pairs were compared.

A new shard costs its own keys, the fixed-width rows of all, the sets of the shards of whose documents others are
compared than before, and the parts of the pairs in which something changed: addresses hold a place that a shard has by
its content, wherever it sorts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.exchange_job import Found, drops_by_shard, emit_tasks, reduce_tasks, spill_runs
from gristmill.pipeline.phases import LoadedStep
from gristmill.pipeline.similar.index import adopting, prepared_index, query_index
from gristmill.pipeline.similar.search import Search, paths_of
from gristmill.pipeline.similar.tables import Addresses, among, dropped_addresses
from gristmill.pipeline.similar.verify import Candidates, verify_pairs
from gristmill.pipeline.task import Task, make_task

MAX_ROUNDS = 12
IDLE_PAIRS = 1 << 20
IDLE_RATIO = 1000
"""A round that compares more than IDLE_PAIRS pairs, and finds less than one similar one in IDLE_RATIO, is the last."""


def run_similar(ctx: Context, dataset: str, step: LoadedStep, shards: Sequence[ShardRef]) -> Found:
    """The verdicts of each shard."""
    label = f"{dataset}.{step.label}"
    indexed, key = query_index(ctx, step.stage)
    search = Search(ctx, label, step, shards, indexed, key or _drawn_key(ctx, label, step, shards))
    settled = _rounds(search, _copies(search), *_keys(search))
    drops = drops_by_shard(ctx, [settled], search.places[: len(shards)])
    return Found(drops, search.facts, prepared_index(search, drops))


def _drawn_key(ctx: Context, label: str, step: LoadedStep, shards: Sequence[ShardRef]) -> str:
    """The key of the shingle sets: drawn once an output, from the corpus as it is then (see the task)."""
    what = {"search": label, "sets": step.stage.decides("sets")}
    digests = [shard.entry.digest for shard in shards]
    return ctx.map([make_task("similar_key", what, {"digests": digests}, f"{label} key 1/1")])[0].facts["key"]


def _copies(search: Search) -> list[Receipt]:
    spec = search.spec("copies")
    emits, parts = emit_tasks(search.ctx, f"{search.label} copies", spec, search.shards, "documents")
    emits += adopting(search, "copies", parts)
    spilled = search.ctx.map(emits)
    reduces = reduce_tasks(search.ctx, f"{search.label} copies", spec, spilled, parts, search.places)
    receipts = search.ctx.exchange(reduces)
    search.facts["copies"] = sum(r.facts["rows"] for r in receipts)
    return receipts


def _keys(search: Search) -> tuple[list[Receipt], int]:
    """The spilled band rows of all shards, and their partitions."""
    spec = {**search.spec("keys"), "rows_each": search.stage.keys().rows_each}
    emits, parts = emit_tasks(search.ctx, search.label, spec, search.shards, "documents")
    emits += adopting(search, "keys", parts)
    receipts = search.ctx.map(emits)
    rows = sum(r.facts["rows"] for r in receipts[: len(search.shards)])
    search.facts["short"] = sum(s.entry.rows for s in search.shards) - rows // search.stage.bands
    return receipts, parts


@dataclass
class _Rounds:
    """What the rounds hand on: verdicts so far, the large groups of each partition (as the first round left them), and
    the rows of them that all of their members were compared with."""

    gone: list[Receipt]
    large: dict[int, Receipt] = field(default_factory=dict[int, Receipt])
    served: dict[int, list[Receipt]] = field(default_factory=dict[int, list[Receipt]])
    dropped: Addresses = field(default_factory=lambda: np.zeros(0, np.uint64))


def _rounds(search: Search, copies: Sequence[Receipt], keys: Sequence[Receipt], parts: int) -> Receipt:
    candidates, state = Candidates(search.pair_parts), _Rounds(list(copies))
    settled: Receipt | None = None
    for number in range(1, MAX_ROUNDS + 1):
        chosen = sorted(state.large) if settled is not None else range(parts)
        pairs = search.ctx.exchange([_pair_task(search, keys, (p, parts), state, number) for p in chosen])
        found = {p: r for p, r in zip(chosen, pairs, strict=True) if r.facts["large_groups"]}
        if settled is None:
            state.large = found
            search.facts |= _large_facts(pairs)
        for p, receipt in found.items():
            state.served.setdefault(p, []).append(receipt)
        compared, similar = candidates.compared, candidates.similar
        edges = verify_pairs(search, candidates, pairs, number)
        idle = _is_idle(candidates.compared - compared, candidates.similar - similar)
        left = bool(found) or (number == MAX_ROUNDS and bool(edges))
        search.facts |= {"rounds": number, "large_left": left}
        if settled is not None and not edges and not found:
            break
        if edges or settled is None:
            search.edges += edges
            settled = search.ctx.map([_settle_task(search, copies)])[0]
            _go_on(search.ctx, state, [*copies, settled])
        if not state.large or (idle and number > 1):
            break
    assert settled is not None
    search.facts |= {"compared": candidates.compared, "similar": candidates.similar}
    return settled


def _is_idle(compared: int, similar: int) -> bool:
    """Whether a round of many comparisons found next to nothing: a million documents that share a template would go on
    comparing with one another, 344 times each, for a handful of pairs. What is left is told (`large_left`)."""
    return compared > IDLE_PAIRS and similar * IDLE_RATIO < compared


def _go_on(ctx: Context, state: _Rounds, gone: list[Receipt]) -> None:
    """Take up new verdicts. A document that went before and stays now was compared with nobody in between: the best
    members of large groups serve once more then."""
    paths = paths_of(ctx, gone, "reduced")
    ctx.store.fetch(paths)
    dropped = dropped_addresses(paths)
    if not among(state.dropped, dropped).all():
        state.served = {}
    state.gone, state.dropped = gone, dropped


def _large_facts(pairs: Sequence[Receipt]) -> dict[str, int]:
    groups = sum(r.facts["large_groups"] for r in pairs)
    return {"large_groups": groups, "largest_group": max((r.facts["largest_group"] for r in pairs), default=0)}


def _pair_task(search: Search, keys: Sequence[Receipt], part_of: tuple[int, int], state: _Rounds, number: int) -> Task:
    part, parts = part_of
    spec, stage = search.spec("keys"), search.stage
    crowd = state.large.get(part)
    served = state.served.get(part, [])
    what = {
        "pairs": stage.decides("pairs"),
        "partition": part,
        "parts": parts,
        "spills": [r.digest for r in keys] if crowd is None else None,
        "places": search.places if crowd is None else None,
        "without": [r.digest for r in state.gone],
        "crowd": crowd.digest if crowd else None,
        "served": [r.digest for r in served],
        "pivots": min(stage.max_bucket, stage.pivots << (number - 1)),
        "pair_parts": search.pair_parts,
    }
    payload = {
        **{name: what[name] for name in ("pivots", "pair_parts")},
        "exchange": {name: spec[name] for name in ("stage", "params", "part")},
        "base_dir": search.ctx.base_dir,
        "spills": spill_runs(search.ctx, keys, part, search.places) if crowd is None else [],
        "without": paths_of(search.ctx, state.gone, "reduced"),
        "crowd": paths_of(search.ctx, [crowd], "crowd") if crowd else None,
        "served": paths_of(search.ctx, served, "served"),
    }
    return make_task("similar_pairs", what, payload, f"{search.label} round {number} candidates {part + 1}/{parts}")


def _settle_task(search: Search, copies: Sequence[Receipt]) -> Task:
    ours = len(search.shards)
    what = {
        "rows": search.rows,
        "places": search.places,
        "ours": ours,
        "edges": [r.digest for r in search.edges],
        "copies": [r.digest for r in copies],
        "threshold": search.stage.threshold,
    }
    payload = {
        **{name: what[name] for name in ("rows", "places", "ours", "threshold")},
        "edges": paths_of(search.ctx, search.edges, "edges"),
        "copies": paths_of(search.ctx, copies, "reduced"),
    }
    return make_task("similar_settle", what, payload, f"{search.label} keepers 1/1")
