"""A small real run to try filters on: texts that a stage's limits part, stored with and without a filter."""

import json
from pathlib import Path

from tests.laws.running import run_inline, write_recipe

RECIPE = """\
name: trial
seed: 3
datasets:
  raw:
    read: {jsonl: "docs.jsonl"}
    domain: web
  web:
    from: [raw]
    steps:
      - ./filters.py:shouting
      - ./filters.py:short
"""

FILTERS = '''\
from gristmill.stages import doc_filter


@doc_filter(drop_above={"upper_frac": 0.3})
def shouting(text):
    """Documents written mostly in capitals."""
    letters = [c for c in text if c.isalpha()]
    return {"upper_frac": sum(c.isupper() for c in letters) / max(len(letters), 1)}


@doc_filter(drop_below={"words": 3})
def short(text):
    """Documents of fewer than three words."""
    return {"words": len(text.split())}
'''


def make_inputs(folder: Path) -> Path:
    """The recipe's file, beside 100 documents: document n has n capitals of 100 letters; every tenth is one word."""
    lines = []
    for n in range(100):
        letters = "A" * n + "a" * (100 - n)
        text = letters if n % 10 == 0 else f"{letters[:40]} {letters[40:80]} {letters[80:]}"
        lines.append(json.dumps({"id": f"d{n:03d}", "text": text}))
    (folder / "docs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "filters.py").write_text(FILTERS, encoding="utf-8")
    return write_recipe(folder, RECIPE)


def make_run(folder: Path, measures_all: bool = True) -> Path:
    """An output of the recipe."""
    from gristmill.pipeline.run import RunOptions

    out = folder / "out"
    out.mkdir()
    run_inline(make_inputs(folder), out, options=RunOptions(measures_all=measures_all))
    return out
