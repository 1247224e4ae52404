"""Fused row-local steps over one batch: measure, decide, change, account.

In: a RecordBatch with the columns of `manifests.schema.DOCUMENT`. Out: the rows that every step kept, in
order, and for each row that went its fate (one step, one reason). A dropped record is not measured
further. Where a mapper changed a text, `content_hash` is computed anew.

An expander's further rows follow the row that they were made from, at its place where that one went.

Invariants, for each step: rows in + derived = rows kept + fates; characters in = characters kept + cut + dropped, those
of derived rows counting as cut negatively.
Pure: the result depends on the stages and the batch alone, and for a row on that row alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.schema import content_hashes, derived_id
from gristmill.stages import shared
from gristmill.stages.columns import char_counts, with_column
from gristmill.stages.protocol import (
    Expanded,
    Expander,
    Filter,
    Floats,
    Mapped,
    Mapper,
    Profiled,
    RowStage,
    Rule,
    drops_when_above,
    drops_when_below,
)

Ints = npt.NDArray[np.int64]


class Fate(NamedTuple):
    """Why row `row` of the batch left the chain at step `step_index`, or a row that was made from it did.

    `at` is its place among the rows of the step, which tells such rows apart; -1 where `row` does.
    """

    row: int
    step_index: int
    verdict: str
    reason: str
    measure: str
    value: float
    limit: float
    detail: str
    at: int = -1


@dataclass(frozen=True)
class StepTrace:
    """What one step saw: `rows` (indices into the batch given to the chain, ascending; a row that was made on the way
    has that of the row that it comes from) and their characters.

    `kept` (bool) marks the rows that stayed; `chars_out` counts the text after the step, for every row.
    `before` is the step's input batch, held so that samples can show what a dropped record looked like.
    `profiles` names the profile of each of its rows; empty for a stage that has none. `derived` are the rows that an
    expander made, `derived_chars` their characters; they are in none of the others.
    """

    rows: Ints
    kept: npt.NDArray[np.bool_]
    chars_in: Ints
    chars_out: Ints
    cut_chars: Mapping[str, Ints]
    measures: Mapping[str, Floats]
    before: pa.RecordBatch
    profiles: Sequence[str] = ()
    derived: pa.RecordBatch | None = None
    derived_chars: Ints = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True)
class ChainResult:
    """The rows kept by every step, and the account of the others. `kept_rows` are indices as in StepTrace."""

    kept: pa.RecordBatch
    kept_rows: Ints
    kept_chars: Ints
    fates: list[Fate]
    steps: list[StepTrace] = field(default_factory=list[StepTrace])


def count_chars(batch: pa.RecordBatch) -> Ints:
    """Unicode code points of each row's text; 0 for null."""
    return char_counts(batch.column("text"))


def limits_of(rule: Rule, profiles: Sequence[str], rows: int) -> Floats:
    """The limit of a rule for each row: that of the row's profile, else the rule's own."""
    if not rule.by_profile or not profiles:
        return np.full(rows, rule.limit, dtype=np.float64)
    limits = [rule.by_profile.get(profile, rule.limit) for profile in profiles]
    return np.array([np.nan if limit is None else limit for limit in limits], dtype=np.float64)


def first_failing_rule(
    rules: Sequence[Rule], measures: Mapping[str, Floats], rows: int, profiles: Sequence[str] = ()
) -> Ints:
    """Index of the first rule that each row fails, -1 where none does.

    Raises KeyError (naming the measure) when a rule's measure is missing.
    """
    failing = np.full(rows, -1, dtype=np.int64)
    for index in reversed(range(len(rules))):
        rule = rules[index]
        drops = drops_when_above if rule.direction == "above" else drops_when_below
        failing[drops(measures[rule.measure], limits_of(rule, profiles, rows))] = index
    return failing


def _judge_filter(stage: Filter, batch: pa.RecordBatch) -> tuple[Mapped, Sequence[str], list[Fate]]:
    rules = stage.rules()
    measures = stage.measure(batch)
    profiles = stage.profiles(batch) if isinstance(stage, Profiled) else ()
    failing = first_failing_rule(rules, measures, batch.num_rows, profiles)
    limits = [limits_of(rule, profiles, batch.num_rows) for rule in rules]
    fates: list[Fate] = []
    for row in np.flatnonzero(failing >= 0).tolist():
        rule, limit = rules[int(failing[row])], float(limits[int(failing[row])][row])
        value = float(measures[rule.measure][row])
        fates.append(Fate(row, 0, "drop", rule.reason, rule.measure, value, limit, ""))
    return Mapped(batch, measures=measures), profiles, fates


def _apply_mapper(stage: Mapper, batch: pa.RecordBatch) -> tuple[Mapped, Sequence[str], list[Fate]]:
    mapped = stage.transform(batch)
    if mapped.batch.num_rows != batch.num_rows:
        raise GristmillError(
            "a mapper must return as many rows as it was given",
            where=stage.name,
            value=f"{batch.num_rows} in, {mapped.batch.num_rows} out",
        )
    fates = [Fate(v.row, 0, v.verdict, v.reason, v.measure, v.value, v.limit, v.detail) for v in mapped.verdicts]
    return mapped, (), fates


def with_fresh_hashes(before: pa.RecordBatch, after: pa.RecordBatch) -> pa.RecordBatch:
    """`after` with `content_hash` computed anew wherever text or media differ from `before`."""
    same_text = after.column("text").equals(before.column("text"))
    if same_text and after.column("media").equals(before.column("media")):
        return after
    return with_column(after, "content_hash", content_hashes(after.column("text"), after.column("media")))


class _Passed(NamedTuple):
    """What a step leaves: rows, their indices into the chain's batch, their characters."""

    batch: pa.RecordBatch
    rows: Ints
    chars: Ints
    trace: StepTrace
    fates: list[Fate]


def _run_step(stage: RowStage, batch: pa.RecordBatch, rows: Ints, chars_in: Ints) -> _Passed:
    if isinstance(stage, Expander):
        return _expand(stage, batch, rows, chars_in)
    judged = _apply_mapper(stage, batch) if isinstance(stage, Mapper) else _judge_filter(stage, batch)
    mapped, profiles, fates = judged
    out = mapped.batch if mapped.batch is batch else with_fresh_hashes(batch, mapped.batch)
    kept = _kept(batch.num_rows, fates)
    chars_out = chars_in if out is batch else count_chars(out)
    trace = StepTrace(rows, kept, chars_in, chars_out, mapped.cut_chars, mapped.measures, batch, profiles)
    if kept.all():
        return _Passed(out, rows, chars_out, trace, fates)
    left = out.filter(pa.array(kept))
    shared.follow(out.column("text"), left.column("text"), kept)
    return _Passed(left, rows[kept], chars_out[kept], trace, fates)


def _kept(rows: int, fates: Sequence[Fate]) -> npt.NDArray[np.bool_]:
    kept = np.ones(rows, dtype=np.bool_)
    kept[[f.row for f in fates]] = False
    return kept


def _expand(stage: Expander, batch: pa.RecordBatch, rows: Ints, chars_in: Ints) -> _Passed:
    made = stage.expand(batch)
    further = derived_rows(stage.name, batch, made)
    fates = [Fate(v.row, 0, v.verdict, v.reason, v.measure, v.value, v.limit, v.detail) for v in made.verdicts]
    kept, chars = _kept(batch.num_rows, fates), count_chars(further)
    trace = StepTrace(rows, kept, chars_in, chars_in, {}, made.measures, batch, (), further, chars)
    if not further.num_rows and kept.all():
        return _Passed(batch, rows, chars_in, trace, fates)
    stay = np.flatnonzero(kept)
    # Stable: a row stands before those that were made from it.
    order = np.argsort(np.concatenate([stay, made.parent]), kind="stable")
    parts = pa.Table.from_batches([batch.filter(pa.array(kept)), further]).take(pa.array(order)).combine_chunks()
    out = parts.to_batches()[0] if len(order) else batch.slice(0, 0)
    return _Passed(
        out,
        np.concatenate([rows[kept], rows[made.parent]])[order],
        np.concatenate([chars_in[kept], chars])[order],
        trace,
        fates,
    )


def derived_rows(name: str, batch: pa.RecordBatch, made: Expanded) -> pa.RecordBatch:
    """The further rows of an expander with what the caller sets (see `protocol.Expanded`). Raises GristmillError where
    they do not fit the batch."""
    further, parent, form = made.further, made.parent, list(made.form)
    if not further.schema.equals(batch.schema) or not len(parent) == len(form) == further.num_rows:
        raise GristmillError("further rows of another shape than the batch", name, f"{further.num_rows} rows")
    if len(parent) and not ((np.diff(parent) >= 0).all() and parent[0] >= 0 and parent[-1] < batch.num_rows):
        raise GristmillError("further rows of no row of the batch, or out of order", name)
    if len({*zip(parent.tolist(), form, strict=True)}) != len(form):
        raise GristmillError("one form twice from one row", name)
    ids = [i or "" for i in batch.column("id").take(pa.array(parent)).to_pylist()]
    fresh = {
        "id": [derived_id(i, f) for i, f in zip(ids, form, strict=True)],
        "parents": [[i] for i in ids],
        "derivation": ["form"] * len(ids),
        "dup_cluster": [None] * len(ids),
        "dup_count": [None] * len(ids),
    }
    for column, values in fresh.items():
        further = with_column(further, column, pa.array(values, further.schema.field(column).type))
    return with_column(further, "content_hash", content_hashes(further.column("text"), further.column("media")))


def run_chain(stages: Sequence[RowStage], batch: pa.RecordBatch, chars: Ints | None = None) -> ChainResult:
    """Run consecutive row-local stages over one batch; see the module's invariants. `chars` of its texts, where known.

    Fates come step by step and, within a step, in row order.
    """
    rows = np.arange(batch.num_rows, dtype=np.int64)
    chars = count_chars(batch) if chars is None else chars
    fates: list[Fate] = []
    steps: list[StepTrace] = []
    for index, stage in enumerate(stages):
        passed = _run_step(stage, batch, rows, chars)
        gone = sorted(passed.fates)
        fates.extend(f._replace(row=int(rows[f.row]), step_index=index, at=f.row) for f in gone)
        steps.append(passed.trace)
        batch, rows, chars = passed.batch, passed.rows, passed.chars
    shared.forget()
    return ChainResult(batch, rows, chars, fates, steps)
