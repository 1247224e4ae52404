"""How much a rule keeps at other limits, from the measures that a run stored: no rerun, no stage code.

In: the `measures` of a dataset (of all records, or a content-hashed sample) and the rules in its manifest. Out: for
each rule a `Curve`: at each limit the share of records that this rule keeps, and that all rules together keep.
The step has measured every record that came to it, the dropped ones too. Profiles have limits of their own: the
curve moves the rule's own limit, and leaves those of `by_profile` as they are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.find import Place, places
from gristmill.manifests.scan import read_columns
from gristmill.pipeline.suggest import did_you_mean

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

QUANTILES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)


@dataclass(frozen=True)
class Stored:
    """The measures of one step: `values[name]` (float64, n; NaN where a record has none), in order of id.

    `records` came to the step; `rules` are the manifest's. `profiles` holds a word for each record.
    """

    dataset: str
    step: str
    records: int
    rules: list[dict[str, Any]]
    values: Mapping[str, Floats]
    profiles: list[str]
    sources: list[str]

    @property
    def measured(self) -> int:
        """How many records have measures."""
        return len(self.profiles)


@dataclass(frozen=True)
class Point:
    """At `limit` the rule alone keeps `alone`, all rules together `together`, as shares of the measured records."""

    limit: float
    alone: float
    together: float


@dataclass(frozen=True)
class Curve:
    """One rule: its points by rising limit, among them its present limit."""

    rule: Mapping[str, Any]
    points: list[Point]

    @property
    def now(self) -> Point:
        """The point of the present limit."""
        return next(point for point in self.points if point.limit == self.rule["limit"])


def stored_steps(stage: str, run: Path) -> list[Stored]:
    """Each step of an output (or dataset) that is called `stage`, or is one. Raises UsageError when none is."""
    found = [
        (place, step)
        for place in places(run)
        for step in place.manifest["steps"]
        if stage in (step["step"], step["stage"]) and step["rules"]
    ]
    if not found:
        raise _no_rules(stage, run)
    stored = [_stored(place, step) for place, step in found]
    if not any(s.measured for s in stored):
        remedy = "run with --measures all (or on more documents: a sample of 1 % is stored)"
        raise InputError("the run stored no measures of this step", str(run), stage, remedy)
    return [s for s in stored if s.measured]


def _no_rules(stage: str, run: Path) -> UsageError:
    steps = [s for place in places(run) for s in place.manifest["steps"]]
    known = sorted({s["step"] for s in steps if s["rules"]})
    if any(stage in (s["step"], s["stage"]) for s in steps):
        remedy = f"steps with limits are {', '.join(known) or 'none'}"
        return UsageError("decides by no limit on a measure, so there is none to tune", str(run), stage, remedy)
    return UsageError("no step with rules of that name", str(run), stage, did_you_mean(stage, known))


def _stored(place: Place, step: Mapping[str, Any]) -> Stored:
    tables = [
        pa.Table.from_batches([batch])
        for path in place.paths("measures")
        for batch in read_columns(path, ("id", "source", "step", "measure", "value", "profile"))
    ]
    table = pa.concat_tables(tables) if tables else None
    ids: dict[str, int] = {}
    values: dict[str, dict[int, float]] = {}
    profiles: list[str] = []
    sources: list[str] = []
    for row in [] if table is None else table.filter(pc.equal(table["step"], step["step"])).to_pylist():
        at = ids.setdefault(row["id"], len(ids))
        if at == len(profiles):
            profiles.append(row["profile"] or "")
            sources.append(row["source"] or "")
        values.setdefault(row["measure"], {})[at] = math.nan if row["value"] is None else row["value"]
    columns = {name: _column(rows, len(ids)) for name, rows in values.items()}
    return Stored(place.name, step["step"], step["records_in"], list(step["rules"]), columns, profiles, sources)


def _column(rows: Mapping[int, float], size: int) -> Floats:
    column = np.full(size, np.nan)
    column[np.fromiter(rows.keys(), np.int64, len(rows))] = np.fromiter(rows.values(), np.float64, len(rows))
    return column


def keeps(stored: Stored, rule: Mapping[str, Any], limit: float) -> Bools:
    """Which records a rule keeps at a limit; NaN never fails."""
    by_profile: Mapping[str, float | None] = rule.get("by_profile") or {}
    limits = np.full(stored.measured, limit)
    for profile, own in by_profile.items():
        limits[np.array([p == profile for p in stored.profiles], dtype=np.bool_)] = np.nan if own is None else own
    values = stored.values.get(rule["measure"], np.full(stored.measured, np.nan))
    with np.errstate(invalid="ignore"):
        return ~(values > limits if rule["direction"] == "above" else values < limits)


def curves(stored: Stored) -> list[Curve]:
    """The curve of each rule, over quantiles of its measure and its present limit."""
    now = [keeps(stored, rule, rule["limit"]) for rule in stored.rules]
    found: list[Curve] = []
    for index, rule in enumerate(stored.rules):
        others = np.ones(stored.measured, dtype=np.bool_)
        for other, kept in enumerate(now):
            others &= kept if other != index else True
        values = stored.values.get(rule["measure"], np.zeros(0))
        found.append(Curve(rule, [_point(stored, rule, limit, others) for limit in _limits(values, rule["limit"])]))
    return found


def _limits(values: Floats, now: float) -> Sequence[float]:
    finite = values[np.isfinite(values)]
    at = np.quantile(finite, QUANTILES, method="inverted_cdf").tolist() if len(finite) else []
    return sorted({*at, now})


def _point(stored: Stored, rule: Mapping[str, Any], limit: float, others: Bools) -> Point:
    kept = keeps(stored, rule, limit)
    return Point(limit, float(kept.mean()), float((kept & others).mean()))


def keep_rate(stored: Stored, limits: Mapping[str, float]) -> tuple[float, int, int]:
    """Share kept with other limits (by reason), and how many measured records then go, or come back."""
    before = np.ones(stored.measured, dtype=np.bool_)
    after = before.copy()
    for rule in stored.rules:
        before &= keeps(stored, rule, rule["limit"])
        after &= keeps(stored, rule, limits.get(rule["reason"], rule["limit"]))
    return float(after.mean()), int((before & ~after).sum()), int((after & ~before).sum())


def margin(share: float, n: int) -> float:
    """Half of a 95 % interval of a share of n records (Agresti and Coull 1998)."""
    adjusted = n + 4
    centre = (share * n + 2) / adjusted
    return 1.96 * math.sqrt(centre * (1 - centre) / adjusted)
