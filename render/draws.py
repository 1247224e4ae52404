"""Random draws of a sample: from a key alone, the same on every machine and version of Python.

`Draws(*key)` is seeded by BLAKE3 of the key's parts. Only `random.Random.getrandbits` is used, whose stream Python
promises; what the library's other methods make of it has changed between versions.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

from blake3 import blake3

T = TypeVar("T")

_BITS = 53


class Draws:
    """A stream of draws. Its state moves with each; `child` gives a stream that others' draws do not move."""

    def __init__(self, *key: str | int) -> None:
        self.key = tuple(str(part) for part in key)
        digest = blake3("\0".join(self.key).encode("utf-8", "surrogatepass")).digest()
        self._random = random.Random(int.from_bytes(digest, "big"))

    def child(self, *key: str | int) -> "Draws":
        """A stream of its own, decided by this one's key and `key`."""
        return Draws(*self.key, *key)

    def frac(self) -> float:
        """In [0, 1)."""
        return self._random.getrandbits(_BITS) / (1 << _BITS)

    def real(self, low: float, high: float) -> float:
        """In [low, high)."""
        return low + (high - low) * self.frac()

    def integer(self, low: int, high: int) -> int:
        """In [low, high), which must not be empty."""
        if high <= low:
            raise ValueError(f"nothing to draw from: [{low}, {high})")
        return low + int(self.frac() * (high - low))

    def chance(self, probability: float) -> bool:
        """True this often."""
        return self.frac() < probability

    def pick(self, items: Sequence[T]) -> T:
        """One of them, each as likely."""
        return items[self.integer(0, len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """One of them, as likely as its weight says."""
        left = self.real(0, sum(weights))
        for item, weight in zip(items, weights, strict=True):
            left -= weight
            if left < 0:
                return item
        return items[-1]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of them in another order (Fisher-Yates)."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.integer(0, last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different ones, in random order; all of them where there are fewer."""
        return self.shuffled(items)[:count]
