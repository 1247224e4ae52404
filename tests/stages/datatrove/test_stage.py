"""The stage around a filter of datatrove: parameters, errors, what the filter writes, raises and lacks."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests.canonical import canonical_json
from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages import catalogue
from gristmill.stages.chain import ChainResult, run_chain
from gristmill.stages.datatrove import classes

filters = pytest.importorskip("datatrove.pipeline.filters")
base = pytest.importorskip("datatrove.pipeline.filters.base_filter")


def load(params: dict[str, object], folder: Path = Path()) -> Any:
    return catalogue.load("datatrove", params, folder)


def run(stage: Any, texts: list[str | None], **columns: list[str | None]) -> ChainResult:
    given = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    return run_chain([stage], document_batch({"text": pa.array(texts, pa.large_string()), **given}))


class Odd(base.BaseFilter):
    """Does what each text asks for."""

    name = "odd"

    def filter(self, doc: Any) -> Any:
        word, _, rest = doc.text.partition(" ")
        match word:
            case "raise":
                raise ValueError(f"no at 0x{id(doc):x}\n{rest}")
            case "exit":
                raise SystemExit(3)
            case "reason":
                return False, rest
            case "pair":
                return True, "of no account"
            case "none":
                return None
            case "empty":
                doc.text = ""
            case "write":
                doc.text = rest * 2
            case "number":
                doc.text = 3
            case "lone":
                doc.text = "\ud800"
            case "mark":
                doc.text = "\ufffc"
            case "id":
                doc.id = "else"
            case "meta":
                doc.metadata |= {"language": "fr", "score": np.float32(0.5), "n": 0, "list": (1, "")}
            case "odd_meta":
                doc.metadata["x"] = object()
            case "print":
                print("out of order")
            case "missing":
                raise FileNotFoundError("model.bin")
            case _:
                pass
        return np.True_


class Batched(base.BaseFilter):
    """Drops what is shorter than the longest of its batch; raises on "bad"."""

    name = "batched"
    seen: ClassVar[list[int]] = []

    def __init__(self, batch_size: int = 3, exclusion_writer: Any = None) -> None:
        super().__init__(exclusion_writer, batch_size)

    def filter(self, doc: Any) -> bool:
        raise NotImplementedError

    def filter_batch(self, batch: list[Any]) -> list[Any]:
        self.seen.append(len(batch))
        if any(doc.text == "bad" for doc in batch):
            raise RuntimeError("a bad one")
        return [(False, "short") if len(doc.text) < 3 else True for doc in batch]


@pytest.fixture(autouse=True)
def odd(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two more filters in datatrove's module."""
    monkeypatch.setattr(filters, "Odd", Odd, raising=False)
    monkeypatch.setattr(filters, "Batched", Batched, raising=False)
    Batched.seen.clear()
    yield
    classes._make.cache_clear()  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"GopherQualityFiltre": {}}, "no such filter.*did you mean GopherQualityFilter"),
        ({"BaseFilter": {}}, "no such filter"),
        ({"os.system": {}}, "no such filter"),
        ({"DiskWriter": {}}, "no such filter"),
        ({"LambdaFilter": {}}, "LambdaFilter: takes a function.*@doc_filter"),
        ({"SamplerFilter": {"rate": 0.5}}, "draws from the stream.*content_hash"),
        ({"C4BadWordsFilter": {"keep_fraction": 0.1}}, "keep_fraction draws.*c4"),
        (
            {"GopherQualityFilter": {"min_doc_wrods": 2}},
            "GopherQualityFilter: unknown parameter.*did you mean min_doc_words",
        ),
        ({"GopherQualityFilter": {"min_doc_words": "2"}}, "min_doc_words: wrong type.*int"),
        ({"GopherQualityFilter": {"min_doc_words": True}}, "wrong type"),
        ({"GopherQualityFilter": {"stop_words": ["a", 1]}}, r"wrong type.*list\[str\]"),
        ({"GopherRepetitionFilter": {"top_n_grams": [[2]]}}, "wrong type"),
        ({"GopherQualityFilter": {"exclusion_writer": "x"}}, "a recipe has none.*ledger"),
        ({"RegexFilter": {}}, "missing parameter 'regex_exp'"),
        ({"RegexFilter": {"regex_exp": "("}}, "datatrove refuses these parameters"),
        ({"RegexFilter": ["a"]}, "parameters are a mapping"),
        ({}, "stage datatrove.filter: missing parameter"),
        ({"RegexFilter": {}, "URLFilter": {}}, "one filter a step.*RegexFilter, URLFilter"),
        ({"FastTextClassifierFilter": {"model_url": "https://x.example/m.bin"}}, "not a file.*fetch it"),
        ({"filter": "FastTextClassifierFilter", "params": {"model_url": "m.bin"}}, "no file.*model: FILE"),
        ({"filter": "RegexFilter", "parms": {}}, "datatrove.parms: unknown parameter.*params"),
    ],
)
def test_what_is_wrong_is_said(params: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        load(params)


def test_both_spellings_are_one() -> None:
    short = load({"GopherQualityFilter": {"min_doc_words": 20}})
    assert short == load({"filter": "GopherQualityFilter", "params": {"min_doc_words": 20}})
    assert load(catalogue.canonical_params(short)) == short
    assert load({"C4ParagraphFilter": None}) == load({"filter": "C4ParagraphFilter"})


def test_a_fingerprint_is_all_that_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def of(params: dict[str, object]) -> bytes:
        return canonical_json(catalogue.stage_fingerprint(load(params, tmp_path)))

    plain = of({"C4QualityFilter": {}})
    assert plain != of({"C4ParagraphFilter": {}})
    assert plain != of({"C4QualityFilter": {"min_num_sentences": 3}})
    (tmp_path / "m.bin").write_bytes(b"one")
    model = of({"FastTextClassifierFilter": {"model_url": "m.bin"}})
    assert str(tmp_path).encode() not in model
    (tmp_path / "m.bin").write_bytes(b"other")
    assert of({"FastTextClassifierFilter": {"model_url": "m.bin"}}) != model
    monkeypatch.setattr(classes.importlib.metadata, "version", lambda _: "99")
    assert of({"C4QualityFilter": {}}) != plain


def test_without_datatrove_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "datatrove.pipeline", None)
    with pytest.raises(UsageError, match=r"not installed.*pip install 'gristmill\[datatrove\]'"):
        load({"C4ParagraphFilter": {}})


def test_what_a_filter_says_is_in_the_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    long = "\x00 no\n" + "x" * 999
    texts: list[str | None] = [f"reason {long}", "reason", "none", "raise why", "exit", "pair", "print", None, ""]
    result = run(load({"Odd": {}}), texts)
    told = {fate.row: (fate.verdict, fate.reason, fate.detail) for fate in result.fates}
    assert told[0][:2] == ("drop", "datatrove") and told[0][2].startswith("\x00 no x") and len(told[0][2]) == 300
    assert told[1] == told[2] == ("drop", "datatrove", "")
    assert told[3] == ("quarantine", "datatrove_error", "ValueError: no at 0x? why")
    assert told[4] == ("quarantine", "datatrove_error", "SystemExit: 3")
    assert result.kept.column("text").to_pylist() == ["pair", "print", None, ""]
    assert capsys.readouterr().out == ""


def test_a_changed_text_is_accounted_for() -> None:
    result = run(load({"Odd": {}}), ["empty this", "write ab", "keep"])
    assert result.kept.column("text").to_pylist() == ["", "abab", "keep"]
    assert result.steps[0].cut_chars["datatrove_text"].tolist() == [10, 4, 0]
    assert result.kept.column("content_hash")[0].as_py() is not None


@pytest.mark.parametrize("word", ["number", "lone", "mark", "id", "odd_meta"])
def test_what_no_filter_may_do_costs_the_record(word: str) -> None:
    result = run(load({"Odd": {}}), ["before", f"{word} x", "behind"])
    assert [(f.row, f.reason) for f in result.fates] == [(1, "datatrove_error")]
    assert result.kept.column("text").to_pylist() == ["before", "behind"]


def test_metadata_goes_to_meta_and_the_language_to_its_column() -> None:
    metas: list[str | None] = ['{"s":{"n":12345678901234567890,"x":0}}', None, "[1]", '{"datatrove":{"old":1}}', "{}"]
    result = run(load({"Odd": {}}), ["meta"] * 5, meta=metas)
    assert [(f.row, f.reason) for f in result.fates] == [(2, "datatrove_error")]
    assert result.kept.column("lang").to_pylist() == ["fr"] * 4
    found = [json.loads(meta) for meta in result.kept.column("meta").to_pylist()]
    wrote = {"language": "fr", "score": 0.5, "n": 0, "list": [1, ""]}
    assert found == [
        {"s": {"n": 12345678901234567890, "x": 0}, "datatrove": wrote},
        {"datatrove": wrote},
        {"datatrove": {"old": 1, **wrote}},
        {"datatrove": wrote},
    ]


def test_what_one_filter_wrote_the_next_one_sees() -> None:
    marks = run(load({"Odd": {}}), ["meta"])
    again = run_chain([load({"Odd": {}})], marks.kept)
    assert again.kept.column("meta").equals(marks.kept.column("meta"))


def test_a_filter_of_batches_gets_batches_and_one_bad_record_costs_itself() -> None:
    result = run(load({"Batched": {"batch_size": 3}}), ["long", "ab", "more", "long", "bad", "a", "last"])
    assert Batched.seen == [3, 3, 1, 1, 1, 1]
    told = [(f.row, f.verdict, f.detail) for f in sorted(result.fates)]
    assert told == [(1, "drop", "short"), (4, "quarantine", "RuntimeError: a bad one"), (5, "drop", "short")]


def test_what_a_filter_lacks_stops_the_run() -> None:
    with pytest.raises(InputError, match=r"stage datatrove\.Odd: the filter lacks a file.*model\.bin"):
        run(load({"Odd": {}}), ["missing"])
    wrong: Any = load({"GopherQualityFilter": {"language": "xx"}})
    with pytest.raises(UsageError, match=r"fails on an ordinary document.*'xx'"):
        wrong.prepare()
