"""Faults that hostile texts, parameters, lists and models found in the row-local stages, each by its smallest input."""

import gzip
import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from blake3 import blake3

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.schema import DOCUMENT, MEDIUM_CHAR, content_hashes, document_batch
from gristmill.stages import catalogue
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Filter, Mapper, RowStage
from gristmill.stages.quality.model import open_model
from gristmill.stages.quality.model_file import read_model
from gristmill.stages.text.characters import MAX_SORTED_MARKS, in_nfc
from gristmill.stages.text.url_lists import address
from tests.laws.samples import TINY_MODEL

MARKS = "\u0301\u0323"
KEY = "MIIEpAIBAAKCAQEA7bq4Zx9Q8Lk3WvYpTzHnRcUeFgMiJoKdSsAaBbCcDdEeFfGg"


def _stage(name: str, **params: object) -> RowStage:
    made = catalogue.load(name, params, Path())
    assert isinstance(made, Filter | Mapper)
    return made


def _batch(text: str, meta: str | None = None) -> pa.RecordBatch:
    column = pa.array([text], pa.large_string())
    media = pa.array([[{"kind": "image", "uri": "u"}] * text.count(MEDIUM_CHAR)], DOCUMENT.field("media").type)
    columns = {"text": column, "media": media, "content_hash": content_hashes(column, media)}
    return document_batch({**columns, "meta": pa.array([meta], pa.large_string())})


def _balanced(stage: RowStage, batch: pa.RecordBatch) -> dict[str, Any]:
    """The one row kept; its characters balance."""
    result = run_chain([stage], batch)
    step = result.steps[0]
    cut = sum(int(np.asarray(chars)[0]) for chars in step.cut_chars.values())
    assert step.chars_in[0] == step.chars_out[0] + cut
    return result.kept.to_pylist()[0]


@pytest.mark.parametrize(
    ("name", "text", "after"),
    [
        ("pii", f"to a@b{MEDIUM_CHAR}c.org now", f"to <EMAIL>{MEDIUM_CHAR} now"),
        (
            "secrets",
            f"-----BEGIN PRIVATE KEY-----\n{KEY}{MEDIUM_CHAR}\n{MEDIUM_CHAR}\n-----END PRIVATE KEY-----",
            f"<SECRET_PRIVATE_KEY>{MEDIUM_CHAR}{MEDIUM_CHAR}",
        ),
    ],
)
def test_the_mark_of_a_medium_inside_what_is_replaced_stays(name: str, text: str, after: str) -> None:
    row = _balanced(_stage(name), _batch(text))
    assert row["text"] == after
    assert row["text"].count(MEDIUM_CHAR) == len(row["media"])
    assert _balanced(_stage(name), _batch(after))["text"] == after


@pytest.mark.parametrize(
    "meta",
    [
        '{"tree": {"files": [{"path": "a", "start": 0, "end": 18446744073709551615}]}}',
        '{"tree": {"files": [{"path": "a", "start": -1, "end": 9}]}}',
        '{"deep": %s, "tree": {"files": [{"path": "a", "start": 0, "end": 9}]}}' % ("[" * 300 + "]" * 300),
    ],
)
def test_places_of_files_that_cannot_be_stay_as_they_are(meta: str) -> None:
    row = _balanced(_stage("pii"), _batch("at 8.8.8.8", meta))
    assert (row["text"], row["meta"]) == ("at <IP_ADDRESS>", meta)


@pytest.mark.parametrize("marks", [MARKS, "\u0f73", "\uff9e\u0301"])
def test_runs_of_marks_take_no_quadratic_time(marks: str) -> None:
    """A megabyte of two marks in turn took ten minutes."""
    text = "cafe\u0301 " + "e" + marks * 60_000 + "e\u0301"
    began = time.perf_counter()
    row = _balanced(_stage("encoding_repair", nfc=True), _batch(text))
    assert time.perf_counter() - began < 5
    assert row["text"] == "caf\u00e9 " + "e" + marks * 60_000 + "\u00e9"
    assert in_nfc(row["text"]) == row["text"]


def test_runs_of_marks_that_occur_are_sorted() -> None:
    longest = "a" + MARKS * (MAX_SORTED_MARKS // 2)
    assert in_nfc(longest) != longest
    assert in_nfc(longest + "\u0323") == longest + "\u0323"


def test_a_url_of_marks_takes_no_quadratic_time() -> None:
    began = time.perf_counter()
    assert address("http://h/" + MARKS * 32_000) is not None
    assert address("http://" + MARKS * 32_000) is not None
    assert time.perf_counter() - began < 5


def test_a_million_zero_width_spaces_take_little_time() -> None:
    began = time.perf_counter()
    assert _balanced(_stage("encoding_repair"), _batch("a" + "\u200b" * 1_000_000 + "b"))["text"] == "ab"
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("c4", {"min_words_per_line": 1 << 63}),
        ("fineweb", {"short_line_length": 1 << 63}),
        ("refinedweb_lines", {"max_navigation_words": 1 << 64}),
        ("language", {"prefix_chars": 1 << 63}),
        ("language", {"prefix_chars": 20, "windows": 21}),
        ("secrets", {"max_secrets": 10**400}),
        ("gopher_quality", {"min_doc_words": 10**400}),
        ("gopher_quality", {"min_avg_word_length": float("inf")}),
        ("knowledge_rules", {"max_toc_frac": float("nan")}),
        ("knowledge_rules", {"max_toc_frac": 1.5}),
        ("knowledge_rules", {"min_chars_left": -1}),
        ("math_rules", {"min_marks_per_1000_chars": float("nan")}),
        ("math_rules", {"min_marks": -1}),
        ("code_rules", {"limits": {"code_too_short": float("inf")}}),
        ("code_rules", {"limits": {"code_too_short": -1.0}}),
        ("code_rules", {"limits": {"code_few_letters": 1.5}}),
        ("code_rules", {"min_comment_frac": 2.0}),
        ("extract_html", {"max_seconds": 1e308}),
        ("extract_html", {"max_seconds": float("nan")}),
        ("quality", {"model": str(TINY_MODEL), "score": "\ud800"}),
        ("quality", {"model": str(TINY_MODEL), "alpha": float("inf")}),
    ],
)
def test_extreme_parameters_are_told_by_name(name: str, params: dict[str, object]) -> None:
    with pytest.raises(UsageError) as told:
        catalogue.load(name, params, Path())
    assert told.value.where.startswith(f"stage {name}.{list(params)[-1]}")
    assert told.value.value is not None
    str(told.value).encode("utf-8")


def test_the_wrong_ratio_is_the_one_that_is_shown() -> None:
    with pytest.raises(UsageError, match=r"min_comment_frac: .* '2.0'"):
        _stage("code_rules", min_comment_frac=2.0)


@pytest.mark.parametrize(
    ("name", "parameter"), [("url_lists", "block_domains"), ("c4", "bad_words"), ("code_rules", "known_copies")]
)
@pytest.mark.parametrize("content", [b"\xff\xfe\xff", gzip.compress(b"words\n" * 99)[:20] + b"\xff" * 20, None])
def test_lists_that_cannot_be_read_are_input_errors(
    name: str, parameter: str, content: bytes | None, tmp_path: Path
) -> None:
    """None: the list is gone when the worker wants it."""
    path = tmp_path / "list"
    path.write_bytes(content or b"")
    stage = _stage(name, **{parameter: str(path) if name == "code_rules" else [str(path)]})
    if content is None:
        path.unlink()
    with pytest.raises(InputError, match="a list cannot be read"):
        run_chain([stage], _batch("{} words"))


def test_a_changed_list_of_copies_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "copies"
    text = "def f():\n    return 1\n" * 9
    path.write_text("0" * 64)
    stage = _stage("code_rules", known_copies=str(path))
    assert isinstance(stage, Filter)
    assert stage.measure(_batch(text))["known_copy"][0] == 0
    path.write_text(blake3(text.encode()).hexdigest(16))
    assert stage.measure(_batch(text))["known_copy"][0] == 1


def test_a_name_that_is_too_long_for_a_file_is_no_bug() -> None:
    with pytest.raises(InputError, match="no such file"):
        _stage("url_lists", block_domains=["x" * 5000])


def _forged(**changed: object) -> bytes:
    """The tiny model with another description."""
    with zipfile.ZipFile(TINY_MODEL) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    description = {**json.loads(members["model.json"]), **changed}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, json.dumps(description) if name == "model.json" else content)
    return out.getvalue()


@pytest.mark.parametrize(
    "changed",
    [
        {"threshold": float("nan")},
        {"threshold": 2},
        {"threshold": True},
        {"threshold": None},
        {"calibration": {}},
        {"calibration": {"method": "platt", "a": float("inf"), "b": 0}},
        {"calibration": {"method": "platt", "a": -1, "b": 0}},
        {"calibration": {"method": "platt", "a": 10**400, "b": 0}},
        {"calibration": {"method": "isotonic", "x": [], "y": []}},
        {"calibration": {"method": "isotonic", "x": [1, 0], "y": [0, 1]}},
        {"calibration": {"method": "isotonic", "x": [0, 1], "y": [1, 0]}},
        {"calibration": {"method": "isotonic", "x": [0, 1], "y": [0, 9]}},
        {"windows": {"window_bytes": 0, "max_windows": 8}},
        {"windows": {"window_bytes": 4096}},
        {"windows": None},
        {"kind": ["fasttext"]},
        {"kind": "onnx"},
        {"kind": "python", "settings": {}},
        {"settings": None},
        {"settings": {"label": "__label__positive"}},
        {"settings": {"label": "__label__other", "features": 1}},
        {"members": None},
    ],
)
def test_a_forged_model_is_an_input_error(changed: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "m.gmq"
    path.write_bytes(_forged(**changed))
    with pytest.raises(InputError):
        open_model(str(path)).scores(pa.array(["words of a text"], pa.large_string()))


def test_a_model_nested_too_deeply_or_with_members_that_overlap(tmp_path: Path) -> None:
    path = tmp_path / "m.gmq"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", "[" * 100_000)
    with pytest.raises(InputError):
        read_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.ftz", b"x" * 9000)
        archive.filelist += archive.filelist * 5
    with pytest.raises(InputError, match="overlap"):
        read_model(path)
