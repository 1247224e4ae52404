"""Cells of a pool: domain by length of document, in tokens of the tokenizer that the rows are of.

An array over cells is float64[domains, buckets]. Bucket b holds documents of [edge b, edge b + 1) tokens, the edges
being 0, the bounds and infinity; code counts by whole repository.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def length_name(tokens: int) -> str:
    """8192 as 8K; what is no whole number of Ki as it is."""
    for unit, size in (("M", 1 << 20), ("K", 1 << 10)):
        if tokens >= size and not tokens % size:
            return f"{tokens // size}{unit}"
    return str(tokens)


def span_name(first_tokens: int, stop_tokens: int | None) -> str:
    """Of documents of [first, stop) tokens; None is no bound."""
    if stop_tokens is None:
        return f">={length_name(first_tokens)}" if first_tokens else "any"
    return f"{length_name(first_tokens)}-{length_name(stop_tokens)}" if first_tokens else f"<{length_name(stop_tokens)}"


def bucket_names(bounds: Sequence[int]) -> tuple[str, ...]:
    """One more than there are bounds."""
    edges = (0, *bounds)
    return tuple(span_name(edges[b], bounds[b] if b < len(bounds) else None) for b in range(len(edges)))


def buckets_spanned(first_tokens: int, stop_tokens: int | None, bounds: Sequence[int]) -> range:
    """The buckets that documents of [first, stop) tokens may lie in."""
    first = int(np.searchsorted(bounds, first_tokens, side="right"))
    last = len(bounds) if stop_tokens is None else int(np.searchsorted(bounds, max(stop_tokens - 1, 0), side="right"))
    return range(first, max(last, first) + 1)
