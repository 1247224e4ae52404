"""Renews docs/stages.md from the catalogue: `python -m tests.stages_table`.

One section a built-in stage, `render_check` among them: what it does, its parameters, the rules by which it drops with
their sources, and its other reasons. tests/test_docs.py refuses a page that says something else than the code.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gristmill.render.recheck import REASONS
from gristmill.stages import catalogue

PAGE = Path(__file__).resolve().parents[1] / "docs" / "stages.md"

HEAD = """\
# Stages

Made from the code by `python -m tests.stages_table`; `gristmill stage list STAGE` prints the same of one stage.
Reasons are a closed vocabulary: the ledger entry of a dropped record bears one of these words, the measured value
and the limit. What each measure is, and where a rule departs from its source and why, stands in the
docstring of the stage's module.

A filter or a mapper sees one record at a time. The other shapes look at whole datasets: an exchange brings equal keys
together once, rounds do so several times, one after the other; similar is the search for candidates of which each is
verified; a census counts shard by shard and decides in one process.
"""


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; empty where there are no rows."""
    lines = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    if not lines:
        return ""
    head = [list(headers), ["---"] * len(headers)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (*head, *lines)) + "\n"


def rule_row(rule: Mapping[str, Any]) -> tuple[str, str, str]:
    """Reason, condition (other limits of profiles counted), source."""
    others = len(rule["by_profile"])
    more = f" ({others} profiles have limits of their own)" if others else ""
    return rule["reason"], f"`{rule['measure']}` is {rule['direction']} {rule['limit']:g}{more}", rule["source"]


def section(stage: Mapping[str, Any]) -> str:
    """One stage."""
    params = [
        (f"`{p['name']}`", f"`{p['type']}`", "required" if p["required"] else f"`{p['default']}`", p["doc"])
        for p in stage["params"]
    ]
    reasons = [(r["reason"], r["verdict"], r["doc"]) for r in stage["reasons"]]
    parts = [
        f"## {stage['name']}\n\n{stage['doc']}\n\n{stage['shape'].capitalize()}, version {stage['version']}, "
        f"in `{stage['module']}`.\n",
        table(("parameter", "type", "default", "meaning"), params),
        table(("reason", "dropped when", "source"), map(rule_row, stage["rules"])),
        table(("reason", "verdict", "meaning"), reasons),
    ]
    return "\n".join(part for part in parts if part)


def render_check() -> dict[str, Any]:
    """The stage of `render`; of its reasons those that do not depend on which engines are there."""
    stage = catalogue.describe("render_check")
    own = {word.reason for word in REASONS}
    return {**stage, "reasons": [reason for reason in stage["reasons"] if reason["reason"] in own]}


def page() -> str:
    """The whole page."""
    stages = [*map(catalogue.describe, catalogue.BUILTIN), render_check()]
    names = "\n".join(f"* [{s['name']}](#{s['name']}): {s['doc']}" for s in stages)
    further = "Beside these, the reasons of its domains: `gristmill stage list render_check` names them.\n"
    return "\n".join((HEAD, names + "\n", *map(section, stages), further))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
