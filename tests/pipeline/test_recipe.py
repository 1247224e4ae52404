"""Recipes: what a right one means, and what a wrong one is told, to the line."""

import json
import re
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_USAGE, RecipeError
from gristmill.manifests.schema import DOMAINS
from gristmill.pipeline import recipe_shape
from gristmill.pipeline.recipe import (
    FromOrigin,
    Holdout,
    ReadOrigin,
    Recipe,
    RenderOrigin,
    in_build_order,
    load_recipe,
    resolved,
)
from gristmill.pipeline.recipe_render import Rendered
from gristmill.pipeline.recipe_yaml import MAX_BYTES, parse_file, parse_value

GOOD = """\
name: example
seed: 17
holdout: {frac: 0.01}
datasets:
  train:
    from: [corpus, pairs]
    steps:
      - emit: {context: 8192}
  web:
    read: {warc: "crawl/*.warc.gz", key: url, depth: 3}
    domain: web
    license: CC-BY-4.0
    steps:
      - extract_html
      - language: {keep: [en, no, fr]}
      - c4
      - gopher_quality:
      - c4: {min_words: 5, ratio: 1e-3}
      - ./my_filters.py:Shouting
  corpus:
    from: web
  pairs:
    render: {svg: 200, web: 50}
"""


def load_text(tmp_path: Path, text: str | bytes, *overrides: str) -> Recipe:
    path = tmp_path / "r.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_recipe(path, overrides)


def fault(tmp_path: Path, text: str | bytes, *overrides: str) -> RecipeError:
    with pytest.raises(RecipeError) as caught:
        load_text(tmp_path, text, *overrides)
    assert caught.value.exit_code == EXIT_USAGE
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_recipe_means_what_it_says(tmp_path: Path) -> None:
    recipe = load_text(tmp_path, GOOD)
    assert [dataset.name for dataset in recipe.datasets] == ["train", "web", "corpus", "pairs"]
    assert (recipe.name, recipe.seed, recipe.tokenizer) == ("example", 17, "deepseek")
    assert recipe.holdout == Holdout(0.01, 0)
    assert recipe.base_dir == tmp_path.resolve()
    web = recipe.dataset("web")
    assert web.origin == ReadOrigin("warc", ("crawl/*.warc.gz",), "url", {"depth": 3})
    assert (web.domain, web.license) == ("web", "CC-BY-4.0")
    assert recipe.dataset("corpus").origin == FromOrigin(("web",))
    assert recipe.dataset("corpus").steps == ()
    pairs = recipe.dataset("pairs").origin
    assert isinstance(pairs, RenderOrigin)
    assert pairs.domains == (Rendered("svg", 200, (), (), 0.5), Rendered("web", 50, (), (), 0.5))


def test_steps_have_unique_labels_and_lines(tmp_path: Path) -> None:
    steps = load_text(tmp_path, GOOD).dataset("web").steps
    labels = ["extract_html", "language", "c4", "gopher_quality", "c4_2", "shouting"]
    assert [step.label for step in steps] == labels
    assert [step.line for step in steps] == [14, 15, 16, 17, 18, 19]
    assert steps[1].params == {"keep": ["en", "no", "fr"]}, "`no` is a language, not false"
    assert steps[3].params == {}
    assert steps[4].params == {"min_words": 5, "ratio": 0.001}, "1e-3 is a number"
    assert steps[5].name == "./my_filters.py:Shouting"


def test_datasets_come_behind_what_they_are_made_from(tmp_path: Path) -> None:
    order = [dataset.name for dataset in in_build_order(load_text(tmp_path, GOOD))]
    assert order == ["web", "corpus", "pairs", "train"]


def test_the_resolved_recipe_is_the_same_recipe(tmp_path: Path) -> None:
    recipe = load_text(tmp_path, GOOD)
    plain = resolved(recipe)
    assert load_text(tmp_path, json.dumps(plain)).digest == recipe.digest
    assert plain["tokenizer"] == "deepseek"
    assert plain["holdout"] == {"frac": 0.01, "seed": 0}
    assert str(tmp_path) not in json.dumps(plain)


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    digest = load_text(tmp_path, GOOD).digest
    assert re.fullmatch("blake3:[0-9a-f]{64}", digest)
    dressed = "# remark\n" + GOOD.replace("seed: 17", "seed:   0x11   # the same")
    assert load_text(tmp_path, dressed).digest == digest
    assert load_text(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()).digest == digest, "a byte-order mark"
    assert load_text(tmp_path, GOOD.replace("\n", "\r\n")).digest == digest
    assert load_text(tmp_path, GOOD.replace("min_words: 5", "min_words: 6")).digest != digest


def test_an_optional_read_says_so_and_is_another_recipe(tmp_path: Path) -> None:
    plain = load_text(tmp_path, one(TEXT))
    recipe = load_text(tmp_path, one("read: {text: '*.txt', optional: true}"))
    assert recipe.dataset("a").origin == ReadOrigin("text", ("*.txt",), None, {}, optional=True)
    assert resolved(recipe)["datasets"]["a"]["read"] == {"text": ["*.txt"], "key": None, "optional": True}
    assert load_text(tmp_path, json.dumps(resolved(recipe))).digest == recipe.digest != plain.digest
    assert load_text(tmp_path, one("read: {text: '*.txt', optional: false}")).digest == plain.digest


def test_an_alias_stands_for_its_value(tmp_path: Path) -> None:
    text = "name: x\ndatasets:\n  a: &a\n    read: {text: '*.txt'}\n    steps: [c4]\n  b: *a\n"
    recipe = load_text(tmp_path, text, "datasets.b.steps.c4.x=1")
    assert recipe.dataset("a").steps[0].params == {}, "an override of one place leaves the other alone"
    assert recipe.dataset("b").steps[0].params == {"x": 1}


def test_text_beside_another_source_is_its_option(tmp_path: Path) -> None:
    for read in ("{jsonl: '*', text: body}", "{text: body, jsonl: '*'}"):
        origin = load_text(tmp_path, one(f"read: {read}")).dataset("a").origin
        assert origin == ReadOrigin("jsonl", ("*",), None, {"text": "body"})


def test_quoted_scalars_are_text(tmp_path: Path) -> None:
    recipe = load_text(tmp_path, "name: '7'\ndatasets:\n  a: {read: {text: \"null\", key: 'true'}}\n")
    assert recipe.name == "7"
    assert recipe.dataset("a").origin == ReadOrigin("text", ("null",), "true", {})
    assert parse_value('"1e3"', "--set x").value == "1e3"
    assert parse_file(b"|-\n  12\n", "r.yaml").value == "12"


def test_domains_are_those_of_the_schema() -> None:
    assert recipe_shape.DOMAINS == DOMAINS


def one(read: str) -> str:
    """A recipe with one dataset, whose body stands on line 3."""
    return f"name: x\ndatasets:\n  a: {{{read}}}\n"


TEXT = 'read: {text: "*.txt"}'

WRONG: list[tuple[str | bytes, int, str, str | None, str]] = [
    # text, line, what (a part), value, remedy (a part)
    ("", 1, "empty", None, "datasets:"),
    ("# nothing but remarks\n", 1, "empty", None, "datasets:"),
    ("- a\n", 1, "no mapping", "['a']", "begin with"),
    ("just words", 1, "no mapping", "just words", "begin with"),
    (b"name: \xff\xfe\n", 1, "not UTF-8", "b'\\xff'", "UTF-8"),
    (b"name: x\n\nseed: \xff\n", 3, "not UTF-8", "b'\\xff'", "UTF-8"),
    ("name: x\n".encode("utf-16"), 1, "not UTF-8", "b'\\xff'", "UTF-8"),
    (b"a: 1\nb: \x07\n", 2, "does not allow", "U+0007", "take it out"),
    ("name: x\n\tseed: 1\n", 2, "not YAML", None, "spaces"),
    ("name: x\ndatasets: [\n", 3, "not YAML", None, "brackets"),
    ("name: x\nname: y\n", 2, "stands on line 1", "name", "keep one"),
    ("name: x\n1: y\n", 2, "not text", "1", "quotes"),
    ("name: x\ntrue: y\n", 2, "not text", "True", "quotes"),
    ("name: x\n? [a]\n: y\n", 2, "not text", "['a']", "quotes"),
    ("name: !!python/object:os.system x\n", 1, "a tag", "tag:yaml.org,2002:python/object:os.system", "out"),
    ("name: x\n---\nname: y\n", 2, "second document", "---", "one"),
    ("name: &n [*n]\n", 1, "no anchor", "*n", "quotes"),
    ("a: &a {x: 1}\nb: {<<: *a}\n", 2, "merge key", "<<", "write the keys out"),
    (one("read: {text: *.txt}"), 3, "not YAML", None, "quotes"),
    ('name: "\\ud800"\n', 1, "surrogate", "U+D800", "take it out"),
    ('name: x\nlabel: "\\x00"\n', 2, "control character", "U+0000", "take it out"),
    ('name: x\nlabel: "\\UFFFFFFFF"\n', 2, "not YAML", None, "escapes"),
    ("name: x\nseed: 18446744073709551616\n", 2, "64 bits", "18446744073709551616", "quotes"),
    ("name: x\nseed: .nan\n", 2, "finite", ".nan", "number"),
    ("name: x\nseed: 1e999\n", 2, "finite", "1e999", "number"),
    ("[" * 40, 1, "nested", "over 32 levels", "flatten"),
    (f"name: x\nsede: 1\n{TEXT}\n", 2, "sede: unknown key", "sede", "did you mean seed (+2 more)"),
    ("datasets: {a: {from: []}}\n", 1, "name is missing", None, "`name:`"),
    ("name: x\n", 1, "datasets is missing", None, "`datasets:`"),
    ("name: x\ndatasets: {}\n", 2, "no dataset", "{}", "add one"),
    ("name: x\ndatasets:\n", 2, "datasets", "null", "mapping"),
    (f"name: 7\nseed: 1\ndatasets: {{a: {{{TEXT}}}}}\n", 1, "name", "7", "quotes"),
    (f"name: a/b\nseed: 1\ndatasets: {{a: {{{TEXT}}}}}\n", 1, "recipe's name", "a/b", "letters"),
    (f"name: x\nseed: '1'\ndatasets: {{a: {{{TEXT}}}}}\n", 2, "seed", "1", "whole number"),
    (f"name: x\nseed: true\ndatasets: {{a: {{{TEXT}}}}}\n", 2, "seed", "true", "whole number"),
    (f"name: x\nseed: -1\ndatasets: {{a: {{{TEXT}}}}}\n", 2, "seed", "-1", ""),
    (f"name: x\nseed: 1.0\ndatasets: {{a: {{{TEXT}}}}}\n", 2, "seed", "1.0", "whole number"),
    (f"name: x\nholdout: {{frac: 1}}\ndatasets: {{a: {{{TEXT}}}}}\n", 2, "holdout.frac", "1", ""),
    (f"name: x\nholdout: {{fraq: 1}}\ndatasets: {{a: {{{TEXT}}}}}\n", 2, "holdout.f", None, "frac"),
    (f"name: x\nholdout: 0.1\ndatasets: {{a: {{{TEXT}}}}}\n", 2, "holdout", "0.1", "mapping"),
    (f"name: x\ndatasets:\n  Web: {{{TEXT}}}\n", 3, "dataset's name", "Web", "a-z"),
    (f"name: x\ndatasets:\n  ../x: {{{TEXT}}}\n", 3, "dataset's name", "../x", "a-z"),
    (f"name: x\ndatasets:\n  holdout: {{{TEXT}}}\n", 3, "uses this name", "holdout", "another"),
    (f"name: x\ndatasets:\n  objects: {{{TEXT}}}\n", 3, "uses this name", "objects", "another"),
    (one(""), 3, "without an origin", None, "read:, from: and render:"),
    (one(f"{TEXT}, from: b"), 3, "one origin", "read, from", "one of"),
    (one(f"{TEXT}, alarm: {{}}"), 3, "datasets.a.alarm: unknown key", "alarm", "one of"),
    (one("read: '*.txt'"), 3, "datasets.a.read", "*.txt", "mapping"),
    (one("read: {wrac: '*.gz'}"), 3, "no source", "wrac", "did you mean warc"),
    (one("read: {}"), 3, "no source", "", "one of"),
    (one("read: {warc: a, wet: b}"), 3, "one source", "warc, wet", "two datasets"),
    (one("read: {warc: }"), 3, "read.warc: no glob", "null", "glob in quotes"),
    (one("read: {warc: [a, 1]}"), 3, "read.warc: no glob", "['a', 1]", "glob in quotes"),
    (one("read: {warc: []}"), 3, "read.warc: no glob", "[]", "glob in quotes"),
    (one("read: {warc: a, key: 1}"), 3, "read.key", "1", "field"),
    (one("read: {warc: a, optional: 1}"), 3, "read.optional", "1", "true or false"),
    (one("read: {warc: a, optional: }"), 3, "read.optional", "null", "true or false"),
    (one("read: {warc: a, optional: [true]}"), 3, "read.optional", "[True]", "true or false"),
    (one("read: {warc: a, depth: [1]}"), 3, "read.depth", "[1]", "text, a number"),
    (one(f"{TEXT}, domain: webb"), 3, "datasets.a.domain", "webb", "did you mean web"),
    (one(f"{TEXT}, license: ''"), 3, "datasets.a.license", "", ""),
    (one(f"{TEXT}, steps: c4"), 3, "datasets.a.steps", "c4", "list"),
    (one(f"{TEXT}, steps: [1]"), 3, "steps[0]", "1", "mapping"),
    (one(f"{TEXT}, steps: [{{a: 1}}]"), 3, "steps[0].a", "1", "mapping"),
    (one(f"{TEXT}, steps: [{{a: , b: }}]"), 3, "names one stage", None, "- stage: {param: value}"),
    (one(f"{TEXT}, steps: [{{}}]"), 3, "names one stage", "{}", "- stage: {param: value}"),
    (one(f"{TEXT}, steps: [../x]"), 3, "stage's name", "../x", "FILE.py:FUNCTION"),
    (one("from: []"), 3, "no dataset", "[]", "at least one"),
    (one("from: a"), 3, "made from each other", "a <- a", "break"),
    (one("from: [1]"), 3, "from[0]", "1", "quotes"),
    (one("from: b, domain: web"), 3, "belongs", "web", "take it out"),
    (one("render: {svg: 0}"), 3, "render.svg", "0", ""),
    (
        f"name: x\ndatasets:\n  web: {{{TEXT}}}\n  b:\n    steps: [c4]\n    from: [web, wbe]\n",
        6,
        "no such dataset",
        "wbe",
        "did you mean web",
    ),
    (
        f"name: x\ndatasets:\n  web: {{{TEXT}}}\n  b:\n    from:\n      - web\n      - web\n",
        7,
        "twice",
        "web",
        "once",
    ),
    (
        f"name: x\ndatasets:\n  web:\n    {TEXT}\n    steps:\n      - c4\n      - c4: {{a: 1}}\n"
        "      - gopher quality\n",
        8,
        "steps[2]",
        "gopher quality",
        "FILE.py:FUNCTION",
    ),
]


@pytest.mark.parametrize(("text", "line", "what", "value", "remedy"), WRONG)
def test_a_wrong_recipe_is_told_where_and_how(
    tmp_path: Path, text: str | bytes, line: int, what: str, value: str | None, remedy: str
) -> None:
    error = fault(tmp_path, text)
    assert error.where == f"{tmp_path}/r.yaml:{line}"
    assert what in error.what
    assert value is None or str(error.value) == value
    assert remedy in error.remedy


def test_the_first_of_several_faults_is_told_and_the_others_counted(tmp_path: Path) -> None:
    text = "name: x\ndatasets:\n  B: {from: [q]}\n  a: {from: [zz]}\n"
    assert fault(tmp_path, text).where.endswith(":3")
    error = fault(tmp_path, text.replace("B:", "b:"))
    assert (error.where, error.value) == (f"{tmp_path}/r.yaml:3", "q")
    assert str(error).endswith("(+1 more)")


def test_bombs_are_refused_at_once(tmp_path: Path) -> None:
    levels = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    error = fault(tmp_path, "a0: &a0 [lol, lol]\n" + levels)
    assert "too many values" in error.what
    chain = "".join(f"b{i}: &b{i} [*b{i - 1}]\n" for i in range(1, 5000))
    assert "nested" in fault(tmp_path, "b0: &b0 [x]\n" + chain).what
    assert "too large" in fault(tmp_path, b"#" * (MAX_BYTES + 1)).what
    names = ", ".join(f"x{i}" for i in range(20_000))
    assert "no such dataset" in fault(tmp_path, f"name: x\ndatasets: {{a: {{from: [{names}]}}}}").what


def test_files_that_are_no_recipes(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"no such recipe.*nowhere"):
        load_recipe(Path("nowhere"))
    with pytest.raises(RecipeError, match=r"cannot be read: 'Is a directory'"):
        load_recipe(tmp_path)
    with pytest.raises(RecipeError, match=r"cannot be read: 'No such file or directory'"):
        load_recipe(tmp_path / "none.yaml")


def test_a_packaged_recipe_goes_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = tmp_path / "packaged"
    packaged.mkdir()
    (packaged / "small.yaml").write_text(one(TEXT))
    monkeypatch.setattr("gristmill.pipeline.recipe.PACKAGED", packaged)
    monkeypatch.chdir(tmp_path)
    assert load_recipe(Path("small")).base_dir == packaged
    (tmp_path / "small").mkdir()
    assert load_recipe(Path("small")).path == packaged / "small.yaml", "a folder is no recipe"
    (tmp_path / "small").rmdir()
    with pytest.raises(RecipeError, match="packaged: small"):
        load_recipe(Path("smal"))
    (tmp_path / "small").write_text(one("read: {html: '*'}"))
    assert load_recipe(Path("small")).dataset("a").origin == ReadOrigin("html", ("*",), None, {})


def test_overrides_change_what_they_name(tmp_path: Path) -> None:
    recipe = load_text(
        tmp_path,
        GOOD,
        "seed=3",
        "holdout.seed=5",
        "datasets.web.read.warc=*.gz",
        "datasets.web.steps.extract_html.keep_links=true",
        "datasets.web.steps.gopher_quality.min_doc_words=20",
        "datasets.web.steps.c4_2.min_words=[1, {a: b}]",
        "datasets.web.steps.2=c5",
        "datasets.train.from=corpus",
    )
    assert recipe.seed == 3
    assert recipe.holdout == Holdout(0.01, 5)
    web = recipe.dataset("web")
    assert web.origin == ReadOrigin("warc", ("*.gz",), "url", {"depth": 3})
    assert web.steps[0].params == {"keep_links": True}
    assert (web.steps[2].name, web.steps[2].params) == ("c5", {})
    assert web.steps[3].params == {"min_doc_words": 20}
    assert web.steps[4].params == {"min_words": [1, {"a": "b"}], "ratio": 0.001}
    assert recipe.dataset("train").origin == FromOrigin(("corpus",))
    assert recipe.digest != load_text(tmp_path, GOOD).digest


def test_an_override_may_bring_what_the_file_leaves_out(tmp_path: Path) -> None:
    recipe = load_text(tmp_path, one(TEXT), "seed=2", "holdout.frac=0.5", "datasets.a.steps=[c4]")
    assert (recipe.seed, recipe.holdout) == (2, Holdout(0.5, 0))
    assert recipe.dataset("a").steps[0].where == "--set datasets.a.steps"


WRONG_OVERRIDES = [
    ("seed", "--set", "KEY=VALUE", "seed", "seed=3"),
    ("=3", "--set", "KEY=VALUE", "=3", "seed=3"),
    ("sede=3", "--set sede", "unknown key", "sede", "did you mean seed"),
    ("seed=x", "--set seed", "seed", "x", "whole number"),
    ("seed=[1", "--set seed", "not YAML", None, "brackets"),
    ("seed.x=1", "--set seed.x", "nothing of this name in seed", "x", ""),
    ("datasets.wbe.domain=web", "--set datasets.wbe.domain", "in datasets", "wbe", "did you mean web"),
    ("datasets..domain=web", "--set datasets..domain", "in datasets", "", "one of"),
    ("datasets.web.steps.9.x=1", "--set datasets.web.steps.9.x", "steps", "9", "one of"),
    (
        "datasets.web.steps.gopher.x=1",
        "--set datasets.web.steps.gopher.x",
        "steps",
        "gopher",
        "gopher_quality",
    ),
    ("datasets.web.steps.c4.a.b=1", "--set datasets.web.steps.c4.a.b", "in c4", "a", ""),
    ("datasets.web.domain=wbe", "--set datasets.web.domain", "domain", "wbe", "did you mean web"),
    ("datasets.train.from.7=web", "--set datasets.train.from.7", "from", "7", "one of 0, 1"),
]


@pytest.mark.parametrize(("override", "where", "what", "value", "remedy"), WRONG_OVERRIDES)
def test_a_wrong_override_is_told(
    tmp_path: Path, override: str, where: str, what: str, value: str | None, remedy: str
) -> None:
    error = fault(tmp_path, GOOD, override)
    assert error.where == where
    assert what in error.what
    assert value is None or str(error.value) == value
    assert remedy in error.remedy
