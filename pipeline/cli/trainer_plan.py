"""`gristmill plan` of a trainer's plan, or of a dataset of rows: what each stage reads of each source."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from gristmill.manifests.manifest import MANIFEST

if TYPE_CHECKING:
    from gristmill.pipeline.reader.plan import Plan


def is_trainer_plan(path: Path) -> bool:
    """Whether a path is a trainer's plan (a file with `stages:`) or a dataset's folder, and no recipe."""
    if path.is_dir():  # `demo` is a packaged recipe, and a folder of a checkout
        return (path / MANIFEST).is_file()
    try:
        found: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return False
    return isinstance(found, Mapping) and "stages" in found


def described(path: Path) -> dict[str, Any]:
    """The plan as plain data. Raises what `load_plan` raises."""
    from gristmill.pipeline.reader.plan import load_plan

    plan = load_plan(path)
    totals = dict.fromkeys(plan.datasets, 0)
    stages = list(_stages(plan, totals))
    datasets = [
        {
            "name": name,
            "path": dataset.where,
            "digest": dataset.digest,
            "rows": dataset.rows,
            "rows_read": totals[name],
            "epochs": totals[name] / dataset.rows,
        }
        for name, dataset in plan.datasets.items()
    ]
    return {"plan": str(path), "digest": plan.digest, "seed": plan.seed, "stages": stages, "datasets": datasets}


def _stages(plan: "Plan", totals: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Adds the rows of each dataset to `totals`."""
    for number, stage in enumerate(plan.stages):
        sources: list[dict[str, Any]] = []
        names, parts = stage.mixture.names, stage.mixture.parts
        for name, part, rows in zip(names, parts, stage.mixture.before(stage.rows), strict=True):
            totals[name] += rows
            tokens = rows * stage.context
            sources.append({"name": name, "rate": part / sum(parts), "rows": rows, "tokens": tokens})
        first = {"stage": number, "context": stage.context, "first_index": plan.starts[number], "rows": stage.rows}
        yield {**first, "tokens": stage.rows * stage.context, "sources": sources}


def show(plan: Mapping[str, Any]) -> None:
    """Print it as tables."""
    from gristmill.pipeline.cli.output import print_line, print_table

    print_line(f"trainer plan {plan['plan']}, seed {plan['seed']}, {plan['digest'][:12]}")
    rows = [
        (s["stage"], s["context"], source["name"], f"{source['rate']:.4f}", source["rows"], source["tokens"])
        for s in plan["stages"]
        for source in s["sources"]
    ]
    print_table(("stage", "context", "source", "rate", "rows", "tokens"), rows)
    print_table(
        ("dataset", "path", "rows", "rows read", "epochs"),
        [(d["name"], d["path"], d["rows"], d["rows_read"], f"{d['epochs']:.2f}") for d in plan["datasets"]],
    )
