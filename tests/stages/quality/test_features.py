"""Windows cover a text evenly and cut no character; normalised lines hold nothing that fastText reads as its own."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.stages.quality.features import LINE_TOKEN, Windows, normalised

FASTTEXT_SPACES = "\n\r\t\v\f\0"


def _of(windows: Windows, *texts: str | None) -> tuple[list[str], list[int]]:
    pieces, rows = windows.of(pa.array(texts, pa.large_string()))
    return pieces, rows.tolist()


def test_a_short_text_is_covered_whole() -> None:
    assert Windows(4, 3).bounds(12) == [(0, 4), (4, 8), (8, 12)]
    assert Windows(4, 3).bounds(4) == [(0, 4)]
    assert Windows(4, 3).bounds(5) == [(0, 2), (2, 5)]


def test_a_long_text_is_seen_from_its_start_to_its_end() -> None:
    assert Windows(4, 3).bounds(13) == [(0, 4), (4, 8), (9, 13)]
    assert Windows(4, 3).bounds(1000) == [(0, 4), (498, 502), (996, 1000)]
    assert Windows(4, 1).bounds(9) == [(0, 4)]


def test_nothing_has_no_window() -> None:
    assert _of(Windows(4, 3), "", None, "ab", "") == (["ab"], [2])


def test_a_slice_of_a_column_gives_its_own_rows() -> None:
    column = pa.array(["aaaa", "bbbb", "cccc"], pa.large_string()).slice(1, 1)
    assert Windows(2, 9).of(column)[0] == ["bb", "bb"]


@given(st.text(max_size=200), st.integers(1, 20), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_windows_of_any_text_are_parts_of_it(text: str, window_bytes: int, max_windows: int) -> None:
    pieces, _ = _of(Windows(window_bytes, max_windows), text)
    assert len(pieces) <= max_windows
    assert all(piece in text for piece in pieces)
    if len(text.encode()) <= window_bytes * max_windows:
        assert "".join(pieces) == text
    else:
        assert "\ufffd" not in "".join(pieces) or "\ufffd" in text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Hello, World! 123.45", "hello , world ! 0 . 0"),
        ("a\n\n  b\r\nc", f"a {LINE_TOKEN} b {LINE_TOKEN} c"),
        ("__label__good </s>", "__ label __ good </ s >"),
        ("统计 ไทย", "统 计 ไ ท ย"),
        ("x\u00a0y\u2003z\ufffc!", "x y z !"),
        ("===== );", "===== );"),
        ("", ""),
        (" \n\t\n ", ""),
    ],
)
def test_what_a_line_looks_like(text: str, line: str) -> None:
    assert normalised([text]) == [line]


@given(st.lists(st.text(max_size=60), max_size=5))
@settings(max_examples=200, deadline=None)
def test_no_text_makes_a_label_or_an_end(texts: list[str]) -> None:
    lines = normalised(texts)
    assert len(lines) == len(texts)
    for line in lines:
        words = line.split(" ")
        assert not any(word.startswith("__label__") or word == "</s>" for word in words)
        assert not set(line) & set(FASTTEXT_SPACES)
        assert normalised([line.replace(LINE_TOKEN, "\n")]) == [line] or "\u0130" in "".join(texts)
