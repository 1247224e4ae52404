"""Sets of shingles of documents: what the similarity of two documents is measured on.

Text in: large_string, null as ""; domain: string or dictionary of them, null where it is not known. Out: for each row
its distinct shingles as ascending 64-bit hashes. A shingle is a sequence of `n` units; two documents share a shingle
where the same units stand in the same order. What a unit is, and how it is hashed, docs/minhash.md says: in short,

* `prose` (domains web, knowledge, vision and rows without one): words in canonical caseless form (Unicode D145), digits
  kept, punctuation dropped, each letter of a script without spaces a word; or the characters of that form;
* `exact` (code, math): what stands between white space, untouched; or the characters.

A row of fewer than `n` units has no shingle, so that only exact deduplication can find copies of it.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import UsageError

EXACT_DOMAINS = ("code", "math")
"""Domains in which case, punctuation and marks carry meaning: nothing but white space is normalised there."""

MAX_N = 1024

Hashes = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]

_MIN_ROOM = 4096  # shingles; a kernel's block, twice
_BYTES_PER_SHINGLE = 6  # of text: a word of prose takes 7, its blank included


@dataclass(frozen=True)
class ShingleSpec:
    """What a shingle is: `n` units; of which form, `auto` being that of the row's domain."""

    unit: Literal["word", "char", "token"] = "word"
    n: int = 5
    normalise: Literal["auto", "prose", "exact"] = "auto"

    UNITS: ClassVar[tuple[str, ...]] = ("word", "char", "token")
    FORMS: ClassVar[tuple[str, ...]] = ("auto", "prose", "exact")

    def check(self, where: str = "shingles") -> None:
        """Raises UsageError on a unit, form or size that there is not."""
        if self.unit not in self.UNITS:
            raise UsageError("a shingle of unknown units", where, self.unit, f"use one of {', '.join(self.UNITS)}")
        if self.normalise not in self.FORMS:
            raise UsageError("an unknown form of text", where, self.normalise, f"use one of {', '.join(self.FORMS)}")
        if not 1 <= self.n <= MAX_N:
            raise UsageError("a shingle of so many units cannot be made", where, self.n, f"use 1 to {MAX_N}")


@dataclass(frozen=True)
class ShingleSets:
    """Row i has the shingles `hashes[offsets[i]:offsets[i + 1]]`, ascending and distinct (uint64; int64 (n + 1))."""

    hashes: Hashes
    offsets: Offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, number: int) -> Hashes:
        """The set of one row."""
        return self.hashes[self.offsets[number] : self.offsets[number + 1]]


def unit_kinds(domain: pa.Array, spec: ShingleSpec) -> npt.NDArray[np.uint8]:
    """For each row which units of `kernels.shingle_words` it has. Raises UsageError for tokens, which need ids."""
    from gristmill.stages.kernels.shingle_words import CHARS, CHUNKS, EXACT_CHARS, WORDS

    spec.check()
    if spec.unit == "token":
        raise UsageError("shingles of tokens need ids", "shingles", spec.unit, "tokenise first: shingle_sets_of_ids")
    prose, exact = (WORDS, CHUNKS) if spec.unit == "word" else (CHARS, EXACT_CHARS)
    if spec.normalise == "auto":
        names = (domain.dictionary_decode() if pa.types.is_dictionary(domain.type) else domain).cast(pa.string())
        is_exact = pc.is_in(names, value_set=pa.array(EXACT_DOMAINS, pa.string())).to_numpy(zero_copy_only=False)
    else:
        is_exact = np.full(len(domain), spec.normalise == "exact")
    kinds = np.where(is_exact, exact, prose).astype(np.uint8)
    kinds.flags.writeable = False
    return kinds


def shingle_sets(text: pa.Array, domain: pa.Array, spec: ShingleSpec, seed: int = 1) -> ShingleSets:
    """The sets of all rows. Memory: 8 bytes for each shingle of the batch that is no repetition within its row, up to
    twice that while they are made, and at least 4/3 of the text; where room runs short, repetitions go first."""
    from gristmill.stages.kernels.buffers import text_buffers
    from gristmill.stages.kernels.distinct import keep_distinct
    from gristmill.stages.kernels.shingle_rows import Listing, Rows, shingle_tables

    kinds = unit_kinds(domain, spec)
    rows = Rows(*text_buffers(text), kinds)
    room = int(rows.offsets[-1] - rows.offsets[0]) // _BYTES_PER_SHINGLE + _MIN_ROOM
    found = np.empty(room, np.uint64)
    listing = Listing(rows, spec.n, shingle_tables(spec.n, seed))
    done, kept, ends = 0, 0, np.zeros(len(kinds) + 1, np.int64)
    while True:
        finished = listing.step(found)
        starts = np.append(kept, listing.ends[done : listing.row])
        if listing.row > done:
            ends[done + 1 : listing.row + 1] = keep_distinct(found, starts, kept)
            kept = int(ends[listing.row])
        if finished:
            return ShingleSets(_fitting(found, kept), ends)
        listing.used = int(keep_distinct(found, np.array([starts[-1], listing.used]), kept)[0])
        done = listing.row
        if 3 * listing.used > 2 * len(found) or len(found) - listing.used < _MIN_ROOM:
            more = max(len(found) // 2, _MIN_ROOM)
            found = np.concatenate([found[: listing.used], np.empty(more, np.uint64)])


def _fitting(found: Hashes, kept: int) -> Hashes:
    """The first values; a copy where most of the array would be held for nothing."""
    return found[:kept] if 2 * kept > len(found) else found[:kept].copy()


def shingle_sets_of_ids(ids: npt.NDArray[np.uint32], offsets: Offsets, n: int, seed: int = 1) -> ShingleSets:
    """The sets of rows of token ids: row i is `ids[offsets[i]:offsets[i + 1]]`."""
    from gristmill.stages.kernels.distinct import keep_distinct
    from gristmill.stages.kernels.shingle_rows import list_of_ids, shingle_tables

    ShingleSpec("token", n).check()
    listed, stops = list_of_ids(ids, offsets, n, shingle_tables(n, seed))
    ends = np.append(0, keep_distinct(listed, np.append(0, stops), 0))
    return ShingleSets(_fitting(listed, int(ends[-1])), ends)
