"""Saving an index of what a search kept, and searching against one.

A bare name stands for `OUT/indexes/<name>`; one with a `/` for a folder relative to the recipe. A search that queries
one index and saves another carries the files of the first over, so that an index grows from crawl to crawl. Documents
of an index rank before all others and always stay; a document goes when it is as similar to one of them as the
threshold says. An index of another configuration is refused before any work.
"""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import VOLATILE
from gristmill.manifests.commit import fsync_dir, link_exclusively, refuse_damaged
from gristmill.manifests.errors import InputError, UsageError, VerifyError
from gristmill.manifests.indexes import INDEXES, index_files, read_index, write_index
from gristmill.manifests.receipt import FileEntry, Receipt
from gristmill.pipeline.context import Context
from gristmill.pipeline.engines.finding import FindingEngine, UnfinishedError
from gristmill.pipeline.exchange_job import ShardDrops
from gristmill.pipeline.similar.search import IndexShard, Search
from gristmill.pipeline.task import Task, make_task

_BARE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", re.ASCII)
INDEX_ROLES = ("keys", "copies", "sets")


def index_folder(root: Path, base_dir: Path, name: str) -> Path:
    """Where an index lies. Raises UsageError on what is neither a name nor a path."""
    if "/" in name:
        return (base_dir / name).absolute()
    if not _BARE.fullmatch(name):
        raise UsageError("not an index's name", "minhash_dedup", name, "use letters, digits, _, - and ., or a path")
    return root / INDEXES / name


def query_index(ctx: Context, stage: Any) -> tuple[list[IndexShard], str]:
    """The parts of the index that a stage queries, and the key of its sets; none where it queries none.

    Raises InputError when there is no such index, UsageError when its configuration is another one.
    """
    name = (stage.index or {}).get("query")
    if name is None:
        return [], ""
    folder = index_folder(ctx.store.root, Path(ctx.base_dir), name)
    try:
        index = checked_index(folder, stage, ctx.sample)
    except InputError:
        if isinstance(ctx.engine, FindingEngine):
            raise UnfinishedError(1, 1, f"index {name} 1/1") from None
        raise
    ctx.store.fetch(folder / file.path for file in index_files(index))
    return [_shard(folder, shard) for shard in index["shards"]], index["key"]


def checked_index(folder: Path, stage: Any, sample: float | None) -> Mapping[str, Any]:
    """An index whose configuration is that of the stage, and which is no sample where the run is none of that size."""
    index = read_index(folder)
    if index["sample"] not in (None, sample):
        remedy = "save it anew without --sample, or run with the same --sample"
        raise UsageError("an index of a sample", str(folder), index["sample"], remedy)
    wanted, has = stage.decides("index"), index["config"]
    if wanted != has:
        names = sorted({*wanted["params"], *has.get("params", {})})
        other = [n for n in names if wanted["params"].get(n) != has.get("params", {}).get(n)]
        told = [f"{n} {has.get('params', {}).get(n)!r}, not {wanted['params'].get(n)!r}" for n in other]
        remedy = "query it with the parameters that it was saved with, or save it anew"
        if wanted["version"] != has.get("version"):
            told.append(f"version {has.get('version')}, not {wanted['version']}")
            remedy = "save it anew"
        raise UsageError("an index of another configuration", str(folder), "; ".join(told), remedy)
    return index


def check_indexes(
    root: Path, base_dir: Path, stages: Mapping[str, Sequence[Any]], worked: Collection[str], sample: float | None
) -> None:
    """Refuse, before any work, what queries an index that is not there or another's, and what would answer otherwise
    when it is run again: an index that is saved twice, or where it was queried before.

    `stages` of all datasets, in the order in which they are built; `worked`: those that this run works on.
    """
    users = [(dataset, s) for dataset, of_dataset in stages.items() for s in of_dataset if getattr(s, "index", None)]
    saved: dict[str, str] = {}
    queried: dict[str, str] = {}
    for dataset, stage in users:
        where = f"{dataset}.{stage.name}"
        folders = {use: os.path.realpath(index_folder(root, base_dir, name)) for use, name in stage.index.items()}
        if "query" in folders:
            queried.setdefault(folders["query"], where)
        if "save" in folders:
            folder = folders["save"]
            _refuse_saving(stage.index["save"], where, saved.get(folder), queried.get(folder))
            _refuse_unwritable(Path(folder), where)
            saved[folder] = where
    made = {index_folder(root, base_dir, s.index["save"]) for d, s in users if d in worked and "save" in s.index}
    for dataset, stage in users:
        if dataset in worked and "query" in stage.index:
            folder = index_folder(root, base_dir, stage.index["query"])
            if folder not in made:
                checked_index(folder, stage, sample)


def index_names(stages: Mapping[str, Sequence[Any]]) -> list[str]:
    """The bare names of indexes that stages save or query."""
    given = [s.index for of_dataset in stages.values() for s in of_dataset if getattr(s, "index", None)]
    return sorted({name for index in given for name in index.values() if _BARE.fullmatch(name)})


def _refuse_saving(name: str, where: str, saver: str | None, asker: str | None) -> None:
    if saver is not None:
        raise UsageError("two steps save one index", where, name, f"{saver} saves it too: give each a name of its own")
    if asker is not None:
        what = "an index is saved under a name that is queried before"
        remedy = f"{asker} queries it, and would find itself when run again: save the grown index under a new name"
        raise UsageError(what, where, name, remedy)


def _refuse_unwritable(folder: Path, where: str) -> None:
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise UsageError("an index cannot be saved there", where, str(folder), f"{there} cannot be written into")


def _shard(folder: Path, shard: Mapping[str, Any]) -> IndexShard:
    files = {f["role"]: FileEntry.from_json(f) for f in shard["files"]}
    missing = [str(folder / f.path) for f in files.values() if not (folder / f.path).is_file()]
    if missing:
        raise VerifyError("a file of an index is missing", missing[0], None, "save the index again")
    return IndexShard({role: str(folder / f.path) for role, f in files.items()}, files, shard["rows"])


def adopting(search: Search, part: str, parts: int) -> list[Task]:
    """Tasks that make spilled rows of the search's exchange `part` from the files of its index."""
    exchange = search.stage.copies() if part == "copies" else search.stage.keys()
    tasks: list[Task] = []
    for number, shard in enumerate(search.indexed):
        entry = shard.files[part]
        what = {"part": part, "parts": parts, "order_bytes": exchange.order_bytes, "input": entry.digest}
        payload = {**what, "path": shard.paths[part]}
        label = f"{search.label} index {part} {number + 1}/{len(search.indexed)}"
        tasks.append(make_task("similar_adopt", what, payload, label, entry.bytes))
    return tasks


def prepared_index(search: Search, drops: Sequence[ShardDrops]) -> Callable[[], None] | None:
    """Make the parts of the index that the stage is told to save; what puts it in place, None where it saves none.

    It holds what was kept, and the index that was queried. Before its dataset is published nobody sees it.
    """
    name = (search.stage.index or {}).get("save")
    if name is None:
        return None
    receipts = search.ctx.map([_save_task(search, i, mine) for i, mine in enumerate(drops)])
    folder = index_folder(search.ctx.store.root, Path(search.ctx.base_dir), name)
    return partial(_save, search, folder, receipts)


def _save(search: Search, folder: Path, receipts: Sequence[Receipt]) -> None:
    ctx = search.ctx
    folder.mkdir(parents=True, exist_ok=True)
    old = [_carried(folder, shard) for shard in search.indexed]
    new = [_placed(search, folder, receipt, rows) for receipt, rows in zip(receipts, search.rows, strict=False)]
    shards = [s for s in (*old, *new) if s is not None]
    fsync_dir(folder)
    index = {
        "config": search.stage.decides("index"),
        "dataset": search.label.rpartition(".")[0],
        "recipe": {"name": ctx.recipe.name, "digest": ctx.recipe.digest},
        "sample": ctx.sample,
        "key": search.key,
        "documents": sum(f["rows"] for s in shards for f in s["files"] if f["role"] == "copies"),
        "shards": shards,
        VOLATILE: {},
    }
    write_index(folder, index)
    ctx.store.publish_index(folder)


def _save_task(search: Search, shard: int, drops: ShardDrops) -> Task:
    entry = search.shards[shard].entry
    what = {
        "index": search.stage.decides("index"),
        "key": search.key,
        "input": entry.digest,
        "drops": drops.digest,
    }
    payload = {
        **search.worker(),
        "key": search.key,
        "shard": str(search.shards[shard].path),
        "drops": drops.ranges,
        "base": drops.base,
    }
    label = f"{search.label} saving {shard + 1}/{len(search.shards)}"
    return make_task("similar_index", what, payload, label, entry.bytes)


def _placed(search: Search, folder: Path, receipt: Receipt, rows: int) -> dict[str, Any] | None:
    store = search.ctx.store
    files = [(store.path(receipt.key, f), f) for role in INDEX_ROLES for f in receipt.role(role)]
    store.fetch(path for path, _ in files)
    return {"rows": rows, "files": [_linked(folder, path, f) for path, f in files]} if files else None


def _carried(folder: Path, shard: IndexShard) -> dict[str, Any]:
    files = [_linked(folder, Path(shard.paths[role]), shard.files[role]) for role in INDEX_ROLES]
    return {"rows": shard.rows, "files": files}


def _sound(there: Path, path: Path, entry: FileEntry) -> bool:
    """Whether what has the name already is the same file, or has the bytes of its entry."""
    try:
        if not there.samefile(path):
            refuse_damaged(there, entry.digest)
    except (VerifyError, OSError):
        return False
    return True


def _linked(folder: Path, path: Path, entry: FileEntry) -> dict[str, Any]:
    """The file under a name of its digest."""
    name = f"{entry.role}.{entry.digest.rpartition(':')[2][:32]}.arrow"
    if not link_exclusively(path, folder / name) and not _sound(folder / name, path, entry):
        (folder / name).unlink()
        link_exclusively(path, folder / name)
    return asdict(replace(entry, path=name, extra={}))
