"""What a plan draws from: a dataset of rows as a whole, or one of its buckets, a range of its rows.

`emit` packs each domain and range of document lengths by itself and says in the manifest, `facts.packing.buckets`, in
row order: `domain`, `min_tokens` and `max_tokens` (half open, null for no bound; small buckets are merged with
neighbours of their domain), `first_row`, `stop_row`, `documents`, `tokens` (valid ones), `image_tokens`,
`padding_frac`, and `lengths`: the ranges of lengths that its documents are of, with their tokens. Buckets tile the
rows. A row of a bucket of several lengths counts for each by its part of the bucket's tokens. Datasets of
earlier versions have no `lengths`, then it counts for all alike that it spans; still earlier ones have no buckets.

`pools` says which datasets hold the same documents, packed or filtered in another way, so that epochs add up over them:
those that share a file of tokenised documents, or a dataset that both are made from, if nothing on the way made new
documents (their `derived` is 0).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.manifest import MANIFEST, parse_manifest, read_manifest
from gristmill.manifests.remote_access import RemotePlace
from gristmill.pipeline.curriculum.cells import Floats, buckets_spanned, span_name
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from gristmill.pipeline.reader.shard_source import Root


@dataclass(frozen=True)
class Length:
    """Documents of [min_tokens, max_tokens) tokens (None: no bound) within a source: `share` of its tokens."""

    min_tokens: int
    max_tokens: int | None
    share: float

    @property
    def name(self) -> str:
        """As `8K-32K`."""
        return span_name(self.min_tokens, self.max_tokens)

    def holds(self, tokens: int) -> bool:
        """Whether a document of so many tokens is of it."""
        return self.min_tokens <= tokens and (self.max_tokens is None or tokens < self.max_tokens)


@dataclass(frozen=True)
class Source:
    """Rows [first_row, stop_row) of a dataset, of documents of [min_tokens, max_tokens) tokens of a domain (None: of
    any). `tokens` are those that are no padding, `image_tokens` those of them that stand for pictures; `lengths` what
    is known to stand in it, ascending, one as wide as the source where nothing is. Their shares add up to 1."""

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
    lengths: tuple[Length, ...]

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
        return self.domain in (None, domain) and any(part.holds(length) for part in self.lengths)

    def shares(self, bounds: Sequence[int]) -> Floats:
        """float64[len(bounds) + 1]: the part of its tokens in each bucket of these bounds, in all 1. A length that
        spans several of them counts for each alike."""
        found = np.zeros(len(bounds) + 1)
        for part in self.lengths:
            spanned = buckets_spanned(part.min_tokens, part.max_tokens, bounds)
            found[spanned.start : spanned.stop] += part.share / len(spanned)
        return found


_ALL = Length(0, None, 1.0)


def whole(name: str, dataset: RowsDataset) -> Source:
    """A dataset as one source."""
    found = _buckets(dataset)
    packing = dataset.manifest["facts"].get("packing", {})
    tokens = round(dataset.rows * dataset.context * (1 - packing.get("padding_frac", 0.0)))
    images = sum(int(b["image_tokens"]) for b in found)
    return Source(name, name, dataset, 0, dataset.rows, None, 0, None, tokens, images, (_ALL,))


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
            lengths=_lengths(bucket),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise VerifyError("a bucket is none that this version reads", dataset.where, error, "emit it again") from None


def _lengths(bucket: Mapping[str, Any]) -> tuple[Length, ...]:
    held = [(int(p["min_tokens"]), p["max_tokens"], int(p["tokens"])) for p in bucket.get("lengths") or []]
    tokens = sum(n for _, _, n in held)
    if not tokens:
        high = bucket["max_tokens"]
        return (Length(int(bucket["min_tokens"]), None if high is None else int(high), 1.0),)
    if tokens != int(bucket["tokens"]):
        raise ValueError(f"its lengths hold {tokens} tokens, not {bucket['tokens']}")
    return tuple(Length(low, None if high is None else int(high), n / tokens) for low, high, n in held if n)


def _not_tiled(dataset: RowsDataset) -> VerifyError:
    return VerifyError("the buckets of its manifest do not tile its rows", dataset.where, None, "emit it again")


def pools(datasets: Mapping[str, RowsDataset]) -> dict[str, str]:
    """For each dataset the name of the first one, in the order given, that holds documents of it, itself at least."""
    names = list(datasets)
    parent = list(range(len(names)))

    def root(number: int) -> int:
        while parent[number] != number:
            number = parent[number]
        return number

    holder: dict[str, int] = {}
    for number, dataset in enumerate(datasets.values()):
        for digest in _documents(dataset.folder, dataset.manifest):
            one, other = root(holder.setdefault(digest, number)), root(number)
            parent[max(one, other)] = min(one, other)
    return {name: names[root(number)] for number, name in enumerate(names)}


def _documents(root_of: Root, manifest: Mapping[str, Any]) -> set[str]:
    """Digests of what holds the documents of a dataset: its tokenised files, and what they are made from unchanged."""
    found = {entry["digest"] for entry in manifest.get("tokenised", [])}
    if any(step.get("derived") for step in manifest["steps"]):
        return found
    for upstream in manifest.get("upstream", []):
        found.add(upstream["digest"])
        root, above = _beside(root_of, upstream["name"])
        if above is not None and above["digest"] == upstream["digest"]:
            found |= _documents(root, above)
    return found


def _beside(root: Root, name: str) -> tuple[Root, Mapping[str, Any] | None]:
    """The dataset of that name in the same output, and its manifest, None where it is not there."""
    if isinstance(root, Path):
        beside = root.parent / name
        return beside, read_manifest(beside) if (beside / MANIFEST).is_file() else None
    from gristmill.manifests.remote import get

    place = RemotePlace(root.bucket, "/".join([*root.prefix.split("/")[:-1], name]))
    data = get(place, MANIFEST)
    return place, None if data is None else parse_manifest(data[0], place.shown(MANIFEST))
