"""An exclusion writer that keeps what it is given."""

from typing import Any


class Excluded:
    """Stands where a datatrove pipeline has its writer; `closed` counts how often it was left."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self.ranks: list[int] = []
        self.closed = 0

    def __enter__(self) -> "Excluded":
        return self

    def __exit__(self, *_: object) -> None:
        self.closed += 1

    def write(self, document: Any, rank: int = 0) -> None:
        """Take a document."""
        self.documents.append(document)
        self.ranks.append(rank)
