"""The shapes of a stage (design section 4), free of any engine.

A stage is a frozen dataclass of parameters with pure methods. `name` (the word in a recipe) and `version`
(raised whenever its output changes) are class variables. Three shapes:

* row-local: `Filter` (measure, then rules decide), `Mapper` (changes rows, may drop or quarantine some) or `Expander`
  (makes further rows of some); they see RecordBatches of any length, including 0 rows, and never look beyond the batch;
* exchange: `Exchange` emits fixed-width rows (key, order, addr) and reduces them sorted by (key, order), `Rounds` does
  so several times, `Similar` verifies candidates, `Census` decides in one process; all of them give VERDICTS;
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


DERIVED = "derived"
"""Under which the characters of further rows count as cut, negatively: a reason that every expander has."""


@dataclass(frozen=True)
class Expanded:
    """What an expander made of a batch of n rows, which themselves stay as they are, but for those with a verdict.

    `further` are m rows of the batch's schema, `parent` (int64, m) ascending the row of the batch that each was made
    from, `form` (m) what it is, a word that stands once for each parent. The caller sets `id` (of the parent's id and
    the form), `parents` (the parent's id), `derivation` ("form"), `content_hash`, `dup_cluster` and `dup_count` (null);
    all else is the stage's. A row with a verdict may have further rows. `measures` as in Mapped, of the n rows.
    """

    further: pa.RecordBatch
    parent: npt.NDArray[np.int64]
    form: Sequence[str]
    verdicts: tuple[RowVerdict, ...] = ()
    measures: Mapping[str, Floats] = field(default_factory=dict[str, Any])


@runtime_checkable
class Expander(Protocol):
    """Row-local, makes further rows, which count as derived."""

    name: ClassVar[str]
    version: ClassVar[int]

    def reasons(self) -> tuple[Reason, ...]:
        """Every reason that `expand` can give, and DERIVED."""
        ...

    def expand(self, batch: pa.RecordBatch) -> Expanded:
        """The further rows of each row; pure but for caches and the killable child."""
        ...


@runtime_checkable
class Profiled(Protocol):
    """What a filter may have besides: limits that depend on a row's profile."""

    def profiles(self, batch: pa.RecordBatch) -> Sequence[str]:
        """The profile of each row, "" where none applies; rules then ask `by_profile`."""
        ...


@runtime_checkable
class Spelled(Protocol):
    """What a stage's class may have besides: a recipe's parameters in another form than that of its fields."""

    def spelled(self, params: Mapping[str, object]) -> Mapping[str, object]:
        """The fields that a step's parameters mean. A class method. Raises UsageError."""
        ...


@runtime_checkable
class MadeByOthers(Protocol):
    """What a stage may have whose output other packages decide."""

    def package_versions(self) -> Mapping[str, str]:
        """Version of each installed package that does, "" for one that is not there; part of the fingerprint."""
        ...


RowStage = Filter | Mapper | Expander

EMITTED_ADDR = "addr"


def emitted_schema(key_bytes: int, order_bytes: int, value_bytes: int = 0) -> pa.Schema:
    """Schema of what an exchange emits: big-endian `key` and `order`, the row's `addr`, and a `value` if it has one."""
    fields = [("key", pa.binary(key_bytes)), ("order", pa.binary(order_bytes)), (EMITTED_ADDR, pa.uint64())]
    return pa.schema([*fields, ("value", pa.binary(value_bytes))] if value_bytes else fields)


DROP, CUT, MARK, FOUND = range(4)
"""Kinds of verdicts. DROP: the record goes; `keeper` is the id of the kept one, `value` the similarity, `limit` its
threshold. CUT: the bytes [start, stop) of its text go; `keeper` is the id of the record that keeps them (zeros: none),
`value` how often they stand in the corpus. MARK: the record stays and stands for `value` records of the cluster
`keeper` (a content hash). FOUND: something about the record that the next round of the stage wants, at `start`."""

VERDICTS = pa.schema(
    [
        (EMITTED_ADDR, pa.uint64()),
        ("kind", pa.uint8()),
        ("reason", pa.uint8()),
        ("keeper", pa.binary(16)),
        ("value", pa.float64()),
        ("limit", pa.float64()),
        ("start", pa.int64()),
        ("stop", pa.int64()),
        ("note", pa.uint64()),
    ]
)
"""What an exchange reduces to: what is to happen to the record at `addr`. `reason` indexes the stage's `reasons()`;
`note` is the stage's own: where it has `explain(note)`, that text is the ledger's `detail`."""

_DEFAULTS: Mapping[str, float] = {"kind": DROP, "reason": 0, "start": 0, "stop": 0, "note": 0}


def verdicts(addr: npt.NDArray[np.uint64], columns: Mapping[str, Any]) -> pa.RecordBatch:
    """Rows of VERDICTS from some columns (arrays of n, or one value for all); absent ones are 0, a value or limit 1.

    `keeper` is (n, 16) bytes.
    """
    rows = len(addr)
    arrays: list[pa.Array] = []
    for field_ in VERDICTS:
        given = columns.get(field_.name, addr if field_.name == EMITTED_ADDR else _DEFAULTS.get(field_.name, 1.0))
        if field_.name == "keeper":
            raw = np.ascontiguousarray(columns["keeper"]) if "keeper" in columns else np.zeros((rows, 16), np.uint8)
            arrays.append(pa.FixedSizeBinaryArray.from_buffers(field_.type, rows, [None, pa.py_buffer(raw)]))
        else:
            arrays.append(pa.array(np.broadcast_to(np.asarray(given), (rows,)).astype(field_.type.to_pandas_dtype())))
    return pa.RecordBatch.from_arrays(arrays, schema=VERDICTS)


EMPTIED = Reason("emptied", "drop", "nothing but white space was left when all cuts were made")
"""The last reason of every stage that cuts."""


@runtime_checkable
class Exchange(Protocol):
    """Grouping over whole datasets: `emit` fixed-width rows, `reduce` a run-length scan of the sorted rows.

    `reads` are the columns that `emit` needs. `addr` is `(shard << 32) | row` inside the frozen plan and
    never leaves it. A key never spans calls of `reduce` and may span batches within one. An exchange that emits a
    `value` with each row says so in a class variable `value_bytes`; one that reduces to other rows than VERDICTS names
    their schema in `reduced` (it must have `addr`).
    """

    name: ClassVar[str]
    version: ClassVar[int]

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it needs."""
        ...

    @property
    def key_bytes(self) -> int:
        """Width of the key."""
        ...

    @property
    def order_bytes(self) -> int:
        """Width of the order."""
        ...

    def reasons(self) -> tuple[Reason, ...]:
        """What records are dropped, and text is cut, for; `VERDICTS.reason` indexes it."""
        ...

    def emit(self, batch: pa.RecordBatch, addr: npt.NDArray[np.uint64]) -> pa.RecordBatch:
        """Rows of the emitted schema: none, one or many for each row of the batch."""
        ...

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of VERDICTS from batches sorted by (key, order, addr)."""
        ...


@runtime_checkable
class EmitsSorted(Protocol):
    """What an exchange has that sorts its rows faster than rows can be sorted."""

    def emit_sorted(self, batches: Iterator[tuple[pa.RecordBatch, npt.NDArray[np.uint64]]]) -> pa.RecordBatch:
        """What `emit` gives for all these batches with their addresses, sorted by (key, order, addr)."""
        ...


@runtime_checkable
class Following(Protocol):
    """What an exchange has that follows another one of its stage: what that one found goes into its `emit`."""

    def emit_found(self, batch: pa.RecordBatch, addr: npt.NDArray[np.uint64], found: pa.Table) -> pa.RecordBatch:
        """As `emit`; `found` are the rows that the round before reduced to for these rows, sorted by `addr`."""
        ...


@runtime_checkable
class Rounds(Protocol):
    """A stage of several exchanges, one after the other; the verdicts of the last one are the stage's."""

    name: ClassVar[str]
    version: ClassVar[int]

    def reasons(self) -> tuple[Reason, ...]:
        """As those of an exchange."""
        ...

    def rounds(self) -> tuple[Exchange, ...]:
        """The exchanges; each but the first is also Following."""
        ...


@runtime_checkable
class Census(Protocol):
    """A stage that decides in one process, from fixed-width rows of whole datasets that it counts shard by shard.

    `counts` is the schema of these rows; it has `addr`. What depends on no parameter may be a class variable, here
    and in the other shapes, without annotation.
    """

    name: ClassVar[str]
    version: ClassVar[int]

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it needs."""
        ...

    @property
    def counts(self) -> pa.Schema:
        """Schema of what it counts."""
        ...

    def reasons(self) -> tuple[Reason, ...]:
        """As those of an exchange."""
        ...

    def count(self, batch: pa.RecordBatch, addr: npt.NDArray[np.uint64]) -> pa.RecordBatch:
        """Rows of `counts` for the rows of the batch."""
        ...

    def decide(self, counted: Iterator[pa.RecordBatch], told: dict[str, int]) -> Iterator[pa.RecordBatch]:
        """Rows of VERDICTS from those of all shards, in any order of shards.

        `told` takes what else there is to tell, counts by name; they become the step's facts in the manifest.
        """
        ...


@runtime_checkable
class Similar(Protocol):
    """A stage that finds similar records by candidates, verifies each and keeps an independent set of them.

    The pipeline runs it (`pipeline/similar/`); the stage says how texts become keys and sets. `copies` finds equal
    contents, `keys` the candidates; `sets` gives what similarity is measured on.
    """

    name: ClassVar[str]
    version: ClassVar[int]

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it needs."""
        ...

    def reasons(self) -> tuple[Reason, ...]:
        """As those of an exchange."""
        ...

    def copies(self) -> Exchange:
        """The exchange whose verdicts name the copies; `note` is the address of the kept one."""
        ...

    def keys(self) -> Exchange:
        """The exchange whose groups are candidates: equal keys, best rank first in `order`."""
        ...


Corpus = Exchange | Rounds | Census | Similar
"""Stages that look at whole datasets."""

Stage = RowStage | Corpus


def drops_when_above(value: Floats, limit: Floats | float) -> npt.NDArray[np.bool_]:
    """True where a value is strictly above the limit; NaN is never above."""
    return np.greater(value, limit)


def drops_when_below(value: Floats, limit: Floats | float) -> npt.NDArray[np.bool_]:
    """True where a value is strictly below the limit; NaN is never below."""
    return np.less(value, limit)
