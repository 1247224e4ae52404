"""`gristmill show DATASET --tasks`: the tasks of a dataset of sequences at a glance.

By family: how many, class, tiers, depth of evidence and queries (histograms of ten tenths of the window), extent,
distance to the nearest evidence, epsilon of windows, templates used. Read from rows without their ids.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gristmill.pipeline.cli.output import emit_json, print_line, print_table

TENTHS = 10
_BARS = " .:-=+*#%@"


def show_tasks(place: str | Path, as_json: bool) -> None:
    """Print the overview of a dataset's folder, or of its place in object storage."""
    told = overview(place)
    if as_json:
        emit_json(told)
        return
    rows, tasks = told["rows"], sum(f["tasks"] for f in told["families"])
    print_line(f"{tasks} tasks in {told['rows_with_tasks']} of {rows} rows of {told['context']} tokens")
    if not tasks:
        return
    print_line()
    print_table(
        ("family", "class", "tasks", "tiers", "evidence", "span", "gap", "epsilon 1/128, 1/16, 1/4", "templates"),
        [_line(f) for f in told["families"]],
    )
    print_line()
    print_line(f"depth in tenths of the window, from front to end; {_BARS.strip()} from few to many")
    print_table(
        ("family", "evidence", "queries"),
        [(f["family"], _bar(f["evidence_depth"]), _bar(f["query_depth"])) for f in told["families"]],
    )


def overview(place: str | Path) -> dict[str, Any]:
    """The same as plain data."""
    from gristmill.pipeline.reader.rows_dataset import RowsDataset

    dataset = RowsDataset.open(place)
    found: dict[str, list[dict[str, Any]]] = {}
    with_tasks = 0
    for row in range(dataset.rows):
        tasks = dataset.documents(row)["tasks"]
        with_tasks += bool(tasks)
        for task in tasks:
            found.setdefault(task["family"], []).append(task)
    families = [_family(name, tasks, dataset.context) for name, tasks in sorted(found.items())]
    return {"rows": dataset.rows, "context": dataset.context, "rows_with_tasks": with_tasks, "families": families}


def _family(name: str, tasks: Sequence[dict[str, Any]], context: int) -> dict[str, Any]:
    evidence = [e["start"] for t in tasks for e in t["evidence"]]
    eps = [t["window_eps"] for t in tasks if t["window_eps"]]
    return {
        "family": name,
        "klass": tasks[0]["klass"],
        "tasks": len(tasks),
        "tiers": dict(sorted(Counter(str(t["tier"]) for t in tasks).items())),
        "evidence": sum(len(t["evidence"]) for t in tasks) / len(tasks),
        "span_frac": sum(t["span_frac"] for t in tasks) / len(tasks),
        "min_gap": min(t["min_gap"] for t in tasks),
        "max_window_eps": [max(column) for column in zip(*eps, strict=True)],
        "templates": len({n for t in tasks for n in t["template_ids"]}),
        "evidence_depth": _tenths(evidence, context),
        "query_depth": _tenths([t["query_start"] for t in tasks], context),
    }


def _tenths(places: Sequence[int], context: int) -> list[int]:
    count = Counter(min(TENTHS - 1, place * TENTHS // context) for place in places)
    return [count[at] for at in range(TENTHS)]


def _line(family: dict[str, Any]) -> tuple[Any, ...]:
    tiers = " ".join(f"{tier}:{n}" for tier, n in family["tiers"].items())
    eps = ", ".join(f"{e:.4f}" for e in family["max_window_eps"]) or "none stated"
    told = (f"{family['evidence']:.1f}", f"{family['span_frac']:.2f}", family["min_gap"])
    return (family["family"], family["klass"], family["tasks"], tiers, *told, eps, family["templates"])


def _bar(counts: Sequence[int]) -> str:
    return "".join(_marks(counts))


def _marks(counts: Sequence[int]) -> Iterator[str]:
    most = max(counts, default=0)
    for count in counts:
        yield _BARS[-(-count * (len(_BARS) - 1) // most)] if most else " "
