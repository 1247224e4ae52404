"""Which documents are packed together: those of one domain and one range of lengths.

A trainer gives each (domain, length) its own rate, so none may share rows with another. Ranges of lengths in tokens are
half open, bounds as BOUNDS. A range of less than MIN_ROWS rows' worth of tokens is merged with the next longer one
of its domain (the longest with the one before), since each bucket ends in a row that is not full. Ranges without
documents bound nothing: a bucket reaches from the lower bound of its first range that has some to the upper bound of
its last. Depends on the set of (domain, length) alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gristmill.pipeline.cut import Ints

BOUNDS = (8_192, 32_768, 131_072, 524_288)
"""Tokens: a window of 8K, and powers of four above it, whatever the context of the rows; also those of the default
rates."""

MIN_ROWS = 4
"""A bucket's last row is half empty on average. Padding of buckets of n to 2n rows' worth of tokens, log-normal lengths
(6.3, 1.1), rows of 8,192, means of 200 draws: 24 % for n = 1, 14 % for 2, 7.5 % for 4, 3.9 % for 8, 2.3 % for 16."""

Range = tuple[int, int | None]
"""[min_tokens, max_tokens), None: no bound."""

BY = ("domain", "length")
"""What may keep documents apart, by name."""


@dataclass(frozen=True)
class Bucket:
    """Documents that are packed together. domain: None where it does not count, "" that of a document without one;
    max_tokens: None where nothing bounds it; docs: int64, ascending indices of its documents."""

    domain: str | None
    min_tokens: int
    max_tokens: int | None
    docs: Ints


def buckets_of(lengths: Ints, domain: Ints, names: Sequence[str], context: int, by: Sequence[str]) -> list[Bucket]:
    """Buckets by (domain's name, length); none is empty.

    lengths: int64[n] tokens; domain: int64[n] indices into `names`, which are distinct; by: some of BY.
    """
    if "domain" not in by:
        return list(_of_domain(None, np.arange(len(lengths), dtype=np.int64), lengths, context, by))
    by_domain = np.argsort(domain, kind="stable").astype(np.int64)
    bounds = np.searchsorted(domain[by_domain], np.arange(len(names) + 1))
    found: list[Bucket] = []
    for index in sorted(range(len(names)), key=names.__getitem__):
        docs = by_domain[bounds[index] : bounds[index + 1]]
        found += _of_domain(names[index], docs, lengths[docs], context, by)
    return found


def _of_domain(name: str | None, docs: Ints, lengths: Ints, context: int, by: Sequence[str]) -> Iterator[Bucket]:
    if "length" not in by:
        if len(docs):
            yield Bucket(name, 0, None, docs)
        return
    which = np.searchsorted(np.array(BOUNDS), lengths, side="right")
    tokens = [int(lengths[which == r].sum()) for r in range(len(BOUNDS) + 1)]
    for first, last in merged(tokens, MIN_ROWS * context):
        low = 0 if first == 0 else BOUNDS[first - 1]
        high = None if last == len(BOUNDS) else BOUNDS[last]
        yield Bucket(name, low, high, docs[(which >= first) & (which <= last)])


def lengths_within(lengths: Ints) -> Iterator[tuple[Range, Ints]]:
    """Each canonical range that has documents, ascending, with the indices (int64) of its documents.

    lengths: int64[n] tokens.
    """
    which = np.searchsorted(np.array(BOUNDS), lengths, side="right")
    for r in np.unique(which).tolist():
        low, high = 0 if r == 0 else BOUNDS[r - 1], None if r == len(BOUNDS) else BOUNDS[r]
        yield (low, high), np.flatnonzero(which == r).astype(np.int64)


def merged(tokens: Sequence[int], least: int) -> list[tuple[int, int]]:
    """(first, last) ranges, both with tokens, that are packed together; all have `least` tokens if the whole has.

    tokens: of each range, from the shortest documents to the longest.
    """
    found: list[tuple[int, int]] = []
    pending: list[int] = []
    for index, here in enumerate(tokens):
        pending += [index] if here else []
        if sum(tokens[p] for p in pending) >= max(least, 1):
            found.append((pending[0], index))
            pending = []
    if pending:
        found = [*found[:-1], (found[-1][0] if found else pending[0], pending[-1])]
    return found
