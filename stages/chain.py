"""Fused row-local steps over one batch: measure, decide, change, account.

In: a RecordBatch with the columns of `manifests.schema.DOCUMENT`. Out: the rows that every step kept, in
order, and for each row that went its fate (one step, one reason). A dropped record is not measured
further. Where a mapper changed a text, `content_hash` is computed anew.

Invariants, for each step: rows in = rows kept + fates; characters in = characters kept + cut + dropped.
Pure: the result depends on the stages and the batch alone, and for a row on that row alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.schema import content_hashes
from gristmill.stages import shared
from gristmill.stages.columns import char_counts, with_column
from gristmill.stages.protocol import (
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
    """Why row `row` of the batch left the chain at step `step_index`."""

    row: int
    step_index: int
    verdict: str
    reason: str
    measure: str
    value: float
    limit: float
    detail: str


@dataclass(frozen=True)
class StepTrace:
    """What one step saw: `rows` (indices into the batch given to the chain) and their characters.

    `kept` (bool) marks the rows that stayed; `chars_out` counts the text after the step, for every row.
    `before` is the step's input batch, held so that samples can show what a dropped record looked like.
    `profiles` names the profile of each of its rows; empty for a stage that has none.
    """

    rows: Ints
    kept: npt.NDArray[np.bool_]
    chars_in: Ints
    chars_out: Ints
    cut_chars: Mapping[str, Ints]
    measures: Mapping[str, Floats]
    before: pa.RecordBatch
    profiles: Sequence[str] = ()


@dataclass(frozen=True)
class ChainResult:
    """The rows kept by every step, and the account of the others."""

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


def _run_step(
    stage: RowStage, batch: pa.RecordBatch, rows: Ints, chars_in: Ints
) -> tuple[pa.RecordBatch, StepTrace, list[Fate]]:
    judged = _apply_mapper(stage, batch) if isinstance(stage, Mapper) else _judge_filter(stage, batch)
    mapped, profiles, fates = judged
    out = mapped.batch if mapped.batch is batch else with_fresh_hashes(batch, mapped.batch)
    kept = np.ones(batch.num_rows, dtype=np.bool_)
    kept[[f.row for f in fates]] = False
    chars_out = chars_in if out is batch else count_chars(out)
    trace = StepTrace(rows, kept, chars_in, chars_out, mapped.cut_chars, mapped.measures, batch, profiles)
    if kept.all():
        return out, trace, fates
    left = out.filter(pa.array(kept))
    shared.follow(out.column("text"), left.column("text"), kept)
    return left, trace, fates


def run_chain(stages: Sequence[RowStage], batch: pa.RecordBatch, chars: Ints | None = None) -> ChainResult:
    """Run consecutive row-local stages over one batch; see the module's invariants. `chars` of its texts, where known.

    Fates come step by step and, within a step, in row order.
    """
    rows = np.arange(batch.num_rows, dtype=np.int64)
    chars = count_chars(batch) if chars is None else chars
    fates: list[Fate] = []
    steps: list[StepTrace] = []
    for index, stage in enumerate(stages):
        batch, trace, gone = _run_step(stage, batch, rows, chars)
        fates.extend(f._replace(row=int(rows[f.row]), step_index=index) for f in sorted(gone))
        steps.append(trace)
        rows, chars = rows[trace.kept], trace.chars_out[trace.kept]
    shared.forget()
    return ChainResult(batch, rows, chars, fates, steps)
