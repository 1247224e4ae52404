"""How a stage's drops meet those of the filters that a run already has.

In: a `Trial` and an output. Out: one row for each step and reason of the output's ledgers that dropped a
document of the trial: `both` (the stage drops it, too) and `only_run`; and how many documents none of them
dropped but the stage (`only_stage`). Records are paired by id.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gristmill.manifests.find import places
from gristmill.manifests.scan import read_columns
from gristmill.pipeline.trial.trial import Trial


@dataclass(frozen=True)
class Overlap:
    """`rows` are (dataset.step, reason, both, only_run); `known` counts documents of the trial in the ledgers."""

    rows: list[tuple[str, str, int, int]]
    only_stage: int
    known: int


def overlap(trial: Trial, run: Path) -> Overlap:
    """Compare with the ledgers of an output. Raises InputError when it is none, VerifyError on damage."""
    both: Counter[tuple[str, str]] = Counter()
    only_run: Counter[tuple[str, str]] = Counter()
    known: set[str] = set()
    for step, reason, record in _ledger_rows(run):
        if record in trial.seen:
            known.add(record)
            (both if record in trial.gone else only_run)[step, reason] += 1
    cells = sorted(set(both) | set(only_run))
    rows = [(step, reason, both[step, reason], only_run[step, reason]) for step, reason in cells]
    return Overlap(rows, len(trial.gone.keys() - known), len(known))


def _ledger_rows(run: Path) -> Iterator[tuple[str, str, str]]:
    for place in places(run):
        for path in place.paths("ledger"):
            for batch in read_columns(path, ("id", "step", "reason")):
                columns = (batch.column(name).to_pylist() for name in ("step", "reason", "id"))
                for step, reason, record in zip(*columns, strict=True):
                    yield f"{place.name}.{step}", reason, record
