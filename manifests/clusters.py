"""Clusters of duplicates, as the ledgers tell them: who stayed, and who went for it.

Reads ledgers and shards alone. A record that went for one that a later step dropped in its turn belongs to the cluster
of the last keeper. Memory: the keepers, and the ledger rows of the largest clusters.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import InputError
from gristmill.manifests.find import Place
from gristmill.manifests.receipt import read_receipt
from gristmill.manifests.scan import matching_rows, read_columns
from gristmill.manifests.verify_files import is_inside

MEMBER_COLUMNS = ("id", "keeper", "step", "reason", "measure", "value", "limit", "detail", "url", "source", "chars")


@dataclass(frozen=True)
class Member:
    """A record that went, at which step and why: `value` of `measure` to its keeper, against `limit`."""

    id: str
    dataset: str
    step: str
    reason: str
    measure: str | None
    value: float | None
    limit: float | None
    detail: str | None
    url: str | None
    source: str | None
    chars: int | None
    keeper: str


@dataclass(frozen=True)
class Cluster:
    """The record that stayed, how many went for it, and the first of them by id. `size` counts them all."""

    keeper: str
    size: int
    members: list[Member] = field(default_factory=list[Member])


@dataclass
class _Keepers:
    """How many records went for each keeper, and what became of the keepers that went themselves."""

    count: Counter[str] = field(default_factory=Counter[str])
    went: dict[str, str] = field(default_factory=dict[str, str])

    def root(self, keeper: str) -> str:
        """The last keeper."""
        seen = {keeper}
        while (after := self.went.get(keeper)) is not None and after not in seen:
            keeper = after
            seen.add(keeper)
        return keeper


def clusters(places: Sequence[Place], limit: int, members: int, step: str | None = None) -> list[Cluster]:
    """The `limit` largest clusters, larger first, with up to `members` of each; of those that went at one `step`, where
    one is given. Raises VerifyError on damage."""
    keepers = _count(places, step)
    sizes: Counter[str] = Counter()
    group: dict[str, list[str]] = {}
    for keeper, count in keepers.count.items():
        root = keepers.root(keeper)
        sizes[root] += count
        group.setdefault(root, []).append(keeper)
    largest = sorted(sizes, key=lambda k: (-sizes[k], k))[:limit]
    wanted = {keeper: root for root in largest for keeper in group[root]}
    found = _members(places, wanted, step)
    return [Cluster(root, sizes[root] + 1, sorted(found[root], key=lambda m: m.id)[:members]) for root in largest]


def _ledgers(places: Iterable[Place], columns: Sequence[str], step: str | None) -> Iterable[tuple[str, pa.RecordBatch]]:
    read = columns if step is None else tuple(dict.fromkeys((*columns, "step")))
    for place in places:
        for path in place.paths("ledger"):
            for batch in read_columns(path, read):
                here = pc.is_valid(batch.column("keeper"))
                if step is not None:
                    here = pc.and_(here, pc.fill_null(pc.equal(batch.column("step").cast(pa.string()), step), False))
                yield place.name, batch.select(list(columns)).filter(here)


def _count(places: Sequence[Place], step: str | None) -> _Keepers:
    keepers = _Keepers()
    for _, batch in _ledgers(places, ("keeper",), step):
        for item in batch.column("keeper").value_counts():
            keepers.count[item["values"].as_py()] += item["counts"].as_py()
    names = pa.array(sorted(keepers.count), pa.string())
    for _, batch in _ledgers(places, ("id", "keeper"), step):
        for row in batch.filter(pc.is_in(batch.column("id"), names)).to_pylist():
            keepers.went[row["id"]] = row["keeper"]
    return keepers


def _members(places: Sequence[Place], wanted: dict[str, str], step: str | None) -> dict[str, list[Member]]:
    found: dict[str, list[Member]] = {root: [] for root in wanted.values()}
    names = pa.array(sorted(wanted), pa.string())
    for dataset, batch in _ledgers(places, MEMBER_COLUMNS, step):
        for row in batch.filter(pc.is_in(batch.column("keeper"), names)).to_pylist():
            root: str = wanted[row["keeper"]]
            shown: dict[str, Any] = {n: v for n, v in row.items() if not isinstance(v, float) or isfinite(v)}
            nothing: dict[str, Any] = dict.fromkeys(MEMBER_COLUMNS)
            found[root].append(Member(**(nothing | shown), dataset=dataset))
    return found


def read_record(out: Path, places: Sequence[Place], record: str) -> dict[str, Any]:
    """`id`, `text`, `url` and `source` of a record: from the datasets, else from earlier work on them.

    Raises InputError when neither holds it.
    """
    documents = [place for place in places if place.manifest["kind"] == "documents"]
    kept = (path for place in documents for path in place.paths("shards"))
    earlier = (path for place in documents for path in _earlier(place))
    for paths in (kept, earlier):
        for path in paths:
            rows = matching_rows(
                path,
                ("id",),
                lambda batch: pc.fill_null(pc.equal(batch.column("id"), record), False).to_numpy(zero_copy_only=False),
                ("id", "text", "url", "source"),
                1,
            )
            if rows:
                return rows[0]
    raise InputError("no text of such a record", str(out), record, "give an id that `show --clusters` prints, in full")


def _earlier(place: Place) -> Iterable[Path]:
    own = {entry["digest"] for entry in place.manifest["shards"]}
    for key in place.manifest["objects"]:
        receipt = read_receipt(place.objects / key) if is_inside(key) else None
        for file in receipt.role("data") if receipt else ():
            path = place.objects / key / file.path
            if is_inside(file.path) and file.digest not in own and path.is_file():
                yield path
