"""The kernels over lines equal their plain-Python twins on hostile Unicode, and do not see beyond a row."""

import itertools
import string

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels import (
    lines_boilerplate,
    lines_boilerplate_plain,
    lines_c4,
    lines_c4_plain,
    lines_fineweb,
    lines_plain,
    lines_refinedweb,
    lines_refinedweb_plain,
)
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.lines_c4 import C4Limits
from gristmill.stages.kernels.lines_chars import terminal_points
from gristmill.stages.kernels.lines_phrases import found_kinds, phrases
from gristmill.stages.text.boilerplate_words import (
    AT_END,
    AT_START,
    COUNTED,
    INSIDE,
    NOTICES,
    navigation_phrases,
    notice_phrases,
)

SPECIAL = (
    "aZé1_'’.,-#…\n\r\x0b\x1c\x85\u2028 \t\u3000中カกำ\u0301\u200d\ufeff\ufffc٣İß😀\0\U0010ffff!?\"”)]{[|>•。！؟।»"
)
PIECES = [
    "One more word", "the end.", "Next", " ", "\n", "\r\n", ".", "...", "[12]", "[]", "[edit]", "[citation needed]",
    "lorem ipsum", "JavaScript", "{", "Privacy Policy", "use cookies", "Mr.", "J.", "e.g.", "U.S.", "end.Next",
    "我们在河边。", '"', "”", "\ufffc", "x" * 12, "SHOUT", "3 likes", "1.2k Комментария", "12/05", "Sign in", "login",
    "Read more...", "read more", "items in cart", " | ", " > ", "- ", "Home", "All rights reserved", "版权所有",
    "TÜM HAKLARI SAKLIDIR", "_", "```", "\n```\n", "````py\n", "`", "2,000", "don't", "\u0301", "?", "!",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(
    st.one_of(st.sampled_from(SPECIAL), st.characters(exclude_categories=["Cs"])), max_size=60
)
KINDS = {"at_start": AT_START, "at_end": AT_END, "inside": INSIDE, "counted": COUNTED}
ALL_NOTICES = [phrase for of_one in NOTICES.values() for phrase in of_one]


def buffers(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    return text_buffers(pa.array(texts, pa.large_string()))


def decoded(data: np.ndarray, offsets: np.ndarray) -> list[str]:
    return [data[a:b].tobytes().decode() for a, b in itertools.pairwise(offsets)]


def named(columns: tuple[str, ...], counts: np.ndarray) -> list[dict[str, int]]:
    return [dict(zip(columns, row, strict=True)) for row in counts.tolist()]


LIMITS = st.builds(
    C4Limits,
    st.sampled_from([-1, 0, 10, 1000]),
    st.sampled_from([-1, 0, 1, 3]),
    st.just(12),
    st.sampled_from([31, 0, 16, 15, 21]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(TEXTS, max_size=4), LIMITS)
@example(["A b c. [12]\r\n[edit] A b c.\nx [1] y"], C4Limits(1000, 3, 200, 31, True, False))
@example(["一。二。three.Four! five"], C4Limits(-1, -1, 0, 0, False, True))
@example(["\n\n [1] \n\ufffc\n"], C4Limits(-1, -1, 0, 31, False, False))
@example(["One two three.\n```py\n  {x}\n\n```\nOne two three."], C4Limits(1000, 3, 200, 31, True, False, True))
@example(["````\n```\n a { b\n````\n{"], C4Limits(1000, 3, 200, 31, True, False, True))
@settings(max_examples=400)
def test_c4_equals_its_twin(texts: list[str], limits: C4Limits) -> None:
    data, offsets, counts = lines_c4.clean(*buffers(texts), limits)
    twins = [lines_c4_plain.clean_plain(text, limits) for text in texts]
    assert decoded(data, offsets) == [text for text, _ in twins]
    for row, (_, twin) in zip(named(lines_c4.COUNTS, counts), twins, strict=True):
        assert row["dropped_for"] == twin["dropped_for"]
        assert row == twin or row["dropped_for"]


@given(st.lists(TEXTS, max_size=4), st.integers(0, 30))
@settings(max_examples=300)
def test_fineweb_equals_its_twin(texts: list[str], short_columns: int) -> None:
    counts = lines_fineweb.count_lines(*buffers(texts), None, short_columns)
    assert named(lines_fineweb.COUNTS, counts) == [lines_plain.count_lines(text, short_columns) for text in texts]


@given(st.lists(TEXTS, max_size=4), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0, 3, 10]))
@example(["You have 3 items in cart today\n3 items in cart\nSign in\nsign-in.\nlogins\nx Read more..."], 0.5, 10)
@example(["```py\nelse:\n42\n```\n42\n````\n```\n42\n`````\n42\n``` a`\n42\n``\n42\n```\nHome"], 0.5, 10)
@example(["1.2k Комментария\n3 ME GUSTA\n3  likes\n3likes\n3 likes."], 1.0, 10)
@settings(max_examples=400)
def test_refinedweb_equals_its_twin(texts: list[str], upper: float, words: int) -> None:
    data, offsets, counts = lines_refinedweb.correct(*buffers(texts), navigation_phrases(), upper, words)
    twins = [lines_refinedweb_plain.correct_plain(text, KINDS, upper, words) for text in texts]
    assert decoded(data, offsets) == [text for text, _ in twins]
    assert named(lines_refinedweb.COUNTS, counts) == [twin for _, twin in twins]


@given(st.lists(TEXTS, max_size=4))
@example(["Home | News\nHome > News > x\n| a | b | c |"])
@example(["Home\n\nAbout us\n- Contact\n* Imprint (new)\nFAQ\nA sentence.\nHome | News | Über uns\n| a | b | c |"])
@settings(max_examples=300)
def test_boilerplate_equals_its_twin(texts: list[str]) -> None:
    counts = lines_boilerplate.count_boilerplate(*buffers(texts), notice_phrases())
    twins = [lines_boilerplate_plain.count_plain(text, ALL_NOTICES) for text in texts]
    assert named(lines_boilerplate.COUNTS, counts) == twins


@given(st.binary(max_size=40), st.binary(max_size=10))
def test_bytes_that_are_no_text_stay_in_their_row(raw: bytes, after: bytes) -> None:
    def all_of(data: bytes, ends: list[int]) -> list[object]:
        arrays = np.frombuffer(data, np.uint8), np.array(ends)
        cleaned = lines_c4.clean(*arrays, C4Limits(10, 1, 5, 31, True, False))
        corrected = lines_refinedweb.correct(*arrays, navigation_phrases(), 0.5, 10)
        return [
            *(part.tolist() for part in (*cleaned, *corrected)),
            lines_fineweb.count_lines(*arrays, None, 5).tolist(),
            lines_boilerplate.count_boilerplate(*arrays, notice_phrases()).tolist(),
        ]

    assert all_of(raw + after, [0, len(raw)]) == all_of(raw, [0, len(raw)])


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("One. Two! Three? Four", ["One.", " Two!", " Three?", " Four"]),
        ('He said "No." Then left.', ['He said "No."', " Then left."]),
        ("Mr. Smith, e.g. J. S. Bach of the U.S. went. On", ["Mr. Smith, e.g. J. S. Bach of the U.S. went.", " On"]),
        ("Wait... what. 3.14 is pi.", ["Wait... what.", " 3.14 is pi."]),
        ("The end.Next one", ["The end.", "Next one"]),
        ("我们在河边。孩子们！好？", ["我们在河边。", "孩子们！", "好？"]),
        ("वह आया। वह गया॥", ["वह आया।", " वह गया॥"]),
        ("ما هذا؟ هذا كتاب۔ نعم", ["ما هذا؟", " هذا كتاب۔", " نعم"]),
        ("Done.) — * 5 more", ["Done.)", " — * 5 more"]),
        (". . .", [". . ."]),
        ("node.js e-mail@x.org is", ["node.js e-mail@x.org is"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert lines_plain.sentences(text) == sentences


def test_phrases_are_found_in_any_case_and_nowhere_else() -> None:
    known = phrases([["privacy policy", "policy of"], ["über uns"], ["a"]])

    def kinds(text: str) -> int:
        data = np.frombuffer(text.encode(), np.uint8)
        return int(found_kinds(data, 0, len(data), known.classes, known.moves, known.kinds))

    assert kinds("PRIVACY Policy of it") & 1
    assert kinds("the policy of x") & 1
    assert not kinds("privacy  policies") & 1
    assert [kinds(t) & 2 for t in ("über uns", "Über uns", "ÜBER UNS", "Über Uns", "uber uns")] == [2, 2, 2, 2, 0]
    assert kinds("") == 0
    assert kinds("xyz") == 0


@given(st.lists(st.text("abAé", min_size=1, max_size=3), min_size=1, max_size=6), st.text("abABé c", max_size=30))
def test_phrases_equal_a_search_for_each(wanted: list[str], text: str) -> None:
    known = phrases([[phrase] for phrase in wanted])
    data = np.frombuffer(text.encode(), np.uint8)
    found = int(found_kinds(data, 0, len(data), known.classes, known.moves, known.kinds))
    fold = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
    for bit, phrase in enumerate(wanted):
        forms = {form.translate(fold) for form in lines_refinedweb_plain.forms_of(phrase)}
        assert bool(found >> bit & 1) == any(form in text.translate(fold) for form in forms)


@pytest.mark.parametrize("kinds", [[[""]], [["x"]] * 32])
def test_phrases_refuse(kinds: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="phrases"):
        phrases(kinds)


def test_terminal_marks_are_those_of_datatrove() -> None:
    text = pytest.importorskip("datatrove.utils.text")
    assert set(map(chr, terminal_points())) == text.TERMINAL_PUNCTUATION


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_ends_of_lines_do_not_change_what_stays(end: str) -> None:
    """M25: CRLF is one end of a line for every rule."""
    text = end.join(["This is a sentence of six.", "", "No full stop here", "And this is another one."])
    limits = C4Limits(1000, 3, 200, 31, True, False)
    data, offsets, _ = lines_c4.clean(*buffers([text]), limits)
    assert decoded(data, offsets) == ["This is a sentence of six.\nAnd this is another one."]
    assert lines_plain.count_lines(text, 5)["line_ends"] == 3
