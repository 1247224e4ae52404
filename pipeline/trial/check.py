"""What an upgraded recipe would change of a finished run: the gate before a filter is upgraded.

In: a recipe and a baseline output. The recipe is run into a scratch output, in which the baseline's finished work
is found where it still applies (hard links), and both are compared record by record (`manifests.diff`).
Out: for each dataset of documents the records that change side (kept before and gone now, or the reverse), as a
share of those that came in. What `--sample` left out counts on neither side.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.commit import OBJECTS, TMP_PREFIX
from gristmill.manifests.diff import DatasetDiff, Diff, diff
from gristmill.manifests.errors import InputError
from gristmill.manifests.manifest import published, read_manifest, read_run
from gristmill.manifests.scan import Bools, matching_rows, named_paths

NOT_SAMPLED = "not_sampled"
DOCUMENTS = "documents"


@dataclass(frozen=True)
class Change:
    """One dataset: `records` came in, `dropped` were kept before, `returned` were not; `moves` say from where to
    where, `appeared` and `vanished` are records that only one of the two saw."""

    dataset: str
    records: int
    dropped: int
    returned: int
    appeared: int
    vanished: int
    moves: list[dict[str, Any]]
    examples: list[dict[str, Any]]

    @property
    def frac(self) -> float:
        """Share of the records that changed side; of no records, 0."""
        return (self.dropped + self.returned + self.appeared + self.vanished) / max(1, self.records)


def reuse_work(baseline: Path, out: Path) -> int:
    """Hard links to the baseline's finished work, where the file system allows; how many files."""
    linked = 0
    for path in sorted((baseline / OBJECTS).rglob("*")):
        if not path.is_file() or path.name.startswith(TMP_PREFIX):
            continue
        target = out / path.relative_to(baseline)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target)
        except FileExistsError:
            continue
        except OSError:
            return linked
        linked += 1
    return linked


def check_finished(baseline: Path) -> None:
    """Raises InputError where a baseline is no output, or lacks a dataset of its recipe: that would pass any gate."""
    have = {name for name, _ in published(baseline)}
    lacking = [name for name in read_run(baseline)["datasets"] if name not in have]
    if lacking:
        raise InputError("is not finished", str(baseline), ", ".join(lacking), "run its recipe to the end first")


def changes(baseline: Path, out: Path, examples: int, sampled: bool = False) -> tuple[list[Change], list[str]]:
    """The changes of each dataset of documents that both outputs have, and the names of those that only the
    baseline has. Raises InputError when they share none.

    In a sample, records that only the baseline saw are those that were left out upstream.
    """
    manifests = dict(published(out))
    found: Diff = diff(baseline, out, examples)
    kinds = {name: manifest["kind"] for name, manifest in published(baseline)}
    # `diff` pairs two outputs of one dataset each whatever the names; a gate pairs by name alone.
    shared = [d for d in found.datasets if d.name in manifests and d.name in kinds and d.digest_a and d.digest_b]
    shared = [d for d in shared if manifests[d.name]["kind"] == kinds[d.name] == DOCUMENTS]
    if not shared:
        raise InputError("has no dataset of this recipe", str(baseline), None, "give an output of the same recipe")
    names = {d.name for d in shared}
    missing = [name for name, kind in kinds.items() if kind == DOCUMENTS and name not in names]
    return [_change(d, manifests[d.name], sampled) for d in shared], missing


def _change(found: DatasetDiff, manifest: Mapping[str, Any], sampled: bool) -> Change:
    moves = [m for m in found.moves if not _left_out(m, sampled)]
    first = manifest["steps"][0]
    records = first["records_in"] - first["reasons"].get(NOT_SAMPLED, 0)

    def total(when: Callable[[Any, Any], bool]) -> int:
        return sum(m["count"] for m in moves if when(m["a"], m["b"]))

    return Change(
        found.name,
        records,
        total(lambda a, b: _kept(a) and b is not None and not _kept(b)),
        total(lambda a, b: _kept(b) and a is not None and not _kept(a)),
        total(lambda a, b: a is None),
        total(lambda a, b: b is None),
        [m for m in moves if _kept(m["a"]) != _kept(m["b"]) or None in (m["a"], m["b"])],
        [_example(e) for e in found.examples if _is_shown(e, sampled)],
    )


def _is_shown(example: Any, sampled: bool) -> bool:
    """Records that change side: not those that go for another reason, or stay with another text."""
    return example.change not in ("content", "moved") and not _left_out({"a": example.a, "b": example.b}, sampled)


def _kept(fate: Mapping[str, str] | None) -> bool:
    return fate is not None and fate["verdict"] == "keep"


def _left_out(move: Mapping[str, Any], sampled: bool) -> bool:
    if sampled and move["b"] is None:
        return True
    return any(fate is not None and fate["reason"] == NOT_SAMPLED for fate in (move["a"], move["b"]))


def _example(example: Any) -> dict[str, Any]:
    return {"id": example.id, "change": example.change, "before": example.a, "after": example.b}


def with_texts(change: Change, baseline: Path, out: Path, chars: int) -> list[dict[str, Any]]:
    """The examples with `url` and `text` (the first characters), from the output that keeps the record."""
    places = {False: baseline / change.dataset, True: out / change.dataset}
    found: list[dict[str, Any]] = []
    for example in change.examples:
        row = _row(places[_kept(example["after"])], example["id"]) or {}
        found.append({**example, "url": row.get("url"), "text": (row.get("text") or "")[:chars]})
    return found


def _row(folder: Path, record: str) -> dict[str, Any] | None:
    def mask(batch: pa.RecordBatch) -> Bools:
        return pc.fill_null(pc.equal(batch.column("id"), record), False).to_numpy(zero_copy_only=False)

    for path in named_paths(folder, read_manifest(folder), "shards"):
        rows = matching_rows(path, ("id",), mask, ("url", "text"), 1)
        if rows:
            return rows[0]
    return None
