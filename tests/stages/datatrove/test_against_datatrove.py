"""Verdicts, texts and metadata are those of datatrove's own step over the same documents, hostile ones included."""

import ast
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from gristmill.manifests.schema import content_hashes, document_batch
from gristmill.stages import catalogue
from gristmill.stages.chain import run_chain
from gristmill.stages.datatrove import stage as ours
from gristmill.stages.datatrove.documents import documents_of
from tests.laws.corpora import HOSTILE, prose

filters = pytest.importorskip("datatrove.pipeline.filters")

TEXTS = [
    *HOSTILE,
    *(prose(n, 20 + 31 * n) for n in range(14)),
    *(f"{prose(n, 12)}\nJavaScript is off. {{x}} lorem ipsum" for n in range(2)),
    "\n".join([prose(1, 60)] * 4),
    "\n".join(prose(n, 60).replace("\n", " ") for n in range(4)),
    prose(3, 40) + "...\n- a\n- b\n• c…\n# # # #",
    *("\x1c\x1d one.\x85two!\u2028three?", "<b>the</b> [12] cited. [edit]", "\ufffe\uffff" * 9, "a" * 2000),
]
URLS = ["https://a.bad.example/x", "http://xn--e1afmkfd.xn--p1ai/porn", "not a url", "https://en.example.org/a b"]

CASES: Mapping[str, Mapping[str, Any]] = {
    "C4QualityFilter": {"min_num_sentences": 3},
    "C4ParagraphFilter": {},
    "FineWebQualityFilter": {"stop_chars": [".", "!"]},
    "GopherQualityFilter": {"min_doc_words": 10, "stop_words": ["the", "be"], "min_avg_word_length": 2.5},
    "GopherRepetitionFilter": {"top_n_grams": [[2, 0.3]], "dup_n_grams": [[5, 0.2], [6, 0.1]]},
    "RegexFilter": {"regex_exp": "proof|统计"},
    "URLFilter": {"use_integrated_lists": False, "extra_domains": ["bad.example"], "banned_words": ["porn"]},
}


def batch_of(texts: list[str | None]) -> pa.RecordBatch:
    """Documents; every fifth has no URL, every third a language, and the source's own fields."""
    text, rows = pa.array(texts, pa.large_string()), range(len(texts))
    urls = [None if row % 5 == 4 else URLS[row % 4] for row in rows]
    return document_batch(
        {
            "text": text,
            "id": pa.array([f"{row:032x}" for row in rows]),
            "content_hash": content_hashes(text.fill_null(""), pa.nulls(len(texts), pa.list_(pa.null()))),
            "url": pa.array(urls, pa.string()),
            "lang": pa.array(["en" if row % 3 == 0 else None for row in rows], pa.string()),
            "source": pa.array(["s"] * len(texts)),
            "meta": pa.array([json.dumps({"s": {"n": row, "zero": 0, "none": None, "e": ""}}) for row in rows]),
        }
    )


def theirs(name: str, params: Mapping[str, Any], batch: pa.RecordBatch) -> list[tuple[str, str]]:
    """Of each document what datatrove's own step does with it alone: kept with this text, dropped, or raised."""
    step = getattr(filters, name)(**_tuples(params))
    if name == "URLFilter":
        step.tldextractor = step.tldextractor.__class__(suffix_list_urls=())  # no network in tests
    found: list[tuple[str, str]] = []
    for document in documents_of(batch):
        dropped: list[Any] = []
        step.exclusion_writer = Writer(dropped)
        try:
            kept = list(step.run(iter([document])))
        except Exception as error:
            found.append(("quarantine", type(error).__name__))
            continue
        found.append(("keep", kept[0].text) if kept else ("drop", dropped[0].metadata.get("filter_reason", "")))
    return found


def _tuples(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


class Writer:
    """Takes what a datatrove step excludes."""

    def __init__(self, into: list[Any]) -> None:
        self.into = into

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None: ...

    def write(self, document: Any, rank: int) -> None:
        self.into.append(document)


def mine(name: str, params: Mapping[str, Any], batch: pa.RecordBatch) -> list[tuple[str, str]]:
    """The same of our stage, its words turned back into the filter's."""
    stage: Any = catalogue.load("datatrove", {name: params}, Path())
    result = run_chain([stage], batch)
    found: dict[int, tuple[str, str]] = {}
    for row, text in zip(result.kept_rows.tolist(), result.kept.column("text").to_pylist(), strict=True):
        found[row] = ("keep", text or "")
    for fate in result.fates:
        if fate.verdict == "quarantine":
            found[fate.row] = ("quarantine", fate.detail.partition(":")[0])
        else:
            found[fate.row] = ("drop", fate.detail or ("" if fate.reason == ours.OTHER else fate.reason))
    return [found[row] for row in range(batch.num_rows)]


@pytest.mark.parametrize("name", CASES)
def test_verdicts_are_datatroves(name: str) -> None:
    batch = batch_of([*TEXTS, None])
    expected = theirs(name, CASES[name], batch)
    assert mine(name, CASES[name], batch) == expected
    assert {"keep", "drop"} <= {verdict for verdict, _ in expected}


def test_every_filter_that_needs_no_download_is_compared() -> None:
    downloads = {"C4BadWordsFilter", "LanguageFilter", "UnigramLogProbFilter", "FastTextClassifierFilter"}
    refused = {"LambdaFilter", "SamplerFilter"}
    known = {n for n, v in vars(filters).items() if inspect.isclass(v)}
    assert known == set(CASES) | downloads | refused


def test_the_vocabulary_is_that_of_datatroves_source() -> None:
    """Every reason that stands in a `return False, "..."` of a filter is a word of ours, and none besides."""
    for name, known in ours.REASONS.items():
        tree = ast.parse(inspect.getsource(inspect.getmodule(getattr(filters, name))))  # type: ignore[arg-type]
        (found,) = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name]
        pairs = [n.value for n in ast.walk(found) if isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple)]
        literal = {p.elts[1].value for p in pairs if isinstance(p.elts[1], ast.Constant)}
        formatted = {"< {self.min_paragraphs} paragraphs": "< 3 paragraphs"}
        told = {ast.unparse(p.elts[1])[2:-1] for p in pairs if isinstance(p.elts[1], ast.JoinedStr)}
        assert literal | {formatted[t] for t in told if t in formatted} == set(known), name


def test_words_of_the_n_grams_follow_the_parameters() -> None:
    stage: Any = catalogue.load("datatrove", {"GopherRepetitionFilter": {"top_n_grams": [[7, 0.1]]}}, Path())
    words = [reason.reason for reason in stage.reasons()]
    assert "top_7_gram" in words and "top_2_gram" not in words and "duplicated_10_n_grams" in words
