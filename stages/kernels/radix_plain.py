"""The plain-Python twin of `radix`: the kernels' test oracle."""

from collections.abc import Sequence


def order_by(words: Sequence[Sequence[int]]) -> list[int]:
    """The rows in the order of their words, the first word first; rows that tie in all keep their order."""
    return sorted(range(len(words[0])), key=lambda row: tuple(word[row] for word in words))
