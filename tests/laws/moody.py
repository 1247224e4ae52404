"""A recipe whose outcome depends on the machine's mood, for what is said of external effects.

It gives pages so little time that some always are parsed, some never, and most now and then.
"""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.laws.running import run_inline, write_recipe

RECIPE = """
name: moody
datasets:
  pages:
    read: {jsonl: "pages-*.jsonl", key: id}
    domain: web
    steps:
      - extract_html: {max_seconds: %s}
      - exact_dedup
"""
PAGES = 24


def write_pages(folder: Path, seconds: float) -> Path:
    """Pages of 1 to 24 times 200 paragraphs: parsing takes from under a millisecond to some ten."""
    folder.mkdir(parents=True)
    rows = [
        {"id": f"p{n}", "text": "<html><body>" + f"<p>Page {n} says <b>this</b> and that.</p>" * (200 * n)}
        for n in range(1, PAGES + 1)
    ]
    for part in range(4):
        lines = "".join(json.dumps(row) + "\n" for row in rows[part::4])
        (folder / f"pages-{part}.jsonl").write_text(lines, encoding="utf-8")
    return write_recipe(folder, RECIPE % seconds)


def reasons(out: Path) -> list[str]:
    """Of all records in the ledger of an output."""
    found = sorted((out / "pages").rglob("ledger*.parquet"))
    return [reason for path in found for reason in pq.read_table(path).column("reason").to_pylist()]


def seconds_that_part(folder: Path) -> tuple[Path, Path]:
    """A recipe whose limit lets some pages through and stops others here and now, and its output."""
    seconds = 0.02
    for attempt in range(12):
        recipe, out = write_pages(folder / f"in{attempt}", seconds), folder / f"out{attempt}"
        run_inline(recipe, out)
        late = reasons(out).count("html_timeout")
        if 4 <= late <= PAGES - 4:
            return recipe, out
        seconds *= 2 if late else 0.5
    pytest.fail("no limit parts the pages on this machine")
