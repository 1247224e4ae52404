"""Rows as a frozen dataclass of arrays of one length: put one behind the other, and cut."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Columns:
    """A subclass has nothing but arrays of shape (n, ...) as fields, n rows."""

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All rows of some parts, at least one."""
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))

    def part(self, first: int, stop: int) -> Self:
        """Rows [first, stop), without a hold on the others."""
        return type(self)(*(getattr(self, f.name)[first:stop].copy() for f in fields(self)))
