"""`gristmill plan` of a trainer's plan, or of a dataset of rows: what each stage reads of each source, and how often.

`described` is what `--json` prints; `show` prints it as tables, `draw` as plots.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from gristmill.manifests.errors import UsageError
from gristmill.manifests.manifest import MANIFEST

if TYPE_CHECKING:
    from gristmill.pipeline.reader.epochs import Draw
    from gristmill.pipeline.reader.plan import Plan, Stage
    from gristmill.pipeline.reader.sources import Source


def is_trainer_plan(path: Path) -> bool:
    """Whether a path is a trainer's plan (a file with `stages:`) or a dataset's folder, and no recipe."""
    if path.is_dir():  # `demo` is a packaged recipe, and a folder of a checkout
        return (path / MANIFEST).is_file()
    try:
        found: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):  # ValueError: of text, and of dates that are none
        return False
    return isinstance(found, Mapping) and "stages" in found


def described(path: str | Path, global_batch: int = 1) -> dict[str, Any]:
    """The plan as plain data. Raises what `load_plan` raises, UsageError where a stage has fewer rows than a batch."""
    from gristmill.pipeline.reader.batches import check_batches
    from gristmill.pipeline.reader.ledger import exposure
    from gristmill.pipeline.reader.plan import load_plan

    plan = load_plan(path)
    check_batches(plan, global_batch)
    totals = exposure(plan, plan.rows)
    rates = plan.rates
    return {
        "plan": str(path),
        "digest": plan.digest,
        "seed": plan.seed,
        "rates": None if rates is None else {"label": rates.label, "evidence": rates.evidence, "digest": rates.digest},
        "stages": [_stage(plan, number, global_batch) for number in range(len(plan.stages))],
        "datasets": [_dataset(plan, name, totals) for name in plan.datasets],
        "epochs": list(_epochs(plan)),
    }


def _dataset(plan: "Plan", name: str, totals: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    dataset = plan.datasets[name]
    read = sum(part["rows"] for part in totals.values() if part["dataset"] == name)
    told = {"name": name, "path": dataset.where, "digest": dataset.digest, "rows": dataset.rows}
    return told | {"documents_of": plan.pools.get(name, name), "rows_read": read, "epochs": read / max(dataset.rows, 1)}


def _stage(plan: "Plan", number: int, global_batch: int) -> dict[str, Any]:
    from gristmill.pipeline.reader.vision import share

    stage = plan.stages[number]
    draws = list(_draws(plan, number))
    synthesised = sum(d.rows for d in draws if d.source.name in stage.synthesised)
    return {
        "stage": number,
        "name": stage.name,
        "context": stage.context,
        "first_index": plan.starts[number],
        "rows": stage.rows,
        "tokens": stage.rows * stage.context,
        "batches": stage.rows // global_batch,
        "rows_left_over": stage.rows % global_batch,
        "vision": share(draws),
        "synthesised": synthesised / max(stage.rows, 1),
        "replay": _replay(plan, stage, draws),
        "missed": dict(stage.solved.missed) if stage.solved else {},
        "sources": list(_sources(plan, stage, draws)),
        "not_drawn": sorted(_not_drawn(plan, stage)),
    }


def _draws(plan: "Plan", number: int) -> "Iterator[Draw]":
    from gristmill.pipeline.reader.epochs import Draw

    stage = plan.stages[number]
    for name, rows in stage.mixture.counts(stage.rows):
        yield Draw(number, plan.sources[name], rows)


def _replay(plan: "Plan", stage: "Stage", draws: "list[Draw]") -> float | None:
    """The share of documents of the first bucket among natural ones, where the rates have buckets."""
    if plan.rates is None or stage.solved is None:
        return None
    natural = [d for d in draws if d.source.name not in stage.synthesised]
    return sum(d.rows * float(d.source.shares(plan.rates.bounds)[0]) for d in natural) / stage.rows


def _sources(plan: "Plan", stage: "Stage", draws: "list[Draw]") -> Iterator[dict[str, Any]]:
    supply = _supply(plan, stage)
    for part, draw in zip(stage.mixture.parts, draws, strict=True):
        source = draw.source
        rate = part / sum(stage.mixture.parts)
        natural = supply.get(source.name)
        yield {
            "name": source.name,
            "dataset": source.dataset_name,
            "domain": source.domain,
            "bucket": source.bucket,
            "min_tokens": source.min_tokens,
            "max_tokens": source.max_tokens,
            "lengths": [
                {"bucket": p.name, "min_tokens": p.min_tokens, "max_tokens": p.max_tokens, "share": p.share}
                for p in source.lengths
            ],
            "synthesised": source.name in stage.synthesised,
            "rate": rate,
            "rows": draw.rows,
            "tokens": draw.rows * stage.context,
            "image_tokens": round(draw.rows * source.image_tokens / max(source.rows, 1)),
            "epochs": draw.rows / max(source.rows, 1),
            "upsampled": rate / natural if natural else None,
        }


def _of_stage(plan: "Plan", stage: "Stage") -> "list[Source]":
    """Natural sources of the datasets that a solved stage reads, drawn from or not."""
    names = {plan.sources[name].dataset_name for name in stage.mixture.names if name not in stage.synthesised}
    return [s for s in plan.sources.values() if s.dataset_name in names and s.domain is not None]


def _supply(plan: "Plan", stage: "Stage") -> dict[str, float]:
    """The share of each natural source in the rows of all of them."""
    if stage.solved is None:
        return {}
    sources = _of_stage(plan, stage)
    rows = sum(s.rows for s in sources)
    return {s.name: s.rows / rows for s in sources}


def _not_drawn(plan: "Plan", stage: "Stage") -> set[str]:
    if stage.solved is None:
        return set()
    return {s.name for s in _of_stage(plan, stage)} - set(stage.mixture.names)


def _epochs(plan: "Plan") -> Iterator[dict[str, Any]]:
    """Of each stretch of documents over the whole run."""
    from gristmill.pipeline.curriculum import value_of_epochs
    from gristmill.pipeline.curriculum.cells import span_name
    from gristmill.pipeline.reader.epochs import stretches

    draws = [draw for number in range(len(plan.stages)) for draw in _draws(plan, number)]
    pools = plan.pools or {name: name for name in plan.datasets}
    for stretch, here in stretches(draws, pools):
        epochs = sum(d.epochs for d in here)
        yield {
            "documents_of": stretch.pool,
            "domain": stretch.domain,
            "bucket": span_name(stretch.first_tokens, stretch.stop_tokens),
            "epochs": epochs,
            "cap": min(plan.limits.of(d.source) for d in here),
            "worth": value_of_epochs(epochs),
        }


def draw(plan: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the plots into a folder."""
    from gristmill.pipeline.curriculum.plots import plots

    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, png in plots(plan).items():
            paths.append(folder / name)
            paths[-1].write_bytes(png)
    except OSError as error:
        raise UsageError("cannot be written", "--plots", str(folder), error.strerror or "name a folder") from None
    return paths
