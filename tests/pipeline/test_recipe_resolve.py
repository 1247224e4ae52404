"""What a recipe names is loaded, and what it names wrongly is told at its own line."""

from pathlib import Path

import pytest

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.recipe import Recipe, load_recipe, resolved
from gristmill.pipeline.recipe_resolve import resolve_sources, resolve_stages
from gristmill.stages.dedup.exact import ExactDedup

FILTER = '''
from gristmill.stages.doc_filter import doc_filter

@doc_filter(drop_above={"upper_frac": 0.3})
def shouting(text):
    """Documents written mostly in capitals."""
    return {"upper_frac": sum(c.isupper() for c in text) / max(len(text), 1)}
'''

RECIPE = """\
name: x
datasets:
  a:
    read:
      jsonl: "*.jsonl"
      OPTION
    steps:
      - exact_dedup
      - ./f.py:shouting:
          upper_frac: 0.5
      - STEP
"""


def load(tmp_path: Path, step: str = "exact_dedup", option: str = "key: id", *overrides: str) -> Recipe:
    (tmp_path / "f.py").write_text(FILTER)
    (tmp_path / "r.yaml").write_text(RECIPE.replace("STEP", step).replace("OPTION", option))
    return load_recipe(tmp_path / "r.yaml", overrides)


def test_stages_are_loaded_in_order(tmp_path: Path) -> None:
    recipe = load(tmp_path)
    stages = resolve_stages(recipe)
    assert list(stages) == ["a"]
    assert isinstance(stages["a"][0], ExactDedup)
    assert [stage.name for stage in stages["a"]] == ["exact_dedup", "shouting", "exact_dedup"]


def test_the_resolved_recipe_has_every_parameter_and_stays_itself(tmp_path: Path) -> None:
    recipe = load(tmp_path)
    plain = resolved(recipe, resolve_stages(recipe))
    assert plain["datasets"]["a"]["steps"][1] == {
        "./f.py:shouting": {"drop_above": {"upper_frac": 0.5}, "drop_below": {}}
    }


@pytest.mark.parametrize(
    ("step", "override", "where", "what", "value", "remedy"),
    [
        ("exact_dedupe", "", ":11", "datasets.a.steps.exact_dedupe: unknown stage", "exact_dedupe", "exact_dedup"),
        (
            "exact_dedup: {keeep: 1}",
            "",
            ":11",
            "datasets.a.steps.exact_dedup_2.keeep: unknown parameter",
            "keeep",
            "",
        ),
        ("./none.py:f", "", ":11", "datasets.a.steps.f: stage file cannot be read", None, "./file.py:name"),
        ("./f.py:shout", "", ":11", "no such stage in the file", "shout", "shouting"),
        (
            "exact_dedup",
            "datasets.a.steps.shouting.uper_frac=1",
            "--set datasets.a.steps.shouting.uper_frac",
            "no such measure",
            "uper_frac",
            "upper_frac",
        ),
        ("exact_dedup", "datasets.a.steps.1.upper_frac=x", "--set datasets.a.steps.1.upper_frac", "number", "x", ""),
    ],
)
def test_a_wrong_step_is_told_at_its_line(
    tmp_path: Path, step: str, override: str, where: str, what: str, value: str | None, remedy: str
) -> None:
    recipe = load(tmp_path, step, "key: id", *filter(None, [override]))
    with pytest.raises(RecipeError) as caught:
        resolve_stages(recipe)
    assert caught.value.where.removeprefix(f"{tmp_path}/r.yaml") == where
    assert what in caught.value.what
    assert value is None or caught.value.value == value
    assert remedy in caught.value.remedy


def test_a_parameter_is_told_at_its_own_line(tmp_path: Path) -> None:
    recipe = load(tmp_path)
    step = recipe.dataset("a").steps[1]
    assert step.where.endswith(":9")
    assert step.param_where["upper_frac"].endswith(":10")


def test_options_of_a_source_are_complete(tmp_path: Path) -> None:
    plain = resolve_sources(load(tmp_path))["a"]
    assert plain["text"] == "text"
    assert resolve_sources(load(tmp_path, "exact_dedup", "text: body"))["a"] == {**plain, "text": "body"}


@pytest.mark.parametrize(
    ("option", "what", "value", "remedy"),
    [
        ("txet: body", "read.txet: not an option of jsonl", "txet", "did you mean text"),
        ("text: 7", "read.text: wrong type", "7", "a value like"),
    ],
)
def test_a_wrong_option_is_told_at_its_line(tmp_path: Path, option: str, what: str, value: str, remedy: str) -> None:
    with pytest.raises(RecipeError) as caught:
        resolve_sources(load(tmp_path, "exact_dedup", option))
    assert caught.value.where == f"{tmp_path}/r.yaml:6"
    assert what in caught.value.what
    assert caught.value.value == value
    assert remedy in caught.value.remedy


def test_a_key_is_refused_where_records_have_no_fields(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text('name: x\ndatasets:\n  d:\n    read: {html: "*.html", key: name}\n', encoding="utf-8")
    with pytest.raises(RecipeError, match=r"read.key: html records have no fields: 'name'; take it out"):
        resolve_sources(load_recipe(path))
