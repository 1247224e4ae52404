"""What a stage would do to documents, without a recipe: counts by reason and source, examples, speed, overlap.

In: batches of documents and one row-local stage. Out: a `Trial`. The stage sees what it would see in a run. The
first batch is judged once more before the clock starts, so that compiling is not counted as speed.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from gristmill.pipeline.account import text_head
from gristmill.pipeline.trial.examples import DROPPED, FAR, GONE, KEPT, TEXT_CHARS, Example, Examples, distance
from gristmill.stages.chain import ChainResult, Fate, StepTrace, limits_of, run_chain
from gristmill.stages.protocol import RowStage, Rule


@runtime_checkable
class Ruled(Protocol):
    """A filter, or a mapper that decides by limits, too."""

    def rules(self) -> tuple[Rule, ...]:
        """The rules."""
        ...


@dataclass
class Trial:
    """Counts over documents. `text_bytes` and `seconds` are those of the stage alone; `gone` maps each id that
    went to its reason, `seen` holds every id. `numbers` counts for each measure the documents in which it is one."""

    documents: int = 0
    kept: int = 0
    changed: int = 0
    text_bytes: int = 0
    seconds: float = 0.0
    chars_in: int = 0
    chars_kept: int = 0
    cut: Counter[str] = field(default_factory=Counter[str])
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    sources: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    examples: Examples = field(default_factory=Examples)
    gone: dict[str, str] = field(default_factory=dict[str, str])
    seen: set[str] = field(default_factory=set[str])
    numbers: Counter[str] = field(default_factory=Counter[str])

    @property
    def mb_a_second(self) -> float:
        """Megabytes (10^6) of text a second."""
        return self.text_bytes / 1e6 / self.seconds if self.seconds else 0.0


def try_stage(
    stage: RowStage, batches: Iterable[pa.RecordBatch], most: int | None, notify: Callable[[Trial], None]
) -> Trial:
    """Judge up to `most` documents; `notify` is called behind each batch."""
    trial = Trial()
    for given in batches:
        left = given.num_rows if most is None else most - trial.documents
        if left <= 0:
            break
        batch = given.slice(0, left)
        if not trial.documents:
            run_chain([stage], batch)
        started = time.perf_counter()
        result = run_chain([stage], batch)
        trial.seconds += time.perf_counter() - started
        _add(trial, stage, batch, result)
        notify(trial)
    return trial


def _add(trial: Trial, stage: RowStage, batch: pa.RecordBatch, result: ChainResult) -> None:
    step = result.steps[0]
    trial.documents += batch.num_rows
    trial.kept += result.kept.num_rows
    trial.text_bytes += batch.column("text").nbytes
    trial.chars_in += int(step.chars_in.sum())
    trial.chars_kept += int(step.chars_out[step.kept].sum())
    for reason, chars in step.cut_chars.items():
        trial.cut[reason] += int(np.asarray(chars)[step.kept].sum())
    for name, values in step.measures.items():
        trial.numbers[name] += int((~np.isnan(values)).sum())
    ids = [i or "" for i in batch.column("id").to_pylist()]
    sources = [s or "" for s in batch.column("source").to_pylist()]
    trial.seen.update(ids)
    for source, count in Counter(sources).items():
        trial.sources.setdefault(source, Counter())["records"] += count
    for fate in result.fates:
        trial.reasons[fate.verdict, fate.reason] += 1
        trial.sources[sources[fate.row]][fate.reason] += 1
        trial.gone[ids[fate.row]] = fate.reason
        _show_gone(trial.examples, batch, fate, ids[fate.row], sources[fate.row])
    if result.kept.num_rows:
        before = batch.column("text").filter(pa.array(step.kept))
        trial.changed += _differing(before, result.kept.column("text"))
    _show_kept(trial.examples, stage, step, ids)


def _differing(before: pa.Array, after: pa.Array) -> int:
    if before.equals(after):
        return 0
    return sum(a != b for a, b in zip(before.to_pylist(), after.to_pylist(), strict=True))


def _example(batch: pa.RecordBatch, row: int, shows: str, fate: Fate, record: str) -> Example:
    text = text_head(batch, row)
    return Example(
        distance(fate.value, fate.limit),
        record,
        shows,
        fate.reason,
        fate.measure,
        fate.value,
        fate.limit,
        batch.column("source")[row].as_py() or "",
        batch.column("url")[row].as_py(),
        len(batch.column("text")[row].as_py() or "") if len(text) >= TEXT_CHARS else len(text),
        text[:TEXT_CHARS],
        fate.verdict,
        fate.detail,
    )


def _show_gone(examples: Examples, batch: pa.RecordBatch, fate: Fate, record: str, source: str) -> None:
    far = distance(fate.value, fate.limit)
    for shows in (DROPPED, FAR) if np.isfinite(fate.limit) else (GONE,):
        if examples.admits(shows, fate.reason, far):
            examples.put(_example(batch, fate.row, shows, fate, record))


def _show_kept(examples: Examples, stage: RowStage, step: StepTrace, ids: list[str]) -> None:
    """Of the kept documents those that came nearest to a rule's limit."""
    if not isinstance(stage, Ruled):
        return
    for rule in stage.rules():
        limits = limits_of(rule, step.profiles, len(step.rows))
        far = _distances(np.asarray(step.measures[rule.measure]), limits)
        far[~step.kept] = np.inf
        for row in np.argsort(far, kind="stable")[:20].tolist():
            if np.isfinite(far[row]) and examples.admits(KEPT, rule.reason, float(far[row])):
                fate = _kept_fate(rule, row, float(step.measures[rule.measure][row]), float(limits[row]))
                examples.put(_example(step.before, row, KEPT, fate, ids[row]))


def _kept_fate(rule: Rule, row: int, value: float, limit: float) -> Fate:
    return Fate(row, 0, "keep", rule.reason, rule.measure, value, limit, "")


def _distances(values: Any, limits: Any) -> Any:
    with np.errstate(invalid="ignore"):
        far = np.abs(values - limits) / np.maximum(np.abs(limits), 1.0)
    return np.where(np.isfinite(far), far, np.inf)
