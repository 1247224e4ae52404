"""What several filters of a chain derive from the same texts: made once, followed while rows drop out.

A derived object (segments, tables of lines) belongs to one text column, told by the addresses of its buffers; it
must have `take(kept)`, which gives the object of the rows that stay. `run_chain` calls `follow` when rows go and
`forget` at its end, so that nothing outlives its batch. One chain at a time in a thread.
"""

import threading
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class Derived(Protocol):
    """An object with a part for each row of a text column."""

    def take(self, kept: npt.NDArray[np.bool_]) -> Self:
        """The object of the rows that `kept` (bool, n) marks, in order."""
        ...


D = TypeVar("D", bound=Derived)


class _Held(threading.local):
    """`text` keeps the buffers alive, so that their addresses are nobody else's."""

    text: pa.Array | None = None
    values: dict[str, Any] | None = None


_held = _Held()


def derived(text: pa.Array, name: str, make: Callable[[pa.Array], D]) -> D:
    """The object called `name` of this text column; made, and held, when it is not there."""
    if _held.text is None or _held.values is None or _identity(_held.text) != _identity(text):
        _held.text, _held.values = text, {}
    if name not in _held.values:
        _held.values[name] = make(text)
    return cast(D, _held.values[name])


def follow(before: pa.Array, after: pa.Array, kept: npt.NDArray[np.bool_]) -> None:
    """`after` holds the rows of `before` that `kept` marks: what is derived of the one is kept for the other."""
    if _held.text is None or _held.values is None or _identity(_held.text) != _identity(before):
        return
    _held.values = {name: value.take(kept) for name, value in _held.values.items()}
    _held.text = after


def forget() -> None:
    """Let go of everything."""
    _held.text, _held.values = None, None


def _identity(text: pa.Array) -> tuple[object, ...]:
    addresses = tuple(b.address if b is not None else None for b in text.buffers())
    return str(text.type), text.offset, len(text), addresses
