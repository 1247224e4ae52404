"""Alarms: a run stops where a step loses more of a source than its recipe allows.

In: the books of the phase that was just done, or found done (`manifests.tally`), and the alarms of the dataset's
steps (`pipeline.recipe_alarm`). Out: nothing, or a StoppedError (exit code 5) with every limit exceeded.

Fractions, of one step and source, in [0, 1] by the books: `drop_frac` = (dropped + quarantined) /
(records_in + derived); `cut_frac` = characters cut inside records / chars_in, 0 where a step added more than it cut.
A limit is exceeded above it, not at it. What `--sample` and the holdout leave out is drawn by content hash, whatever
the source: it counts on neither side. A source of fewer than `min_records` records stops nothing; `spared_lines` tells
of it.

What stopped lies, cut short behind its phase, as a dataset of its own in `OUT/alarms/<dataset>/`, so that `ls`,
`show` and `trace` tell what went; its manifest holds `alarms`, a list of `Exceeded.plain()`. Nothing is
published under the dataset's own name. It is taken away when the dataset is finished.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import AlarmError, UsageError
from gristmill.manifests.manifest import ALARMS, MANIFEST
from gristmill.manifests.tally import (
    StepTallies,
    Tally,
    merge_tallies,
    step_tallies_from_json,
    tally_from_json,
)
from gristmill.pipeline.build import Built
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.own_files import refuse_foreign_folders, stray_files
from gristmill.pipeline.recipe import DatasetSpec, Recipe, RenderOrigin
from gristmill.pipeline.recipe_alarm import Alarm
from gristmill.pipeline.recipe_render import MIN_ATTEMPTS, Rendered
from gristmill.pipeline.selection import first_step

REASONS_SHOWN = 3
NAME_CHARS_SHOWN = 80
MIN_ACCEPT = "min_accept_frac"
"""The accept-rate floor of a domain of render pairs: the one limit below which a run stops."""
_DRAWN = {"read": "not_sampled", "emit": "holdout"}
"""Stage -> the reason for which it leaves records out that are no loss of their source."""


@dataclass(frozen=True)
class Exceeded:
    """One limit that one source exceeded at one step.

    `gone` of `of` records, or characters (`unit`), were lost; `reasons` counts what went for which reason. `where`
    is the alarm's place in the recipe.
    """

    dataset: str
    step: str
    source: str
    limit_name: str
    limit: float
    frac: float
    gone: int
    of: int
    unit: str
    reasons: Mapping[str, int]
    where: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON holds it, without the place in the recipe, which is no content."""
        value = asdict(self)
        del value["where"]
        return value

    def told(self) -> str:
        """One clause: who lost how much, against which limit, mostly why."""
        did = {"records": "lost", "characters": "cut"}.get(self.unit, "rejected")
        most = sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))
        reasons = ", ".join(f"{reason} {count}" for reason, count in most[:REASONS_SHOWN])
        more = f" and {len(most) - REASONS_SHOWN} reasons more" if len(most) > REASONS_SHOWN else ""
        return (
            f"{self.dataset}.{self.step} {did} {self.gone} of {self.of} {self.unit} of source "
            f"{self.source[:NAME_CHARS_SHOWN]} ({self.frac:.4g}, {self.limit_name} is {self.limit:g}): {reasons}{more}"
        )


class StoppedError(AlarmError):
    """Limits of one dataset were exceeded: `exceeded`, the first step's worst first. `built` ends with their phase."""

    def __init__(self, exceeded: Sequence[Exceeded], built: Built) -> None:
        more = f" (+{len(exceeded) - 1} more)" if len(exceeded) > 1 else ""
        super().__init__(f"{exceeded[0].told()}{more}", exceeded[0].where)
        self.exceeded = list(exceeded)
        self.built = built
        self.alarms = [e.plain() for e in exceeded]


class _Loss(NamedTuple):
    """What one step lost of one source, in `unit`s; `records` came in."""

    gone: int
    of: int
    unit: str
    reasons: Mapping[str, int]
    records: int

    @property
    def frac(self) -> float:
        return max(0, self.gone) / self.of if self.of else 0.0


def _losses(tally: Tally, stage: str) -> dict[str, _Loss]:
    """What each limit of an alarm judges, by the limit's name."""
    drawn = _DRAWN.get(stage)
    left_out = tally.reasons.get(drawn, 0) if drawn else 0
    reasons = {reason: count for reason, count in tally.reasons.items() if reason != drawn}
    gone = tally.dropped + tally.quarantined - left_out
    records = tally.records_in + tally.derived - left_out
    cut = sum(tally.chars_cut.values())
    return {
        "max_drop_frac": _Loss(gone, records, "records", reasons, records),
        "max_cut_frac": _Loss(cut, tally.chars_in, "characters", dict(tally.chars_cut), records),
    }


def _over(limits: Mapping[str, float], tally: Tally, stage: str) -> Iterator[tuple[str, _Loss]]:
    """The limits that a source exceeds, whatever its size."""
    losses = _losses(tally, stage)
    yield from ((name, losses[name]) for name, limit in limits.items() if losses[name].frac > limit)


def judge(built: Built, phases_done: int, first_receipt: int) -> None:
    """Judge the last phase done of a dataset, whose receipts begin at `first_receipt`.

    Raises StoppedError with all that is exceeded there.
    """
    labels = built.phases[phases_done - 1].labels()
    if phases_done == 1:
        labels = [first_step(built.spec), *labels]
    alarms = {label: alarm for label, alarm in built.spec.alarms().items() if label in labels}
    floors = floors_of(built.spec) if phases_done == 1 else {}
    if not alarms and not floors:
        return
    tallies = merge_tallies(step_tallies_from_json(r.facts["tallies"]) for r in built.receipts[first_receipt:])
    exceeded = [*_exceeded(built.spec, alarms, tallies), *_below_floor(built, floors, tallies)]
    found = sorted(exceeded, key=lambda e: (labels.index(e.step), -e.frac, e.source, e.limit_name))
    if found:
        raise StoppedError(found, replace(built, phases=built.phases[:phases_done]))


def _exceeded(spec: DatasetSpec, alarms: Mapping[str, Alarm], tallies: StepTallies) -> Iterator[Exceeded]:
    stages = {"read": "read"} | {step.label: step.name for step in spec.steps}
    for label, alarm in alarms.items():
        limits = alarm.limits()
        for source, tally in tallies.get(label, {}).items():
            for name, loss in _over(limits, tally, stages[label]):
                if loss.records >= alarm.min_records:
                    yield Exceeded(
                        spec.name,
                        label,
                        source,
                        name,
                        limits[name],
                        loss.frac,
                        loss.gone,
                        loss.of,
                        loss.unit,
                        loss.reasons,
                        alarm.where,
                    )


def floors_of(spec: DatasetSpec) -> dict[str, Rendered]:
    """The domains of a dataset that is rendered that have an accept-rate floor, by their names in the recipe."""
    origin = spec.origin
    return {d.domain: d for d in origin.domains if d.min_accept_frac > 0} if isinstance(origin, RenderOrigin) else {}


def _below_floor(built: Built, floors: Mapping[str, Rendered], tallies: StepTallies) -> Iterator[Exceeded]:
    """Domains of whose attempts too few were let through; `frac` is that of those that were."""
    for render in built.renders:
        floor = floors.get(render.rendered.domain)
        tally = tallies.get("render", {}).get(render.source, Tally())
        if floor is None or tally.records_in < MIN_ATTEMPTS or not tally.records_in:
            continue
        frac, gone = tally.kept / tally.records_in, tally.dropped + tally.quarantined
        if frac < floor.min_accept_frac:
            limit = floor.min_accept_frac
            counts = (frac, gone, tally.records_in, "attempts", tally.reasons)
            yield Exceeded(built.spec.name, "render", render.source, MIN_ACCEPT, limit, *counts, floor.where)


def spared_lines(name: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """A line for each source of a finished dataset that was over a limit, and too small to stop the run."""
    for step in manifest["steps"]:
        alarm = step.get("alarm") or {}
        limits = {key: value for key, value in alarm.items() if key != "min_records" and value is not None}
        for source, tally in step["sources"].items():
            for key, loss in _over(limits, tally_from_json(tally), step["stage"]):
                yield (
                    f"WARNING: {name}.{step['step']} is over its alarm for source {source[:NAME_CHARS_SHOWN]} "
                    f"({loss.gone} of {loss.of} {loss.unit}, {key} is {limits[key]:g}), which has fewer than "
                    f"{alarm['min_records']} records; min_records: 0 would stop the run"
                )


def refuse_foreign_reports(out: Path, recipe: Recipe, datasets: Sequence[str]) -> None:
    """Raise UsageError where a report would have to go to a folder that is somebody else's."""
    folder = out / ALARMS
    judged = [name for name in datasets if recipe.dataset(name).alarms() or floors_of(recipe.dataset(name))]
    if judged and folder.exists() and not folder.is_dir():
        raise UsageError("the reports of alarms go to a folder of this name", str(folder), None, "move the file away")
    refuse_foreign_folders(folder, judged)


def events(stop: StoppedError) -> Iterator[EngineEvent]:
    """What `events.jsonl` keeps of it."""
    for exceeded in stop.exceeded:
        facts = {key: value for key, value in exceeded.plain().items() if key not in ("dataset", "step", "reasons")}
        yield EngineEvent("alarm", f"{exceeded.dataset}.{exceeded.step}", facts)


def reported(stop: StoppedError, out: Path, shared: Mapping[str, Any], engine: str, store: ObjectStore) -> AlarmError:
    """Write what a person needs to see, and return the error that says where it lies.

    `shared` are the manifest's fields of the whole run.
    """
    first = stop.exceeded[0]
    folder = out / ALARMS / first.dataset
    labels = [label for phase in stop.built.phases for label in phase.labels()]
    until = (labels or [first_step(stop.built.spec)])[-1]
    _publish(out / ALARMS, stop, {**shared, "until": until, "alarms": stop.alarms}, engine, store)
    place = f"datasets.{first.dataset}.{'read' if first.step == 'read' else f'steps.{first.step}'}"
    mend = (
        f"mend the recipe, or raise the alarm, for instance with --set {place}.alarm.{first.limit_name}="
        f"{_above(first.frac)}"
    )
    if first.limit_name == MIN_ACCEPT:
        mend = f"mend the domain, or write a lower {MIN_ACCEPT} for it in the recipe"
    see = f"see what went: gristmill show {shlex.quote(str(folder))} --step {first.step}"
    remedy = f"{see}; then {mend}, and run again, which does no finished work anew"
    error = AlarmError(f"an alarm stopped the run: {stop.what}", stop.where, None, remedy)
    error.alarms, error.report = stop.alarms, str(folder)
    return error


def told_of(error: AlarmError) -> list[str]:
    """A clause for each limit that was exceeded."""
    return [Exceeded(**exceeded).told() for exceeded in error.alarms]


def _publish(out: Path, stop: StoppedError, shared: Mapping[str, Any], engine: str, store: ObjectStore) -> None:
    if stop.built.kind == "rows":
        from gristmill.pipeline.emit import publish_rows

        publish_rows(out, stop.built, shared, engine, store)
    else:
        from gristmill.pipeline.publish import publish

        publish(out, stop.built, shared, engine, store)


def _above(frac: float) -> str:
    """A limit of two decimals that a fraction does not exceed."""
    return f"{min(1.0, (int(frac * 100) + 1) / 100):g}"


def clear_report(out: Path, dataset: str, store: ObjectStore) -> None:
    """Take away the report of an earlier run; files of others stay."""
    folder = out / ALARMS / dataset
    if not (folder / MANIFEST).exists():
        return
    store.withdraw(folder)
    (folder / MANIFEST).unlink()
    for path in stray_files(folder, ()):
        path.unlink()
    for place in (*(p for p in folder.iterdir() if p.is_dir()), folder, folder.parent):
        if not any(place.iterdir()):
            place.rmdir()
