"""What long rows offer to a reader that only copies: how far away, how often, and whether answers can be had so.

In: ids of a row (uint32[n]). Distances are tokens. All counts are of exact grams: 64-bit hashes of the ids, a chance
collision of which is below 1e-6 a row of 2**20 tokens. Reference 6.2 and 4.8. Nothing that makes rows is imported.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

INDUCTION_GRAM, REPEAT_GRAM = 6, 32
BINS = (1 << 10, 1 << 13, 1 << 16, 1 << 18)
"""Upper bounds of distances of all bins but the last, which has none."""
COPY_GRAMS = range(8, 1, -1)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Copied(NamedTuple):
    """`hits` answers of `asked` that the longest match got right; `answered` of them had a match at all."""

    hits: int
    answered: int
    asked: int


def grams(ids: Ids, size: int) -> npt.NDArray[np.uint64]:
    """uint64[max(n - size + 1, 0)]: a hash of the `size` ids from each place."""
    count = max(len(ids) - size + 1, 0)
    mixed = (ids.astype(np.uint64) + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(31)
    found = np.zeros(count, np.uint64)
    for at in range(size):
        found = (found + mixed[at : at + count]) * _MULTIPLIER
        found ^= found >> np.uint64(29)
    return found


def previous(hashes: npt.NDArray[np.uint64]) -> Ints:
    """int64[n]: the last earlier place with the same hash, -1 where there is none."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    found = np.full(len(hashes), -1, np.int64)
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    found[order[same + 1]] = order[same]
    return found


def induction_mass(ids: Ids) -> tuple[float, ...]:
    """Shares of all tokens that copying behind the last earlier place of the same six tokens predicts, by the distance
    to what is copied: of each of BINS, and of what is further away."""
    before = previous(grams(ids[:-1], INDUCTION_GRAM))
    at = np.arange(len(before)) + INDUCTION_GRAM
    found = before >= 0
    right = found & (ids[at] == ids[np.where(found, before, 0) + INDUCTION_GRAM])
    distances = (at - INDUCTION_GRAM - before)[right]
    counts = np.bincount(np.searchsorted(BINS, distances, "left"), minlength=len(BINS) + 1)
    return tuple((counts / max(len(ids), 1)).tolist())


def repeated(ids: Ids, keep: Bools | None = None) -> float:
    """Share of the 32-grams that stand earlier in the row too. keep: bool[n], which tokens are looked at; a gram counts
    where all of its tokens are."""
    hashes = grams(ids, REPEAT_GRAM)
    if keep is not None:
        whole = np.concatenate(([0], np.cumsum(keep)))
        hashes = hashes[whole[REPEAT_GRAM:] - whole[:-REPEAT_GRAM] == REPEAT_GRAM] if len(hashes) else hashes
    return float((previous(hashes) >= 0).mean()) if len(hashes) else 0.0


def copied(ids: Ids, places: Sequence[int]) -> list[int]:
    """Of each place the token that copying puts there: what followed the last earlier place of the 8 tokens in front of
    it, else of the 7, and so on down to 2; -1 where none stands earlier. Raises ValueError for a place outside."""
    if any(not 0 <= place < len(ids) for place in places):
        raise ValueError("a place outside of the row")
    found = [-1] * len(places)
    for size in COPY_GRAMS:
        before = previous(grams(ids, size))
        for at, place in enumerate(places):
            start = place - size
            if found[at] < 0 and start >= 0 and before[start] >= 0:
                found[at] = int(ids[before[start] + size])
    return found


def copy_hits(ids: Ids, places: Sequence[int]) -> Copied:
    """How many of these tokens (the discriminating ones of answers: `answer_start + disc_offset`) are copied right."""
    told = copied(ids, places)
    hits = sum(token == int(ids[place]) for token, place in zip(told, places, strict=True))
    return Copied(hits, sum(token >= 0 for token in told), len(places))
