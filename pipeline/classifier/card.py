"""The model card: what a model was made of, with what, and how good it is; JSON data, and Markdown of it for people."""

import math
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gristmill.pipeline.classifier.inputs import Side
from gristmill.pipeline.classifier.split import SIDES, Split

_VERSIONED = ("gristmill", "fasttext-numpy2-wheel", "numpy", "pyarrow", "onnxruntime", "tokenizers")


def inputs_json(sides: Mapping[str, Side]) -> dict[str, Any]:
    """What was read of each side: each argument's name, files, bytes and digest; documents read, used and lost."""
    return {
        name: {
            "inputs": [
                {
                    "name": one.name,
                    "files": len(one.files),
                    "bytes": sum(f.bytes for f in one.files),
                    "digest": one.digest,
                }
                for one in side.inputs
            ],
            "docs_read": side.seen,
            "docs_used": len(side.documents),
            "lost": side.lost,
        }
        for name, side in sides.items()
    }


def files_json(sides: Mapping[str, Side]) -> dict[str, Any]:
    """Every file of every input with its digest, for the list beside the model."""
    return {
        name: [
            {"input": one.name, "path": file.rel, "bytes": file.bytes, "digest": file.digest}
            for one in side.inputs
            for file in one.files
        ]
        for name, side in sides.items()
    }


def split_json(split: Split) -> dict[str, Any]:
    """Documents of each part and class, how they were grouped, and what was left out."""
    return {
        "docs": {
            part: {name: sum(row.positive == bool(value) for row in rows) for value, name in enumerate(SIDES)}
            for part, rows in split.parts.items()
        },
        "grouping": {name: dict(found) for name, found in split.grouping.items()},
        "left_out": dict(split.left_out),
    }


def versions() -> dict[str, str]:
    """What decides the bytes besides the inputs."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in _VERSIONED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def markdown(card: Mapping[str, Any]) -> str:
    """The card for people."""
    test = card["test"]
    decision = test["decision"]
    lines = [
        f"# {card['name']}",
        "",
        *([card["note"], ""] if card["note"] else []),
        f"Scorer: {card['kind']}. Threshold {decision['threshold']:.4g} ({card['threshold_by']}).",
        f"Licence of the inputs: {card['license'] or 'not stated'}.",
        "",
        "## On the test part",
        "",
        f"{test['docs']['positive']} good and {test['docs']['negative']} bad documents that training did not see"
        f"{_prior(card['prior'])}.",
        "",
        *_table(
            ("", "raw", "calibrated"),
            [
                ("AUC", f"{test['auc']:.4f}", ""),
                ("Brier", f"{test['before']['brier']:.4f}", f"{test['after']['brier']:.4f}"),
                ("ECE", f"{test['before']['ece']:.4f}", f"{test['after']['ece']:.4f}"),
            ],
        ),
        "",
        f"Precision {_share(decision['precision'])} (95 % interval {decision['precision_low']:.4f} to"
        f" {decision['precision_high']:.4f}), recall {decision['recall']:.4f}, kept {decision['keep_rate']:.4f}.",
        "",
        *_confusion("domain", test["by_domain"]),
        *_confusion("input", test["by_input"]),
        *_confusion("language", test["by_language"]),
        "## What it was made of",
        "",
        *_inputs(card["inputs"]),
        *_parts(card["split"]),
        *(f"- Warning: {line}" for line in card["warnings"]),
        "",
        "## Parameters",
        "",
        *_table(("parameter", "value"), [*card["params"].items(), ("seed", card["seed"])]),
        "",
        "Versions: " + ", ".join(f"{name} {value}" for name, value in card["versions"].items()) + ".",
    ]
    return "\n".join(lines) + "\n"


def _share(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "unknown, as nothing is kept"


def _prior(prior: float | None) -> str:
    return "" if prior is None else f", weighted so that {prior:g} of all are good"


def _table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    return [_row(headers), _row(["---"] * len(headers)), *map(_row, rows)]


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _confusion(name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    headers = (name, "good kept", "bad kept", "good dropped", "bad dropped", "AUC")
    cells = [
        (r["group"], r["tp"], r["fp"], r["fn"], r["tn"], "" if r["auc"] is None else f"{r['auc']:.4f}") for r in rows
    ]
    return [*_table(headers, cells), ""]


def _inputs(inputs: Mapping[str, Any]) -> list[str]:
    rows = [
        (side, one["name"], one["files"], one["bytes"], one["digest"])
        for side, found in inputs.items()
        for one in found["inputs"]
    ]
    return [*_table(("class", "input", "files", "bytes", "digest"), rows), ""]


def _parts(split: Mapping[str, Any]) -> list[str]:
    rows = [(part, counts["positive"], counts["negative"]) for part, counts in split["docs"].items()]
    left_out = ", ".join(f"{count} {reason}" for reason, count in split["left_out"].items() if count) or "none"
    grouped = "; ".join(
        f"{name} by {g['by']}" + (f" (depth {g['depth']}, {g['groups']} groups)" if g["depth"] else "")
        for name, g in split["grouping"].items()
    )
    return [*_table(("part", "good", "bad"), rows), "", f"Split: {grouped}. Left out: {left_out}.", ""]
