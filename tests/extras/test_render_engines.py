"""Render pairs are documents like any other: rendered, deduplicated, mixed with text, packed into trainer rows and
read, with the same bytes on every engine."""

from pathlib import Path

import numpy as np
import pytest

from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.reader import TokenStream
from tests.laws.running import call, fingerprint, run_inline, write_recipe
from tests.render.needs import skip_without_svg

skip_without_svg()

RECIPE = """
name: pairs
seed: 5
datasets:
  notes:
    read: {jsonl: notes.jsonl}
    domain: web
  svg:
    render: {svg: {count: 34, families: [bar_chart, face, flow_chart]}}
    license: CC0-1.0
    steps: [picture_dedup]
  forms:
    from: [svg]
    steps: [{render_forms: {per_record: 2}}]
  mixed:
    from: [notes, forms]
    steps: [exact_dedup, {minhash_dedup: {bands: 14, rows: 8, threshold: 0.9}}]
  rows:
    from: [mixed]
    steps: [{emit: {context: 4096}}]
"""


@pytest.fixture(scope="module")
def recipe(module_folder: Path) -> Path:
    notes = (f'{{"text": "Note {n}: a harbour has {n * 7 % 90} berths and a crane.", "id": "n{n}"}}' for n in range(50))
    (module_folder / "notes.jsonl").write_text("\n".join(notes) + "\n")
    return write_recipe(module_folder, RECIPE)


@pytest.fixture(scope="module")
def expected(recipe: Path, module_folder: Path) -> dict[str, str]:
    run_inline(recipe, module_folder / "inline")
    return fingerprint(module_folder / "inline")


def test_pairs_reach_the_trainer(recipe: Path, expected: dict[str, str], module_folder: Path) -> None:
    out = module_folder / "inline"
    assert expected
    steps = {name: read_manifest(out / name)["steps"] for name in ("svg", "forms", "mixed")}
    forms = steps["forms"][-1]
    assert forms["derived"] > 0 and forms["records_in"] + forms["derived"] == forms["kept"] + forms["dropped"]
    assert read_manifest(out / "rows")["media_shards"]
    batch = next(iter(TokenStream(out / "rows", global_batch=1)))
    assert np.asarray(batch.tokens).shape[-1] == 4096
    assert call("verify", out, "--deep").returncode == 0


@pytest.mark.parametrize("engine", ["datatrove", pytest.param("spark", marks=pytest.mark.slow)])
def test_an_engine_renders_the_same(engine: str, recipe: Path, expected: dict[str, str], tmp_path: Path) -> None:
    done = call("run", recipe, "--out", tmp_path, "--engine", engine, "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert fingerprint(tmp_path) == expected
