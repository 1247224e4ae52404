"""SPARK-39979: documents of 310 MB, more than 2 GiB of them in one column of one file, through the engine spark."""

import json
from pathlib import Path

import pytest

from tests.laws.corpora import prose
from tests.laws.running import call, fingerprint, run_inline, write_recipe

DOC_BYTES = 310 << 20
DOCS = 7
RECIPE = """\
name: large
datasets:
  d:
    read: {jsonl: "*.jsonl"}
    steps: [exact_dedup]
"""


def write_documents(path: Path) -> int:
    """Bytes of text in one file: documents that differ in their first words, and one of them twice."""
    body = prose(1, 20_000) + "\n"
    body *= DOC_BYTES // len(body) + 1
    with path.open("w", encoding="utf-8") as file:
        for number in range(DOCS):
            file.write(json.dumps({"text": f"document {number % (DOCS - 1)} " + body}) + "\n")
    return DOCS * len(body)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_documents_of_310_mb(tmp_path: Path) -> None:
    assert write_documents(tmp_path / "a.jsonl") > 1 << 31
    recipe = write_recipe(tmp_path, RECIPE)
    done = call("run", recipe, "--out", tmp_path / "out", "--engine", "spark", "--workers", "1")
    assert done.returncode == 0, done.stderr
    run_inline(recipe, tmp_path / "calm")
    assert fingerprint(tmp_path / "out") == fingerprint(tmp_path / "calm")
