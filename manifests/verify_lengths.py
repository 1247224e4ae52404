"""Whether the buckets of a dataset hold the lengths of documents that its manifest says (`lengths` of each bucket).

Ranges of lengths ascend, do not overlap and lie within their bucket's; documents and tokens of each are those of the
rows, and add up to the bucket's; `rate` is the bucket's part of all tokens. Of a bucket without them, of an earlier
version, nothing is asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_COUNTS = ("documents", "tokens")
_MOST = int(np.iinfo(np.int64).max)


class LengthCount:
    """Documents and tokens of each range of each bucket, as pieces of documents are seen."""

    def __init__(self, buckets: Sequence[Mapping[str, Any]]) -> None:
        self._buckets = buckets
        self.malformed = [number for number, bucket in enumerate(buckets) if not _is_sound(bucket)]
        known = [] if self.malformed else buckets
        ranges = [(n, *_range(part)) for n, bucket in enumerate(known) for part in bucket.get("lengths") or ()]
        self._edges = np.array(sorted({0, *(e for _, low, high in ranges for e in (low, high))}), np.int64)
        # The last cell takes what no range names; that is then missing elsewhere.
        self._cell = np.full((len(buckets), len(self._edges)), len(ranges), np.int64)
        for cell, (bucket, low, high) in enumerate(ranges):
            self._cell[bucket, (self._edges >= low) & (self._edges < high)] = cell
        self._counts = np.zeros((len(ranges) + 1, len(_COUNTS)), np.int64)

    def add(self, bucket: Ints, lengths: Ints, sizes: Ints, begins: npt.NDArray[np.bool_]) -> None:
        """Pieces: their buckets, the tokens of their whole documents, their own, and whether each begins a document."""
        cell = self._cell[bucket, np.searchsorted(self._edges, lengths, side="right") - 1]
        np.add.at(self._counts[:, 0], cell, begins)
        np.add.at(self._counts[:, 1], cell, sizes)

    def wrong(self) -> Iterator[tuple[int, str]]:
        """(number of the bucket, what is wrong), when all pieces were seen."""
        yield from ((number, "its lengths are no ranges in order within it") for number in self.malformed)
        if self.malformed:
            return
        whole = sum(bucket["tokens"] for bucket in self._buckets)
        at = 0
        for number, bucket in enumerate(self._buckets):
            for part in bucket.get("lengths") or ():
                off = [n for n, held in zip(_COUNTS, self._counts[at].tolist(), strict=True) if part[n] != held]
                if off:
                    yield number, f"{' and '.join(off)} of lengths from {part['min_tokens']} are not those of the rows"
                at += 1
            if "lengths" in bucket:
                yield from ((number, what) for what in _sums(bucket))
            if "rate" in bucket and bucket["rate"] != bucket["tokens"] / max(whole, 1):
                yield number, f"rate is {bucket['rate']}, it has {bucket['tokens']} of {whole} tokens"


def _sums(bucket: Mapping[str, Any]) -> Iterator[str]:
    for name in _COUNTS:
        total = sum(part[name] for part in bucket["lengths"])
        if total != bucket[name]:
            yield f"{name} of its lengths add up to {total}, not {bucket[name]}"


def _is_sound(bucket: Mapping[str, Any]) -> bool:
    try:
        ranges = [_range(part) for part in bucket.get("lengths") or ()]
        numbers = all(isinstance(part[name], int) for part in bucket.get("lengths") or () for name in _COUNTS)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    low, high = _range(bucket)
    ends = [low, *(end for pair in ranges for end in pair), high]
    return numbers and ends == sorted(ends) and all(a < b for a, b in ranges)


def _range(part: Mapping[str, Any]) -> tuple[int, int]:
    return int(part["min_tokens"]), _MOST if part["max_tokens"] is None else int(part["max_tokens"])
