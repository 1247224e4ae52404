"""How far evidence is scattered: spans, cover numbers, and whether one window holds all of it. Positions are tokens."""

from collections.abc import Sequence

Span = tuple[int, int]


def cover_number(spans: Sequence[Span], window: int) -> int:
    """The fewest windows of so many tokens that hold every span between them; a span longer than one needs its own.

    Greedy from the left, which is optimal: some window must hold the leftmost span, and none does better than the
    one that begins with it.
    """
    count, reach = 0, -1
    for start, end in sorted(spans):
        if end > reach:
            count, reach = count + 1, start + window
    return count


def extent(spans: Sequence[Span]) -> int:
    """From the first token of the first span to the last token of the last."""
    return max(end for _, end in spans) - min(start for start, _ in spans)


def fits_window(spans: Sequence[Span], window: int) -> bool:
    """Whether one window holds them all."""
    return extent(spans) <= window


def touched(spans: Sequence[Span], length: int, parts: int) -> set[int]:
    """Which of `parts` equal parts of [0, length) a span has tokens in."""
    return {p for start, end in spans for p in range(start * parts // length, (end - 1) * parts // length + 1)}
