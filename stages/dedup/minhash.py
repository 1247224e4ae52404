"""Near-duplicates: candidates by MinHash, each verified, and of each cluster an independent set is kept.

A document goes only when its measured similarity to a *kept* document of better rank is at least `threshold`: the kept
ones are the lexicographically first independent set of the verified pairs, so a chain of near neighbours does not
swallow its end. Rank is the keeper's policy, then the content hash: no shard, order or engine enters it. Documents with
too few words for a shingle are compared as a whole. Columns: `text`, `domain`, `content_hash`, `id`, `dup_count`, and
what the policy reads; kept documents that have something like them get `dup_cluster` and `dup_count`.

The pipeline runs it (`pipeline/similar/`); here is what texts become. The arithmetic stands in docs/minhash.md.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.dedup import keeper, lsh_curve
from gristmill.stages.dedup.minhash_rows import BandRows, Copies, explain_bands
from gristmill.stages.dedup.shingles import ShingleSets, ShingleSpec, shingle_sets, shingle_sets_of_ids
from gristmill.stages.dedup.sketch import SketchSpec
from gristmill.stages.dedup.tokens import fingerprint_of, token_ids, tokenizer_of
from gristmill.stages.params import param, tokenizer_param
from gristmill.stages.protocol import Reason

INDEX_USES = ("save", "query")
_SETS = ("shingle", "unit", "normalise")
_KEYS = (*_SETS, "seed", "bands", "rows")
PARTS: Mapping[str, tuple[str, ...]] = {
    "copies": ("policy",),
    "keys": (*_KEYS, "policy"),
    "pairs": (*_KEYS, "policy", "max_bucket", "pivots"),
    "sets": (*_SETS, "policy"),
    "verify": (*_SETS, "similarity", "threshold"),
    "index": _KEYS,
}
"""Part of the work -> the parameters that decide it. An index and its query must agree in those of `index`."""

KERNELS = (
    "band_rows",
    "cluster_hash",
    "components",
    "distinct",
    "gather",
    "groups",
    "minhash",
    "radix",
    "repeated",
    "set_pairs",
    "shingle_rows",
    "stars",
)

NEAR, EXACT, INDEXED = range(3)
"""Indices of `MinhashDedup.reasons()`."""


@dataclass(frozen=True)
class MinhashDedup:
    """Drop what is nearly the same as a document that is kept."""

    name: ClassVar[str] = "minhash_dedup"
    version: ClassVar[int] = 2

    bands: int = param(14, "bands of the signature; FineWeb: 14")
    rows: int = param(8, "lanes of a band; FineWeb: 8. Pairs meet with probability 1 - (1 - j^rows)^bands")
    threshold: float = param(0.7, "least similarity to the kept document at which one goes, in (0, 1]")
    shingle: int = param(5, "units of a shingle; FineWeb: 5 words")
    unit: Literal["word", "char", "token"] = param("word", "what shingles are made of: word, char or token")
    normalise: Literal["auto", "prose", "exact"] = param("auto", "form of the text; auto: exact for code and math")
    similarity: Literal["jaccard", "containment"] = param("jaccard", "shared shingles by those of both, or the smaller")
    keep: tuple[str, ...] = param(
        (), "which one is kept: longest (default of containment), score:NAME, source:A>B, ..."
    )
    seed: int = param(1, "seed of all hashes")
    max_bucket: int = param(32, "documents that share a band key, of which all pairs are compared")
    pivots: int = param(8, "of more, each is compared with so many of the best, and what is left once more")
    tokenizer: str = tokenizer_param("vocabulary of the unit `token`; the recipe's where none is named")
    index: Mapping[str, str] | None = param(None, "save: NAME writes an index of what is kept, query: NAME reads one")

    def __post_init__(self) -> None:
        """Raises UsageError on what cannot be."""
        self.spec.check(self.name)
        keeper.check(self.keep)
        if not 0.0 < self.threshold <= 1.0:
            raise UsageError("threshold must be above 0 and at most 1", self.name, self.threshold, "0.7 is the default")
        if self.pivots < 1 or self.max_bucket < self.pivots:
            value = f"pivots {self.pivots}, max_bucket {self.max_bucket}"
            raise UsageError("must be 1 <= pivots <= max_bucket", self.name, value, "leave them out for the defaults")
        given = self.index or {}
        unknown = sorted(set(given) - set(INDEX_USES))
        if unknown or any(not name for name in given.values()):
            value = unknown[0] if unknown else dict(given)
            raise UsageError("index takes save and query, each a name", self.name, value, "index: {save: NAME}")

    def prepare(self) -> None:
        """Compile or load every kernel that it runs. Raises InputError on a file that is no tokenizer."""
        for name in KERNELS:
            importlib.import_module(f"gristmill.stages.kernels.{name}")
        if self.tokenizes:
            tokenizer_of(self.tokenizer)

    @property
    def tokenizes(self) -> bool:
        """Whether the vocabulary matters."""
        return self.unit == "token"

    @property
    def spec(self) -> SketchSpec:
        """How texts become band keys."""
        return SketchSpec(ShingleSpec(self.unit, self.shingle, self.normalise), self.bands, self.rows, self.seed)

    @property
    def policy(self) -> tuple[str, ...]:
        """The keeper's policy: `keep`; by containment, where none is given, the longest, lest a text go for a part."""
        return self.keep or (("longest",) if self.similarity == "containment" else ())

    @property
    def measure_name(self) -> str:
        """How ledgers call the similarity."""
        return self.similarity

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it needs."""
        own = ("id", "content_hash", "text", "domain", "dup_count")
        return tuple(dict.fromkeys((*own, *keeper.columns_of(self.policy))))

    def reasons(self) -> tuple[Reason, ...]:
        """`near_duplicate`, `exact_duplicate`, `indexed_duplicate`."""
        return (
            Reason("near_duplicate", "drop", f"{self.similarity} to the kept document is at or above the threshold"),
            Reason("exact_duplicate", "drop", "text and media equal those of the keeper"),
            Reason("indexed_duplicate", "drop", "a document of the index that is queried is as similar, or equal"),
        )

    def explain(self, note: int) -> str:
        """Which bands met, from their bits."""
        return explain_bands(note, self.bands)

    def copies(self) -> Copies:
        """See `stages.protocol.Similar`."""
        return Copies(self.policy)

    def keys(self) -> BandRows:
        """See `stages.protocol.Similar`."""
        return BandRows(self.spec, self.policy, self.max_bucket, self.pivots, self.tokenizer)

    def sets(self, batch: pa.RecordBatch, key: int | None = None) -> ShingleSets:
        """What the similarity of the batch's documents is measured on; hashed under `key` (default: the seed)."""
        key = self.seed if key is None else key
        if self.tokenizes:
            ids = token_ids(batch.column("text"), self.tokenizer)
            return shingle_sets_of_ids(ids.ids, ids.offsets, self.shingle, key)
        return shingle_sets(batch.column("text"), batch.column("domain"), self.spec.shingles, key)

    def similarities(self, shared: Any, sizes_a: Any, sizes_b: Any) -> Any:
        """float64 (n) of pairs: shingles that both have, and those of each."""
        whole = sizes_a + sizes_b - shared if self.similarity == "jaccard" else np.minimum(sizes_a, sizes_b)
        return shared / np.maximum(whole, 1)

    def decides(self, part: str) -> dict[str, Any]:
        """What decides a part of the work (a key of PARTS); work is done anew only where that changes."""
        params = {name: getattr(self, name) for name in PARTS[part]}
        if self.tokenizes and part != "copies":
            params["tokenizer"] = fingerprint_of(self.tokenizer)
        return {
            "stage": self.name,
            "version": self.version,
            "of": part,
            "params": {k: list(v) if isinstance(v, tuple) else v for k, v in params.items()},
        }

    def about(self) -> dict[str, Any]:
        """What a plan shows of it: the S-curve, the Jaccard at which half of the pairs are found, and how many of those
        at the threshold are (for containment: of sets of one size, the most that can be)."""
        by_jaccard = self.similarity == "jaccard"
        jaccard = self.threshold if by_jaccard else lsh_curve.jaccard_of(self.threshold)
        at_threshold = lsh_curve.probability(jaccard, self.bands, self.rows)
        told = f"{at_threshold:.1%} at the threshold {self.threshold:g}" if by_jaccard else self._parts_found()
        return {
            "summary": f"{lsh_curve.line(self.bands, self.rows)}; {told}{self._forms_apart()}",
            "curve_of": "jaccard",
            "lsh_threshold": lsh_curve.threshold(self.bands, self.rows).half,
            "found_at_threshold": at_threshold,
            "curve": [list(point) for point in lsh_curve.curve(self.bands, self.rows)],
        }

    def _forms_apart(self) -> str:
        apart = self.normalise == "auto" and not self.tokenizes
        return "; documents of code and math meet no others (normalise: prose compares all alike)" if apart else ""

    def _parts_found(self) -> str:
        found = (f"{lsh_curve.probability(1 / k, self.bands, self.rows):.2%} of one {k} times as long" for k in (2, 5))
        return f"the curve is of Jaccard, containment is measured of what bands find: of parts, {', '.join(found)}"
