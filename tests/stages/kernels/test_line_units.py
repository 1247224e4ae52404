"""Units of texts against the twin, and what no unit is."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels import line_units
from gristmill.stages.kernels.line_units import LINES, PARAGRAPHS, SPANS, Texts, UnitRules, text_units
from gristmill.stages.kernels.line_units_plain import text_units as plain_units

EVERYTHING = UnitRules(LINES, 0, 0, False, 3)
PIECES = [
    *("\n", "\n\n", "\r\n", "\r", "\x0c", "\u2028", " ", "\t", "\u3000", "\u00a0"),
    *("```", "```py\n", "````\n", "`", "|", "| a | b |", "|---|", "}", "-", "12"),
    *(
        "One two three.",
        "Is it? ",
        "No. ",
        "Mr. X ",
        "end.Next",
        "你好。",
        "再见！",
        "สวัสดี",
        "é",
        "e\u0301",
        "😀",
        "\ufffc",
        '."',
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=24).map("".join)
RULES = st.builds(
    UnitRules, st.sampled_from([LINES, PARAGRAPHS, SPANS]), st.integers(0, 9), st.integers(0, 4), st.booleans(),
    st.integers(1, 4),
)  # fmt: skip


def units(texts: list[str], rules: UnitRules, walked: list[bool] | None = None) -> list[list[tuple[int, int]]]:
    """The units of each text, as ranges of bytes."""
    raw = [text.encode() for text in texts]
    arrays = (
        np.frombuffer(b"".join(raw), np.uint8),
        np.cumsum([0, *map(len, raw)]).astype(np.int64),
        np.array(walked or [True] * len(raw), np.uint8),
        np.array(["\ufffc" in text for text in texts], np.uint8),
    )
    for array in arrays:
        array.flags.writeable = False
    found: list[list[tuple[int, int]]] = [[] for _ in texts]
    for row, start, stop in text_units(Texts(*arrays), rules).tolist():
        found[row].append((start, stop))
    return found


def shown(text: str, rules: UnitRules) -> list[str]:
    """The units of one text."""
    return [text.encode()[start:stop].decode() for start, stop in units([text], rules)[0]]


@given(st.lists(TEXTS, max_size=4), RULES)
def test_units_are_those_of_the_twin(texts: list[str], rules: UnitRules) -> None:
    plain = [
        [(len(text[:start].encode()), len(text[:stop].encode())) for start, stop in plain_units(text, rules)]
        for text in texts
    ]
    assert units(texts, rules) == plain


@given(TEXTS, RULES)
def test_lines_and_paragraphs_are_disjoint_and_spans_advance(text: str, rules: UnitRules) -> None:
    found = units([text], rules)[0]
    assert all(start < stop for start, stop in found)
    assert found == sorted(found)
    assert rules.unit == SPANS or all(before[1] <= after[0] for before, after in pairwise(found))


def test_lines_without_any_rule_are_all_lines_but_blank_ones() -> None:
    text = "a\n\n  b \r\n\u3000\nc\x0cd\u2028e"
    assert shown(text, EVERYTHING) == ["a\n", "  b \r\n", "c\x0c", "d\u2028", "e"]


def test_short_lines_are_no_units() -> None:
    text = "}\n# Heading\nOne two three\nOne two, or\n再见再见再见再见再\n再见再见再见再见再见\n----------------\n"
    assert shown(text, UnitRules(LINES, 10, 3, True, 3)) == [
        "One two three\n",
        "One two, or\n",
        "再见再见再见再见再见\n",
    ]
    assert shown("Ab cd éf\nAb cd éfg\n", UnitRules(LINES, 9, 3, True, 3)) == ["Ab cd éfg\n"]


def test_code_and_tables_are_no_units() -> None:
    text = "a b\n```py\nx y\n\nx y\n```\nc d\n | t | u |\n"
    assert shown(text, EVERYTHING._replace(keep_blocks=True)) == ["a b\n", "c d\n"]
    assert len(shown(text, EVERYTHING)) == 7
    paragraphs = EVERYTHING._replace(unit=PARAGRAPHS, keep_blocks=True)
    assert shown(text, paragraphs) == ["a b\n", "c d\n | t | u |\n"]


def test_paragraphs_end_before_what_is_visible_next() -> None:
    text = "\n a\nb\n\n\nc\n \nd"
    assert shown(text, EVERYTHING._replace(unit=PARAGRAPHS)) == [" a\nb\n\n\n", "c\n \n", "d"]


def test_spans_are_three_sentences_over_lines() -> None:
    rules = EVERYTHING._replace(unit=SPANS)
    text = "One. Two! Three?\nFour\n\nFive."
    assert shown(text, rules) == ["One. Two! Three?\n", " Two! Three?\nFour", " Three?\nFour\n\nFive."]
    assert shown("One. Two!", rules) == []
    assert shown("一。二！三？", rules) == ["一。二！三？"]
    assert shown("One. Two! Three?\n", rules._replace(span=1)) == ["One.", " Two!", " Three?"]
    assert shown("One.\nTwo.\n", rules._replace(span=1)) == ["One.\n", "Two.\n"]


def test_what_holds_a_medium_is_no_unit() -> None:
    text = "a b\n\ufffc\nc \ufffc d\ne"
    assert shown(text, EVERYTHING) == ["a b\n", "e"]
    assert shown(text, EVERYTHING._replace(unit=PARAGRAPHS)) == []
    assert shown("A.\nB.\n\ufffc\nC.\nD.\nE.", EVERYTHING._replace(unit=SPANS)) == ["C.\nD.\nE."]


def test_rows_that_are_not_walked_have_none() -> None:
    assert units(["a\nb", "a\nb"], EVERYTHING, [False, True]) == [[], [(0, 2), (2, 3)]]


@pytest.mark.parametrize("unit", [LINES, PARAGRAPHS, SPANS])
def test_many_units_find_room(unit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a\n\n" * size for size in (3, 5000, 0, 70_000, 1)]
    rules = EVERYTHING._replace(unit=unit)
    expected = units(texts, rules)
    monkeypatch.setattr(line_units, "_MIN_ROOM", 1)
    assert units(texts, rules) == expected
    assert [len(found) for found in expected] == [max(n - 2 * (unit == SPANS), 0) for n in (3, 5000, 0, 70_000, 1)]


def test_nothing() -> None:
    assert units([], EVERYTHING) == []
    assert units(["", " \n"], EVERYTHING) == [[], []]
