"""What the model is shown, which scripts labels have, and how a text falls into paragraphs."""

import time

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.stages.text import language_paragraphs
from gristmill.stages.text.language_paragraphs import (
    MIN_LETTERS,
    Paragraph,
    paragraphs_of,
    same_language,
    shares_of,
    without_others,
)
from gristmill.stages.text.language_scripts import mostly_foreign, script_share, scripts_of
from gristmill.stages.text.language_sight import letters_of, prose, sights, without_ascii
from gristmill.stages.text.lid_model import LABELS

ENGLISH = "The miller grinds corn in his old mill by the river every day."
FRENCH = "Le meunier moud le grain dans son vieux moulin au bord de la rivière."


def _raw(text: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text, dtype=np.uint8)


def _sights(text: str, chars: int, windows: int) -> str:
    return sights(pa.array([text], pa.large_string()), chars, windows)[0]


@pytest.mark.parametrize(("windows", "seen"), [(1, "aaaaaa"), (2, "aaa ccc"), (3, "aa bb cc"), (6, "a a b b c c")])
def test_windows(windows: int, seen: str) -> None:
    assert _sights("a" * 50 + "b" * 50 + "c" * 50, 6, windows) == seen


def test_a_short_text_is_seen_whole_and_on_one_line() -> None:
    assert _sights("a\nb</s>c", 20, 3) == _sights("a\nb</s>c", 20, 1) == "a b c"


@given(st.text(max_size=60), st.integers(1, 20), st.integers(1, 5))
@settings(max_examples=200)
def test_sights_hold_whole_characters_of_the_text(text: str, chars: int, windows: int) -> None:
    seen = _sights(text, chars, windows)
    assert len(seen) <= max(chars, windows) + windows
    assert set(seen) <= set(text) | {" "}
    assert "\n" not in seen


def test_prose_is_what_is_no_code() -> None:
    (seen,) = prose(["Call json.dumps(obj, indent=4) or self.assertTrue, as in “x_1”; 统计v2语言 don't e.g. (so) 3.14"])
    assert seen.split() == ["Call", "or", "as", "in", "“", "”;", "统计", "语言", "don't", "so"]


def test_without_ascii_leaves_other_letters() -> None:
    assert without_ascii("Home 统计é Ж1") == "     统计é Ж1"


@pytest.mark.parametrize(
    ("label", "scripts"),
    [
        ("en", {"latin"}),
        ("ja", {"han", "kana"}),
        ("sr", {"cyrillic", "latin"}),
        ("ru", {"cyrillic"}),
        ("ka", {"other"}),
    ],
)
def test_scripts_of_labels(label: str, scripts: set[str]) -> None:
    assert scripts_of(label) == scripts


def test_every_label_has_a_script() -> None:
    assert all(scripts_of(label) for label in LABELS)


def test_shares_weigh_letters() -> None:
    letters = letters_of(["abc统", "abc", "", "12"])
    np.testing.assert_array_equal(script_share(letters, ["en", "zh", "en", None]), [0.5, 0.0, 0.0, 0.0])
    assert mostly_foreign(letters_of(["abc统", "abcd统", "统", "abc"])).tolist() == [True, False, False, False]


def test_kindred_labels_are_one_language() -> None:
    assert same_language("nn", "no")
    assert same_language("yue", "zh")
    assert same_language("eu", "eu")
    assert not same_language("eu", "gl")
    assert not same_language("fr", "en")


@given(st.lists(st.sampled_from(["a", "é统", "\n", "\n\n", " \n", "\t", "\r\n"]), max_size=15).map("".join))
@settings(max_examples=200)
def test_paragraphs_tile_the_text(text: str) -> None:
    raw = text.encode()
    found = paragraphs_of(_raw(raw))
    assert [p.start for p in found] == [0, *(p.end for p in found)][: len(found)]
    assert (found[-1].end if found else 0) == len(raw)
    assert sum(p.chars for p in found) == len(text)


def test_blank_lines_or_else_lines_part_paragraphs() -> None:
    assert [(p.start, p.end) for p in paragraphs_of(_raw(b"\na\nb\n \n\nc\n"))] == [(0, 8), (8, 10)]
    assert [(p.start, p.end) for p in paragraphs_of(_raw(b"a\nb\nc"))] == [(0, 2), (2, 4), (4, 5)]


def test_lines_go_over_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = _raw(b"\na\nb\n \n\nccc\n\n  ")
    whole = paragraphs_of(raw)
    for size in range(1, 6):
        monkeypatch.setattr(language_paragraphs, "_WINDOW_BYTES", size)
        assert paragraphs_of(raw) == whole


def test_short_paragraphs_are_not_judged() -> None:
    long = FRENCH[: MIN_LETTERS + 20]
    labels = [
        p.label for p in paragraphs_of(_raw(f"{long}\n\nbonjour le monde\n\n{ENGLISH}\n\n1234567890\n\n".encode()))
    ]
    assert labels == ["fr", None, "en", None]


@pytest.mark.parametrize(
    ("labels", "kept"),
    [
        (["en", "fr", "en"], "02"),
        (["en", None, "fr"], "01"),
        (["fr", None, "fr", "en"], "3"),
        (["fr", None], ""),
        ([None, "fr", "en"], "2"),
        ([None, None], "01"),
    ],
)
def test_what_is_not_judged_goes_with_both_neighbours(labels: list[str | None], kept: str) -> None:
    raw = "".join(map(str, range(len(labels)))).encode()
    paragraphs = [Paragraph(at, at + 1, 1, label) for at, label in enumerate(labels)]
    text, cut = without_others(_raw(raw), paragraphs, lambda label: label == "en")
    assert (text.decode(), cut) == (kept, len(labels) - len(kept))


def test_shares_come_most_first_then_by_label() -> None:
    paragraphs = [Paragraph(0, 0, chars, label) for chars, label in [(1, "fr"), (2, "en"), (1, "de"), (9, None)]]
    assert list(shares_of(paragraphs).items()) == [("en", 0.5), ("de", 0.25), ("fr", 0.25)]
    assert shares_of([]) == {}


@pytest.mark.parametrize("part", ["\n", "a\n\n", " \n", "a.a_"])
def test_no_text_takes_long(part: str) -> None:
    started = time.perf_counter()
    paragraphs_of(_raw((part * 300_000).encode()))
    assert time.perf_counter() - started < 15
