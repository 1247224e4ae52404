"""The catalogue: every stage loads, parameters are checked, and a fingerprint says what decides the output."""

import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gristmill.manifests.canonical import canonical_json
from gristmill.manifests.errors import UsageError
from gristmill.stages import catalogue
from gristmill.stages.protocol import Corpus, Expander, Filter, Mapper
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.language import Language
from tests.laws.samples import SAMPLE_PARAMS, sample_stage

USER_FILE = '''
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from gristmill.stages import doc_filter
from gristmill.stages.params import param
from gristmill.stages.protocol import Rule

@doc_filter(drop_above={"n": 3})
def long(text):
    """Long ones."""
    return {"n": len(text)}

@dataclass(frozen=True)
class Rows:
    """Counts rows."""

    name: ClassVar[str] = "rows"
    version: ClassVar[int] = 4
    must: int
    mode: Literal["a", "b"] = "a"
    share: float = param(0.5, "of all")
    words: tuple[str, ...] = ()
    pair: tuple[int, int] | None = None

    def rules(self):
        return (Rule("one", "above", self.share, "too_many"),)

    def measure(self, batch):
        return {"one": np.ones(batch.num_rows)}

nothing = 3
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(USER_FILE)
    return tmp_path


@pytest.mark.parametrize("name", list(catalogue.BUILTIN))
def test_every_built_in_stage_loads_and_says_what_it_is(name: str) -> None:
    stage = sample_stage(name)
    assert stage.name == name
    assert isinstance(stage, Filter | Mapper | Expander | Corpus)
    told = catalogue.describe(name)
    assert told["doc"].endswith(".")
    assert told["kind"] in ("filter", "mapper", "expander", "exchange")
    assert told["shape"] == told["kind"] or (told["kind"] == "exchange" and told["shape"] in catalogue.CORPUS_WIDE)
    assert all(param["doc"] for param in told["params"])
    assert told["rules"] or told["reasons"] or name in SAMPLE_PARAMS
    assert all(rule["source"] for rule in told["rules"])
    reasons = [r["reason"] for r in [*told["rules"], *told["reasons"]]]
    assert all(reason == reason.lower().strip() for reason in reasons)


def test_shapes_of_stages_that_look_at_whole_datasets() -> None:
    names = ("exact_dedup", "line_dedup", "substring_dedup", "minhash_dedup", "repo_dedup", "c4", "fineweb")
    shapes = [catalogue.shape_of(sample_stage(name)) for name in names]
    assert shapes == ["exchange", "exchange", "rounds", "similar", "census", "mapper", "filter"]


def test_the_samples_are_all_of_them() -> None:
    assert list(catalogue.sample_stages(SAMPLE_PARAMS)) == list(catalogue.BUILTIN)
    assert set(catalogue.BUILTIN) - set(catalogue.sample_stages()) <= set(SAMPLE_PARAMS)
    listed = [told["name"] for told in catalogue.list_stages()]
    assert listed == catalogue.names() == sorted({*catalogue.BUILTIN, *catalogue.plugins()})
    assert json.loads(json.dumps(catalogue.list_stages())) == catalogue.list_stages()


def test_parameters_reach_the_stage() -> None:
    stage = catalogue.load("language", {"keep": ["en", "fr"], "min_score": 0}, Path())
    assert stage == Language(keep=("en", "fr"), min_score=0.0)
    assert catalogue.load("gopher_quality", {"min_stop_words": None}, Path()) == GopherQuality(min_stop_words=None)


@pytest.mark.parametrize(
    ("name", "params", "told"),
    [
        ("gopher_qualty", {}, "unknown stage.*did you mean gopher_quality"),
        ("", {}, "unknown stage.*stage list"),
        ("language", {"kep": ["en"]}, r"stage language\.kep: unknown parameter.*did you mean keep"),
        ("exact_dedup", {"x": 1}, r"stage exact_dedup\.x: unknown parameter.*it takes normalise, keep"),
        ("language", {"keep": "en"}, r"stage language\.keep: wrong value.*'en'.*labels to keep"),
        ("language", {"keep": [1]}, r"stage language\.keep: wrong value"),
        ("language", {"min_score": "0.5"}, r"stage language\.min_score: wrong value"),
        ("language", {"min_score": True}, r"stage language\.min_score: wrong value"),
        ("language", {"prefix_chars": 10.5}, r"stage language\.prefix_chars: wrong value"),
        ("language", {"min_score": 2.0}, "not a probability"),
        ("gopher_quality", {"min_doc_words": 1.5}, "wrong value"),
        ("./mine.py:Rows", {}, r"stage ./mine.py:Rows\.must: missing parameter"),
        ("./mine.py:Rows", {"must": 1, "mode": "c"}, "wrong value"),
        ("./mine.py:Rows", {"must": 1, "pair": [1]}, "wrong value"),
        ("./mine.py:nothing", {}, "not a stage"),
        ("./mine.py:Path", {}, "no such stage in the file"),
        ("./mine.py:long", {"m": 1}, "no such measure.*it has n"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, name: str, params: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        catalogue.load(name, params, folder)


def test_users_stages(folder: Path) -> None:
    stage = catalogue.load("./mine.py:Rows", {"must": 1, "pair": [1, 2], "words": ["a"], "share": 1}, folder)
    params = {"must": 1, "mode": "a", "share": 1.0, "words": ["a"], "pair": [1, 2]}
    assert catalogue.canonical_params(stage) == params
    assert catalogue.kind_of(stage) == "filter"
    limited = catalogue.load("./mine.py:long", {"n": 9}, folder)
    assert catalogue.canonical_params(limited) == {"drop_above": {"n": 9.0}, "drop_below": {}}
    assert catalogue.load("./mine.py:long", catalogue.canonical_params(limited), folder) == limited
    assert catalogue.describe("./mine.py:Rows", folder)["params"][0] == {
        "name": "must",
        "type": "int",
        "default": None,
        "required": True,
        "doc": "",
    }
    told = catalogue.describe("./mine.py:long", folder)
    assert (told["kind"], told["doc"], told["params"][0]["default"]) == ("filter", "Long ones.", 3.0)


def test_a_fingerprint_is_all_that_decides(folder: Path) -> None:
    def of(name: str, **params: object) -> bytes:
        return canonical_json(catalogue.stage_fingerprint(catalogue.load(name, params, folder)))

    assert of("language") == of("language", min_score=0.5, keep=[])
    assert of("gopher_quality", min_avg_word_length=3) == of("gopher_quality", min_avg_word_length=3.0)
    assert of("language") != of("language", min_score=0.6)
    before = {name: of(name, **more) for name, more in (("./mine.py:long", {}), ("./mine.py:Rows", {"must": 1}))}
    (folder / "mine.py").write_text(USER_FILE + "\n# another helper\n")
    for name, more in (("./mine.py:long", {}), ("./mine.py:Rows", {"must": 1})):
        assert of(name, **more) != before[name]


def test_numbers_are_stored_as_their_type() -> None:
    """3 and 3.0 for a float are one value, in the manifest too."""
    stage = catalogue.load("gopher_quality", {"min_avg_word_length": 3}, Path())
    assert isinstance(catalogue.canonical_params(stage)["min_avg_word_length"], float)
    assert isinstance(catalogue.canonical_params(GopherQuality())["min_avg_word_length"], float)


def _plug_in(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    point = EntryPoint(name, "gristmill.stages.text.language:Language", catalogue.ENTRY_POINT_GROUP)
    monkeypatch.setattr(catalogue, "entry_points", lambda group: [point] if group == point.group else [])
    catalogue.plugins.cache_clear()


def test_a_plug_in_is_a_stage_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    _plug_in(monkeypatch, "tongue")
    try:
        assert "tongue" in catalogue.names()
        assert catalogue.load("tongue", {"keep": ["en"]}, Path()) == Language(keep=("en",))
    finally:
        catalogue.plugins.cache_clear()


def test_a_plug_in_does_not_take_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    _plug_in(monkeypatch, "language")
    try:
        with pytest.raises(UsageError, match=r"takes the name.*'language'"):
            catalogue.names()
    finally:
        catalogue.plugins.cache_clear()


def test_prepare_calls_what_has_it() -> None:
    calls: list[int] = []

    class Prepared:
        def prepare(self) -> None:
            calls.append(1)

    catalogue.prepare([Prepared(), object(), Prepared()])
    assert calls == [1, 1]
