"""What a plan draws from: a dataset of rows as a whole, or one of its buckets, a range of its rows.

`emit` packs each domain and range of document lengths by itself and says in the manifest, `facts.packing.buckets`, in
row order: `domain`, `min_tokens` and `max_tokens` (half open, null for no bound; small buckets are merged with
neighbours of their domain), `first_row`, `stop_row`, `documents`, `tokens` (valid ones), `image_tokens`,
`padding_frac`. Buckets tile the rows. Datasets of earlier versions have none.

`pools` says which datasets hold the same documents, packed or filtered in another way, so that epochs add up over them:
those that share a file of tokenised documents, or a dataset that both are made from, if nothing on the way made new
documents (their `derived` is 0).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.manifest import MANIFEST, read_manifest
from gristmill.pipeline.curriculum.cells import span_name
from gristmill.pipeline.reader.rows_dataset import RowsDataset


@dataclass(frozen=True)
class Source:
    """Rows [first_row, stop_row) of a dataset, of documents of [min_tokens, max_tokens) tokens of a domain (None: of
    any). `tokens` are those that are no padding, `image_tokens` those of them that stand for pictures."""

    name: str
    dataset_name: str
    dataset: RowsDataset
    first_row: int
    stop_row: int
    domain: str | None
    min_tokens: int
    max_tokens: int | None
    tokens: int
    image_tokens: int

    @property
    def rows(self) -> int:
        """At least 1."""
        return self.stop_row - self.first_row

    @property
    def bucket(self) -> str:
        """Lengths of its documents, as `8K-32K`."""
        return span_name(self.min_tokens, self.max_tokens)

    @property
    def tokens_per_row(self) -> float:
        """Those that are no padding."""
        return self.tokens / self.rows

    def holds(self, domain: str | None, length: int) -> bool:
        """Whether documents of so many tokens of a domain may stand in it; domain None: of none that is known."""
        inside = self.min_tokens <= length and (self.max_tokens is None or length < self.max_tokens)
        return inside and self.domain in (None, domain)


def whole(name: str, dataset: RowsDataset) -> Source:
    """A dataset as one source."""
    found = _buckets(dataset)
    packing = dataset.manifest["facts"].get("packing", {})
    tokens = round(dataset.rows * dataset.context * (1 - packing.get("padding_frac", 0.0)))
    images = sum(int(b["image_tokens"]) for b in found)
    return Source(name, name, dataset, 0, dataset.rows, None, 0, None, tokens, images)


def buckets_of(name: str, dataset: RowsDataset) -> list[Source]:
    """The buckets of a dataset, none where its manifest has none. VerifyError where they do not tile its rows."""
    sources = [_source(name, dataset, bucket) for bucket in _buckets(dataset)]
    at = 0
    for source in sources:
        if source.first_row != at or source.rows < 0 or source.tokens < 0:
            raise _not_tiled(dataset)
        at = source.stop_row
    if sources and (at != dataset.rows or len({s.name for s in sources}) < len(sources)):
        raise _not_tiled(dataset)
    return [source for source in sources if source.rows and source.tokens]


def _buckets(dataset: RowsDataset) -> list[dict[str, Any]]:
    return dataset.manifest["facts"].get("packing", {}).get("buckets") or []


def _source(name: str, dataset: RowsDataset, bucket: Mapping[str, Any]) -> Source:
    try:
        domain, low, high = str(bucket["domain"] or "none"), int(bucket["min_tokens"]), bucket["max_tokens"]
        return Source(
            name=f"{name}/{domain}/{span_name(low, high)}",
            dataset_name=name,
            dataset=dataset,
            first_row=int(bucket["first_row"]),
            stop_row=int(bucket["stop_row"]),
            domain=domain,
            min_tokens=low,
            max_tokens=None if high is None else int(high),
            tokens=int(bucket["tokens"]),
            image_tokens=int(bucket["image_tokens"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise VerifyError(
            "a bucket is none that this version reads", str(dataset.folder), error, "emit it again"
        ) from None


def _not_tiled(dataset: RowsDataset) -> VerifyError:
    return VerifyError("the buckets of its manifest do not tile its rows", str(dataset.folder), None, "emit it again")


def pools(datasets: Mapping[str, RowsDataset]) -> dict[str, str]:
    """For each dataset the name of the first one, in the order given, that holds documents of it, itself at least."""
    known = {name: _documents(dataset.folder, dataset.manifest) for name, dataset in datasets.items()}
    pool = {name: name for name in datasets}
    order = {name: number for number, name in enumerate(datasets)}
    for one, other in combinations(datasets, 2):
        if known[one] & known[other]:
            first, second = sorted((pool[one], pool[other]), key=order.__getitem__)
            pool = {name: first if p == second else p for name, p in pool.items()}
    return pool


def _documents(folder: Path, manifest: Mapping[str, Any]) -> set[str]:
    """Digests of what holds the documents of a dataset: its tokenised files, and what they are made from unchanged."""
    found = {entry["digest"] for entry in manifest.get("tokenised", [])}
    if any(step.get("derived") for step in manifest["steps"]):
        return found
    for upstream in manifest.get("upstream", []):
        found.add(upstream["digest"])
        beside = folder.parent / upstream["name"]
        if (beside / MANIFEST).is_file() and (above := read_manifest(beside))["digest"] == upstream["digest"]:
            found |= _documents(beside, above)
    return found
