"""The kernel of book lines equals its plain-Python twin; each kind of line has its examples, and what is not one."""

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels import page_lines, page_lines_plain
from gristmill.stages.kernels.line_keys import line_key, normal_form
from gristmill.stages.kernels.page_lines import header_spans, scan_windows
from gristmill.stages.text.knowledge_words import known_lines

KINDS = "PLAIN|TOC|INDEX|REFERENCES|STAMP|NUMBER|LEADER|SPACED|ENTRY|CITED|CHAPTER|JUNK|PAGE_HEAD"
NAMES = KINDS.split("|")
PIECES = (
    "contents|index|References|Digitized by Google|12|xiv|XIV|- 7 -|(3)|4.|Page 9|The Mill ...... 31|Über · · · 8"
    "|磨坊……5|Mill  12|\tMill\t9|corn, 4, 17-19, 88|Éa, 3–5.|[12] A 1987|[Knu84] doi|3. Mill, 1999, et al."
    "|http://a 2001|Chapter 5|II. The Flour|mill; th1s wo!rd bbbb tlmcs|bcdfghjk x|s p l i t|hyphen-|\u00adé-"
    "|12 HISTORY OF|CASH FUNDS.  613|a|1|.|, |the corn was ground by the old miller of the"
    '|and so it went on from year to year.|"He said it all so well today."|磨坊主每天都在磨面粉。'
    "|磨坊主每天都在磨面粉和玉米|»\u201d| |\t|\u3000|-|[|et a|isbn|20|1600|~|I|i|v|c|l|x"
)
ALL_PIECES = [*PIECES.split("|"), "|", "\n", "\n", "\n\n", "\r\n", "\r", "\f", " "]
TEXTS = st.lists(st.sampled_from(ALL_PIECES) | st.text(max_size=6), max_size=40).map("".join)


def _known() -> dict[int, int]:
    return dict(known_lines().tolist())


def _scan(text: bytes, min_repeats: int = 3) -> tuple[list[int], list[list[int]], set[int]]:
    data = np.frombuffer(text, np.uint8)
    scan = scan_windows(data, np.array([0]), np.array([len(text)]), known_lines(), min_repeats)
    headers = set(scan.headers[0][:, 0].tolist()) if scan.headers else set()
    return scan.counts[0].tolist(), [mark[1:] for mark in scan.marks.tolist()], headers


def _kinds(text: str) -> list[str]:
    return [NAMES[mark[3]] for mark in _scan(text.encode())[1]]


def test_the_names_here_are_those_of_the_kernel() -> None:
    assert [getattr(page_lines, name) for name in NAMES] == list(range(len(NAMES)))


@given(TEXTS)
@example("CONTENTS\nII. The\nPart 3\nMill  12\n")
@example("[\n[1\n[1]\n[x1] 1999\n")
@settings(max_examples=600, deadline=None)
def test_kernel_equals_its_twin(text: str) -> None:
    raw = text.encode()
    assert _scan(raw) == page_lines_plain.scan(raw, _known(), 3)


def test_kernel_equals_its_twin_on_many_mixtures() -> None:
    """Hypothesis likes short texts: each piece beside each other needs more of them."""
    draw = random.Random(17)
    for size in range(700):
        raw = "\n".join("".join(draw.choices(ALL_PIECES, k=draw.randint(1, 3))) for _ in range(size % 60)).encode()
        assert _scan(raw) == page_lines_plain.scan(raw, _known(), 3), raw


@given(st.binary(max_size=80))
@settings(max_examples=300, deadline=None)
def test_bytes_that_are_no_text_are_scanned_alike(raw: bytes) -> None:
    assert _scan(raw) == page_lines_plain.scan(raw, _known(), 3)


@given(st.text(max_size=30))
def test_normal_forms_do_not_change_when_formed_again(text: str) -> None:
    form = normal_form(text.encode())
    assert normal_form(form.replace(b"#", b"7")) == form
    assert line_key(text.encode()) == line_key(text.upper().encode()) or not text.isascii()


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("CONTENTS.", "TOC"),
        ("目　录", "TOC"),
        ("== Index ==", "INDEX"),
        ("Digitized by Google", "STAMP"),
        ("digitized by the Internet Archive in 2007", "STAMP"),
        ("213", "NUMBER"),
        ("- 213 -", "NUMBER"),
        ("[xiv]", "NUMBER"),
        ("第12页", "NUMBER"),
        ("The Mill ........ 12", "LEADER"),
        ("磨坊……12", "LEADER"),
        ("The Mill . . . . xii", "LEADER"),
        ("Mill, John Stuart, 12, 34-36", "ENTRY"),
        ("[3] Mill, On Grain, 1843", "CITED"),
        ("3. Mill, On Grain, 1843, doi:10.1/2", "CITED"),
        ("th1s w;ord", "JUNK"),
        ("612  HISTORY OF AMHERST COLLEGE", "PAGE_HEAD"),
    ],
)
def test_what_each_kind_looks_like(line: str, kind: str) -> None:
    assert _kinds(f"\n{line}\n\n") == [kind]


@pytest.mark.parametrize(
    "line",
    [
        "The index of prices rose",
        "12345",
        "(3)",
        "4.",
        "IV",
        "He paused ... then went on",
        "The Mill .. 12",
        "The Mill   12 pages",
        "in the year 1843",
        "3. Mill ground corn in 1843",
        "[see there] of 1843",
        "it's well-known, isn't it?",
        "e.g. os.path or e-mail",
    ],
)
def test_what_is_plain(line: str) -> None:
    assert _kinds(f"a\n{line}\nb\n") == []


def test_windows_do_not_see_each_other() -> None:
    raw = b"CONTENTS\nMill  1\nMill  2\n" * 2
    data = np.frombuffer(raw, np.uint8)
    cut = len(raw) // 2
    both = scan_windows(data, np.array([0, cut]), np.array([cut, len(raw)]), known_lines(), 3)
    assert both.counts[0].tolist() == both.counts[1].tolist() == [3, 5, 0, 0, 0]
    first, second = (both.marks[both.marks[:, 0] == w, 3:].tolist() for w in (0, 1))
    assert first == second


def test_many_marks_are_all_given_back() -> None:
    lines = 3000
    assert len(_scan(b"7\n" * lines)[1]) == lines


def _book(head: str, pages: int = 8, lines: int = 20) -> str:
    prose = "the miller ground the corn of the whole of the valley"
    page = "\n".join(f"{prose} {'and so on' * (n % 3)}" for n in range(lines))
    return "".join(f"{page}\n\n{head.replace('#', str(n + 7))}\n\n" for n in range(pages)) + page


def test_a_header_without_a_number_is_found_and_its_first_place_is_kept() -> None:
    raw = _book("THE MILLER'S TALE").encode()
    assert _scan(raw)[2] == {line_key(b"THE MILLER'S TALE")}
    data = np.frombuffer(raw, np.uint8)
    scan = scan_windows(data, np.array([0]), np.array([len(raw)]), known_lines(), 3)
    spans = header_spans(data, 0, len(raw), scan.headers[0]).tolist()
    assert len(spans) == 7
    assert {raw[a:b] for a, b in spans} == {b"THE MILLER'S TALE\n"}


def test_a_line_that_returns_between_sentences_is_no_header() -> None:
    assert _scan(_book("THE MILLER'S TALE").replace("valley", "valley.").replace("so on", "so.").encode())[2] == set()


def test_too_few_places_make_no_header() -> None:
    assert _scan(_book("THE MILLER'S TALE", pages=4).encode(), min_repeats=5)[2] == set()
    assert _scan(_book("THE MILLER'S TALE", pages=5).encode(), min_repeats=5)[2] != set()
