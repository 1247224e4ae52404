"""Near-duplicate search over the shards of a dataset, as tasks in rounds.

1. copies: an exchange by content hash; only one document of each content takes part in what follows;
2. candidates: an exchange by band key; groups too large for all pairs are compared with their best members only;
3. each pair once (`similar_merge`), the sets of the documents in them (`similar_sets`), and their similarity
   (`similar_verify`): an exchange keyed by the pair, which carries shingle hashes;
4. who stays (`similar_settle`): one process.

Where groups were too large, 2 to 4 are done again for what is left of them until no similar pair comes up that was not
compared (at most MAX_ROUNDS). The fact `large_left` says whether groups are left then of which not all pairs were
compared. Each task is keyed by contents, so that a new shard
costs its own keys, the fixed-width rows, and the sets and comparisons of the clusters that it touches.
"""

from collections.abc import Sequence

from gristmill.manifests.commit import Receipt
from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.engines.protocol import ExchangeJob
from gristmill.pipeline.exchange_job import Found, drops_by_shard, emit_tasks, reduce_tasks, spill_runs
from gristmill.pipeline.phases import LoadedStep
from gristmill.pipeline.similar.index import adopting, query_index, save_index
from gristmill.pipeline.similar.search import Search, paths_of
from gristmill.pipeline.similar.verify import Candidates, verify_pairs
from gristmill.pipeline.task import Task, make_task

MAX_ROUNDS = 6


def run_similar(ctx: Context, dataset: str, step: LoadedStep, shards: Sequence[ShardRef]) -> Found:
    """The verdicts of each shard."""
    label = f"{dataset}.{step.label}"
    indexed, key = query_index(ctx, step.stage)
    search = Search(ctx, label, step, shards, indexed, key or _drawn_key(ctx, label, step, shards))
    settled = _rounds(search, _copies(search), *_keys(search))
    found = Found(drops_by_shard(ctx, [settled], len(shards)), search.facts)
    save_index(search, found)
    return found


def _drawn_key(ctx: Context, label: str, step: LoadedStep, shards: Sequence[ShardRef]) -> str:
    """The key of the shingle sets: drawn once an output, from the corpus as it is then (see the task)."""
    what = {"search": label, "sets": step.stage.decides("sets")}
    digests = [shard.entry.digest for shard in shards]
    return ctx.map([make_task("similar_key", what, {"digests": digests}, f"{label} key")])[0].facts["key"]


def _copies(search: Search) -> list[Receipt]:
    spec = search.spec("copies")
    emits, parts = emit_tasks(search.ctx, f"{search.label} copies", spec, search.shards, "documents")
    emits += adopting(search, "copies", parts)

    def reduces(receipts: Sequence[Receipt]) -> list[Task]:
        return reduce_tasks(search.ctx, f"{search.label} copies", spec, receipts, parts)

    receipts = search.ctx.engine.exchange(ExchangeJob(emits, reduces), search.ctx.notify)
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


def _rounds(search: Search, copies: Sequence[Receipt], keys: Sequence[Receipt], parts: int) -> Receipt:
    candidates = Candidates(search.pair_parts)
    gone, large, settled = list(copies), None, None
    for number in range(1, MAX_ROUNDS + 1):
        pairs = search.ctx.map(_pair_tasks(search, keys, parts, (number, gone, large)))
        if large is None:
            large = pairs
            search.facts |= _large_facts(pairs)
        edges = verify_pairs(search, candidates, pairs, number)
        left = any(r.facts["large_groups"] for r in pairs) or (number == MAX_ROUNDS and bool(edges))
        search.facts |= {"rounds": number, "large_left": left}
        if settled is not None and not edges:
            break
        search.edges += edges
        settled = search.ctx.map([_settle_task(search, copies)])[0]
        if not search.facts["large_groups"]:
            break
        gone = [*copies, settled]
    assert settled is not None
    search.facts |= {"compared": candidates.compared, "similar": candidates.similar}
    return settled


def _large_facts(pairs: Sequence[Receipt]) -> dict[str, int]:
    groups = sum(r.facts["large_groups"] for r in pairs)
    return {"large_groups": groups, "largest_group": max((r.facts["largest_group"] for r in pairs), default=0)}


def _pair_tasks(
    search: Search,
    keys: Sequence[Receipt],
    parts: int,
    round_of: tuple[int, Sequence[Receipt], Sequence[Receipt] | None],
) -> list[Task]:
    number, gone, large = round_of
    spec, store = search.spec("keys"), search.ctx.store
    what = {
        "pairs": search.stage.decides("pairs"),
        "parts": parts,
        "spills": [r.digest for r in keys],
        "without": [r.digest for r in gone],
        "large": [r.digest for r in large] if large is not None else None,
        "pair_parts": search.pair_parts,
    }
    tasks: list[Task] = []
    for p in range(parts):
        groups = large[p].role("large") if large is not None else ()
        if large is not None and not groups:
            continue
        payload = {
            "exchange": {name: spec[name] for name in ("stage", "params", "part")},
            "base_dir": search.ctx.base_dir,
            "spills": spill_runs(search.ctx, keys, p),
            "without": paths_of(search.ctx, gone, "reduced"),
            "large": [str(store.path(large[p].key, f)) for f in groups] if large is not None else None,
            "pair_parts": what["pair_parts"],
        }
        label = f"{search.label} candidates {p + 1}/{parts}, round {number}"
        tasks.append(make_task("similar_pairs", {**what, "partition": p}, payload, label))
    return tasks


def _settle_task(search: Search, copies: Sequence[Receipt]) -> Task:
    ours = len(search.shards)
    what = {
        "rows": search.rows,
        "ours": ours,
        "edges": [r.digest for r in search.edges],
        "copies": [r.digest for r in copies],
        "threshold": search.stage.threshold,
    }
    payload = {
        **{name: what[name] for name in ("rows", "ours", "threshold")},
        "edges": paths_of(search.ctx, search.edges, "edges"),
        "copies": paths_of(search.ctx, copies, "reduced"),
    }
    return make_task("similar_settle", what, payload, f"{search.label} keepers")
