"""`render:` of a recipe: what it means, and what a wrong one is told, to the line."""

from pathlib import Path

import pytest

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.recipe import Recipe, RenderOrigin, build_recipe, load_recipe, resolved
from gristmill.pipeline.recipe_render import Rendered
from gristmill.pipeline.recipe_yaml import parse_file
from gristmill.pipeline.renders import resolve_renders

DOODLE = Path(__file__).parents[1] / "render" / "doodle.py"
LONG = """\
name: x
datasets:
  pairs:
    license: CC0-1.0
    render:
      svg: {count: 200, families: [maps, charts, maps], min_accept_frac: 0.75}
      ./doodle.py:Doodle: {from: [a/*.doodle, b]}
      web: 50
"""


def load_text(tmp_path: Path, text: str, *overrides: str) -> Recipe:
    (tmp_path / "r.yaml").write_text(text, encoding="utf-8")
    return load_recipe(tmp_path / "r.yaml", overrides)


def one(render: str, more: str = "") -> str:
    return f"name: x\ndatasets:\n  a:\n    render: {render}\n{more}"


def test_both_forms_mean_the_same(tmp_path: Path) -> None:
    recipe = load_text(tmp_path, LONG)
    origin = recipe.dataset("pairs").origin
    assert isinstance(origin, RenderOrigin)
    assert origin.domains == (
        Rendered("./doodle.py:Doodle", 0, (), ("a/*.doodle", "b"), 0.0),
        Rendered("svg", 200, ("charts", "maps"), (), 0.75),
        Rendered("web", 50, (), (), 0.5),
    )
    assert [domain.where.rpartition(":")[2] for domain in origin.domains] == ["7", "6", "8"]
    assert load_text(tmp_path, one("{svg: 9}")).digest == load_text(tmp_path, one("{svg: {count: 9}}")).digest
    assert load_text(tmp_path, one("{svg: 9}")).digest != load_text(tmp_path, one("{svg: 10}")).digest
    assert load_text(tmp_path, one("{svg: 9}"), "datasets.a.render.svg=10") == load_text(tmp_path, one("{svg: 10}"))


def test_a_resolved_recipe_is_a_recipe_of_the_same_digest(tmp_path: Path) -> None:
    import yaml

    recipe = load_text(tmp_path, LONG)
    plain = resolved(recipe)
    assert plain["datasets"]["pairs"]["license"] == "CC0-1.0"
    again = build_recipe(parse_file(yaml.safe_dump(plain).encode(), "r"), recipe.path, recipe.base_dir)
    assert again.digest == recipe.digest


@pytest.mark.parametrize(
    ("render", "more", "line", "what", "value", "remedy"),
    [
        ("{svg: 0}", "", 4, "render.svg: not a number of records", "0", "1 or more"),
        ("{svg: -1}", "", 4, "not a number of records", "-1", "1 or more"),
        ("{svg: true}", "", 4, "not a number of records", "true", "1 or more"),
        ("{svg: 2.5}", "", 4, "not a number of records", "2.5", "1 or more"),
        ("{svg: '9'}", "", 4, "not a number of records", "9", "1 or more"),
        ("{svg: [9]}", "", 4, "not a number of records", "[9]", "1 or more"),
        ("{svg: }", "", 4, "not a number of records", "null", "1 or more"),
        ("{svg: 2000000000}", "", 4, "not a number of records", "2000000000", ""),
        ("{}", "", 4, "names no domain", "{}", "svg: 200"),
        ("{svgg: 9}", "", 4, "no such domain", "svgg", "did you mean svg"),
        ("7", "", 4, "datasets.a.render", "7", "mapping"),
        ("{svg: {}}", "", 4, "neither how many", None, "count: 200"),
        ("{svg: {count: 9, from: x}}", "", 4, "not both", None, "two datasets"),
        ("{svg: {cuont: 9}}", "", 4, "unknown key", "cuont", "did you mean count"),
        ("{svg: {count: no}}", "", 4, "svg.count: not a number", "no", "1 or more"),
        ("{svg: {count: 9, families: []}}", "", 4, "svg.families: no family", "[]", "a list of families"),
        ("{svg: {count: 9, families: [1]}}", "", 4, "svg.families: no family", "[1]", "a list"),
        ("{svg: {from: []}}", "", 4, "svg.from: no glob", "[]", "glob"),
        ("{svg: {from: x, families: [y]}}", "", 4, "existing files have no families", "['y']", "take it out"),
        ("{svg: {count: 9, min_accept_frac: 1.5}}", "", 4, "min_accept_frac: not a fraction", "1.5", "0 to 1"),
        ("{svg: {count: 9, min_accept_frac: true}}", "", 4, "min_accept_frac: not a fraction", "true", "0 to 1"),
        ("{svg: 9}", "    domain: vision\n", 5, "what is rendered has the domain vision", "vision", "take it out"),
        ("{svg: 9}", "    from: b\n", 4, "one origin", "from, render", "one of"),
        ("{svg: 9}", "    license: ''\n", 5, "license", "", ""),
    ],
)
def test_a_wrong_render_is_told(
    tmp_path: Path, render: str, more: str, line: int, what: str, value: str | None, remedy: str
) -> None:
    with pytest.raises(RecipeError) as caught:
        load_text(tmp_path, one(render, more))
    error = caught.value
    assert error.where.endswith(f"r.yaml:{line}")
    assert what in error.what
    assert value is None or str(error.value) == value
    assert remedy in error.remedy


def test_domains_and_families_are_checked_when_they_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "doodle.py").write_bytes(DOODLE.read_bytes())
    form = one("\n      ./doodle.py:Doodle:\n        count: 3\n        families: [dots, {}]")
    recipe = load_text(tmp_path, form.format("bars"))
    assert resolve_renders(recipe)["a"][0].families == ("bars", "dots")
    assert resolve_renders(load_text(tmp_path, one("{'./doodle.py:Doodle': 3}")))["a"][0].families == (
        "bars",
        "dots",
        "flags",
        "murky",
    )
    with pytest.raises(RecipeError, match=r"r\.yaml:7: .*no such family: 'baars'; did you mean bars"):
        resolve_renders(load_text(tmp_path, form.format("baars")))
    with pytest.raises(RecipeError, match=r"r\.yaml:4: .*cannot be read"):
        resolve_renders(load_text(tmp_path, one("{'./other.py:Doodle': 3}")))
    with pytest.raises(RecipeError, match=r"r\.yaml:4: .*no such stage in the file: 'Doodel'"):
        resolve_renders(load_text(tmp_path, one("{'./doodle.py:Doodel': 3}")))


def test_two_domains_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("doodle", "other"):
        (tmp_path / f"{name}.py").write_bytes(DOODLE.read_bytes())
    recipe = load_text(tmp_path, one("{'./doodle.py:Doodle': 3, './other.py:Doodle': 3}"))
    with pytest.raises(RecipeError, match="two domains of one name"):
        resolve_renders(recipe)
