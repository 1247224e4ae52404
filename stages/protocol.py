"""The shapes of a stage (design section 4), free of any engine.

A stage is a frozen dataclass of parameters with pure methods. `name` (the word in a recipe) and `version`
(raised whenever its output changes) are class variables. Three shapes:

* row-local: `Filter` (measure, then rules decide) or `Mapper` (changes rows, may drop or quarantine some);
  both see RecordBatches of any length, including 0 rows, and never look beyond the batch;
* exchange: `Exchange` emits fixed-width rows (key, order, addr) and reduces them sorted by (key, order);
* plan: one process turns fixed-width rows of whole datasets into a task table (`PlanStage`).

Batches hold the columns of `manifests.schema.DOCUMENT`, perhaps more to the right of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Floats = npt.NDArray[np.float64]
Verdict = Literal["drop", "quarantine"]
Direction = Literal["above", "below"]


@dataclass(frozen=True)
class Rule:
    """Drop a record whose `measure` is strictly above (below) `limit`, giving `reason`.

    `by_profile` gives other limits to rows of the profiles that it names (a language, mostly; None turns the rule
    off); the stage's `profiles` says which row is of which. `source` cites paper and table of the limit.
    NaN never fails a rule.
    """

    measure: str
    direction: Direction
    limit: float
    reason: str
    source: str = ""
    by_profile: Mapping[str, float | None] = field(default_factory=dict[str, float | None])


@dataclass(frozen=True)
class Reason:
    """One word of a stage's closed vocabulary of reasons, with what it means."""

    reason: str
    verdict: Verdict
    doc: str


@dataclass(frozen=True)
class RowVerdict:
    """A mapper's decision that row `row` of its batch goes: why, on what value against what limit."""

    row: int
    verdict: Verdict
    reason: str
    measure: str = ""
    value: float = float("nan")
    limit: float = float("nan")
    detail: str = ""


@dataclass(frozen=True)
class Mapped:
    """What a mapper made of a batch of n rows.

    `batch` has n rows again (rows with a verdict are removed by the caller, their content is ignored);
    `cut_chars[reason]` (int64, n) are the characters that the stage took out of the text of each row:
    `chars(text before) == chars(text after) + sum(cut) `, so characters that a stage writes itself
    count negatively under their own reason. `measures[name]` (float64, n) are values for the record.
    """

    batch: pa.RecordBatch
    verdicts: tuple[RowVerdict, ...] = ()
    cut_chars: Mapping[str, npt.NDArray[np.int64]] = field(default_factory=dict[str, Any])
    measures: Mapping[str, Floats] = field(default_factory=dict[str, Any])


@runtime_checkable
class Filter(Protocol):
    """Row-local, decides by measures: `measure` is pure and total (defined for ""), ratios in [0, 1]."""

    name: ClassVar[str]
    version: ClassVar[int]

    def rules(self) -> tuple[Rule, ...]:
        """The rules in the order in which they are tried; the first that fails names the reason."""
        ...

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """Each measure that a rule names (and perhaps more): float64 arrays as long as the batch."""
        ...


@runtime_checkable
class Mapper(Protocol):
    """Row-local, changes rows."""

    name: ClassVar[str]
    version: ClassVar[int]

    def reasons(self) -> tuple[Reason, ...]:
        """Every reason that `transform` can give, for drops, quarantines; cut reasons have verdict drop."""
        ...

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch's rows anew; pure but for caches and the killable child."""
        ...


@runtime_checkable
class Profiled(Protocol):
    """What a filter may have besides: limits that depend on a row's profile."""

    def profiles(self, batch: pa.RecordBatch) -> Sequence[str]:
        """The profile of each row, "" where none applies; rules then ask `by_profile`."""
        ...


RowStage = Filter | Mapper

EMITTED_ADDR = "addr"


def emitted_schema(key_bytes: int, order_bytes: int) -> pa.Schema:
    """Schema of what an exchange emits: big-endian `key` and `order`, and the row's `addr`."""
    return pa.schema([("key", pa.binary(key_bytes)), ("order", pa.binary(order_bytes)), (EMITTED_ADDR, pa.uint64())])


REDUCED = pa.schema(
    [(EMITTED_ADDR, pa.uint64()), ("keeper", pa.binary(16)), ("value", pa.float64()), ("limit", pa.float64())]
)
"""What a dedup exchange reduces to: the address of each row that goes, the id (128 bits) of the kept row,
and the measured similarity with its limit."""


@runtime_checkable
class Exchange(Protocol):
    """Grouping over whole datasets: `emit` fixed-width rows, `reduce` a run-length scan of the sorted rows.

    `reads` are the columns that `emit` needs. `addr` is `(shard << 32) | row` inside the frozen plan and
    never leaves it. A key never spans calls of `reduce` and may span batches within one.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    reads: ClassVar[tuple[str, ...]]
    key_bytes: ClassVar[int]
    order_bytes: ClassVar[int]

    def reasons(self) -> tuple[Reason, ...]:
        """The reason that each reduced row is dropped for (exactly one for now)."""
        ...

    def emit(self, batch: pa.RecordBatch, addr: npt.NDArray[np.uint64]) -> pa.RecordBatch:
        """Rows of `emitted_schema(key_bytes, order_bytes)` for the rows of the batch."""
        ...

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of REDUCED from batches sorted by (key, order)."""
        ...


Stage = Filter | Mapper | Exchange


def drops_when_above(value: Floats, limit: Floats | float) -> npt.NDArray[np.bool_]:
    """True where a value is strictly above the limit; NaN is never above."""
    return np.greater(value, limit)


def drops_when_below(value: Floats, limit: Floats | float) -> npt.NDArray[np.bool_]:
    """True where a value is strictly below the limit; NaN is never below."""
    return np.less(value, limit)
