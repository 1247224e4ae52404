"""Pages that are made from the code say what the code says; what stands in them as code does what it says."""

import re
from pathlib import Path

import pytest

from tests import scale_figures, stages_table

ADAPTERS = Path(stages_table.PAGE).with_name("adapters.md")


def test_the_page_of_stages_is_that_of_the_catalogue() -> None:
    assert stages_table.PAGE.read_text(encoding="utf-8") == stages_table.page(), "python -m tests.stages_table"


def test_every_rule_has_a_source() -> None:
    from gristmill.stages import catalogue

    rules = [(s, r["reason"]) for s in catalogue.BUILTIN for r in catalogue.describe(s)["rules"] if not r["source"]]
    assert rules == []


def test_every_parameter_says_what_it_is() -> None:
    from gristmill.stages import catalogue

    bare = [(s, p["name"]) for s in catalogue.BUILTIN for p in catalogue.describe(s)["params"] if not p["doc"]]
    assert bare == []


def test_the_page_of_scale_has_the_figures_of_the_code() -> None:
    text = scale_figures.PAGE.read_text(encoding="utf-8")
    assert scale_figures.BEGIN in text and text == scale_figures.page(text), "python -m tests.scale_figures"


def test_the_driver_takes_for_a_part_of_a_spill_file_what_the_page_says() -> None:
    measured = scale_figures.entry_bytes()
    assert abs(measured - scale_figures.DRIVER_ENTRY_BYTES) < 0.25 * scale_figures.DRIVER_ENTRY_BYTES, measured


def blocks(kind: str) -> list[str]:
    """The blocks of code of docs/adapters.md whose fence says this."""
    return re.findall(rf"^```{re.escape(kind)}\n(.*?)^```$", ADAPTERS.read_text(encoding="utf-8"), re.M | re.S)


def test_the_examples_of_adapters_run(tmp_path: Path) -> None:
    pytest.importorskip("datatrove")
    (code,) = blocks("python")
    path = tmp_path / "example.py"
    path.write_text(code, encoding="utf-8")
    exec(compile(code, str(path), "exec"), {"__name__": "example"})


def test_the_recipes_of_adapters_load(tmp_path: Path) -> None:
    pytest.importorskip("datatrove")
    from gristmill.pipeline.recipe import load_recipe
    from gristmill.pipeline.recipe_resolve import resolve_stages

    (steps,) = blocks("yaml")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "math.bin").write_bytes(b"a model")
    head = "name: x\ndatasets:\n  d:\n    read: {text: '*.txt'}\n"
    (tmp_path / "r.yaml").write_text(head + "".join(f"    {line}\n" for line in steps.splitlines()), encoding="utf-8")
    (stages,) = resolve_stages(load_recipe(tmp_path / "r.yaml")).values()
    assert [stage.filter for stage in stages] == [  # type: ignore[union-attr]
        "GopherQualityFilter",
        "C4QualityFilter",
        "FastTextClassifierFilter",
    ]
