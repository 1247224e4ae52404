"""Choices from a key alone: the same on every machine, whatever the order in which records come."""

from collections.abc import Sequence
from typing import TypeVar

from blake3 import blake3

T = TypeVar("T")


class Choice:
    """A stream of choices, decided by its key."""

    def __init__(self, *key: str | int) -> None:
        self._key = "\0".join(map(str, key)).encode("utf-8", "surrogatepass")
        self._made = 0

    def below(self, count: int) -> int:
        """In [0, count), which must not be empty."""
        digest = blake3(self._key + b"\0%d" % self._made).digest(8)
        self._made += 1
        return int.from_bytes(digest, "big") % count

    def pick(self, items: Sequence[T]) -> T:
        """One of them, each as likely."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of them in another order."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order
