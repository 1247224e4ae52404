"""minhash_dedup's parameters and the keys of its tasks: none is left out."""

import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from gristmill.stages.dedup.minhash import MinhashDedup
from tests.laws.running import fingerprint, run_inline
from tests.pipeline.similar_docs import corpus, neighbours, recipe_of, write_docs

DOCS = corpus()

OTHER: dict[str, Any] = {
    "bands": 3,
    "rows": 2,
    "threshold": 0.99,
    "shingle": 2,
    "unit": "char",
    "normalise": "exact",
    "similarity": "containment",
    "keep": ["longest"],
    "seed": 5,
    "max_bucket": 8,
    "pivots": 1,
    "tokenizer": "bytes",
}
"""Another value for each parameter, with which the outcome differs where it can."""


def test_every_parameter_has_another_value_here() -> None:
    assert set(OTHER) == {f.name for f in fields(MinhashDedup)} - {"index"}


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies, near copies, parts of one another, capitals; an output that stands on the defaults."""
    folder = tmp_path_factory.mktemp("varied")
    parts = [(f"p{i}", t[: len(t) * 4 // 5]) for i, (_, t) in enumerate(DOCS[:20])]
    capitals = [(f"u{i}", t.upper()) for i, (_, t) in enumerate(DOCS[20:30])]
    write_docs(folder, {"docs.jsonl": [*DOCS, *parts, *capitals, *neighbours(40)]})
    run_inline(recipe_of(folder), folder / "out")
    return folder


@pytest.mark.parametrize("name", OTHER)
def test_work_is_found_again_only_where_no_parameter_changed_it(name: str, varied: Path, tmp_path: Path) -> None:
    """A parameter that is left out of the key of a task gives the result of another recipe, and nobody is told."""
    params = {name: OTHER[name], **({"unit": "token"} if name == "tokenizer" else {})}
    shutil.copytree(varied / "out", tmp_path / "old")
    recipe = recipe_of(varied, params, name=f"r{name.replace('_', '-')}")
    run_inline(recipe, tmp_path / "old")
    run_inline(recipe, tmp_path / "new")
    assert fingerprint(tmp_path / "old") == fingerprint(tmp_path / "new")
