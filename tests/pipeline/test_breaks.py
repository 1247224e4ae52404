"""Places to cut: the kernels are their plain twin, the places are what they claim, no bytes that do not add up."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.manifests.trainer_schema import (
    BREAK_LEVELS,
    BREAK_PARAGRAPH,
    BREAK_SENTENCE,
    BREAK_STRETCH_TOKENS,
    BREAK_TOP,
    HOLD_END,
    HOLD_START,
)
from gristmill.pipeline.breaks import Coded, Spans, find_breaks
from gristmill.pipeline.breaks_plain import breaks_plain
from gristmill.pipeline.cut import Structure, cut

PARTS = (
    "word ",
    "a",
    "。",
    "é",
    "end. ",
    'said." ',
    "\n",
    "\n\n",
    " \t\r\n",
    "# ",
    "\n## Head\n",
    "\\section{x}",
    "  in",
    "!",
    "😀",
    "```",
    "```\n",
    "\n```svg\n",
    "\n ````\n",
    "~~~",
    "\n~~~~ \r\n",
    "`",
    "\n\n```\n\n",
    "\u2028\uff40\u00a0",
)
documents = st.lists(st.tuples(st.sampled_from(PARTS), st.integers(1, 40)), min_size=1, max_size=60)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Kernels are compiled outside the timed part of a test."""
    from gristmill.pipeline import breaks_kernel

    assert breaks_kernel.find_holds


@pytest.fixture(scope="module")
def tokens() -> Iterator[Tokenizer]:
    with load_tokenizer() as loaded:
        yield loaded


@st.composite
def coded(draw: st.DrawFn) -> tuple[bytes, list[int], list[tuple[int, int]]]:
    """A text, the bytes of its ids, and media among them; at times a size is unknown or one byte too many."""
    text = "".join(part * (n if len(part) < 3 else n % 4) for part, n in draw(documents)).encode()
    sizes: list[int] = []
    spans: list[tuple[int, int]] = []
    steps = draw(st.lists(st.integers(1, 6), min_size=1, max_size=7))
    place = 0
    media_at = draw(st.one_of(st.just([]), st.lists(st.integers(0, 400), max_size=4, unique=True).map(sorted)))
    while place < len(text):
        if media_at and len(sizes) >= media_at[0]:
            media_at.pop(0)
            spans.append((len(sizes), draw(st.integers(1, 40))))
            sizes += [-1] * spans[-1][1]
        step = min(steps[len(sizes) % len(steps)], len(text) - place)
        sizes.append(step)
        place += step
    fault = draw(st.integers(0, 19))
    if fault < 2 and sizes and sizes[-1] > 0:
        sizes[-1] = (sizes[-1] + 1, -1)[fault]
    return text, sizes, spans


@given(st.lists(st.tuples(coded(), st.booleans()), min_size=1, max_size=3))
@settings(max_examples=120, deadline=None)
def test_the_kernels_are_their_plain_twin(
    cases: list[tuple[tuple[bytes, list[int], list[tuple[int, int]]], bool]],
) -> None:
    """Each size is an id of its own; 7 is unknown, 8 too long."""
    texts = pa.array([text.decode() for (text, _, _), _ in cases], pa.large_string())
    ids = np.array([s if s > 0 else 0 for (_, sizes, _), _ in cases for s in sizes], dtype=np.uint32)
    offsets = bounds([len(sizes) for (_, sizes, _), _ in cases])
    lengths = np.array([-1, *range(1, 9)], dtype=np.int32)
    spans = [span for (_, _, media), _ in cases for span in media]
    starts, sizes = (np.array([s[i] for s in spans], dtype=np.int64) for i in (0, 1))
    media = Spans(bounds([len(m) for (_, _, m), _ in cases]), starts, sizes)
    is_code = np.array([code for _, code in cases])
    counts, found = find_breaks(texts, Coded(ids, offsets, lengths), is_code, media)
    expected = [breaks_plain(text, sizes, code, media) for (text, sizes, media), code in cases]
    assert counts.tolist() == [len(e) for e in expected]
    assert found.tolist() == [b for e in expected for b in e]


def bounds(counts: list[int]) -> Any:
    return np.cumsum([0, *counts]).astype(np.int64)


def breaks_of(tokens: Tokenizer, text: str, is_code: bool) -> list[tuple[int, int, str]]:
    """(level, token, what stands behind) of each break."""
    array = pa.array([text], pa.large_string())
    encoded = tokens.encode_batch(array)
    lengths = tokens.byte_lengths()
    assert lengths is not None
    known = Coded(encoded.ids, encoded.offsets, lengths)
    _, found = find_breaks(array, known, np.array([is_code]), Spans.none(1))
    return [
        (b % BREAK_LEVELS, b // BREAK_LEVELS, tokens.decode(encoded.ids[b // BREAK_LEVELS :])) for b in found.tolist()
    ]


def test_prose_ends_at_headings_then_paragraphs_then_sentences(tokens: Tokenizer) -> None:
    prose = (
        "It was a mill. " * 80 + "\n\nAnother paragraph. " + "More of it here. " * 60 + "\n\n# A heading\n\nIt turns."
    )
    found = breaks_of(tokens, prose, False)
    assert {level for level, _, _ in found} == {BREAK_SENTENCE, BREAK_PARAGRAPH, BREAK_TOP}
    for level, _, behind in found:
        starts = {BREAK_TOP: "# A heading", BREAK_PARAGRAPH: "Another", BREAK_SENTENCE: (" It", " More")}
        assert behind.startswith(starts[level])


def test_code_ends_where_what_is_not_indented_begins(tokens: Tokenizer) -> None:
    code = "".join(f"def f{i}(x):\n    # {i}\n\n    return x\n\n\n" for i in range(100))
    found = breaks_of(tokens, code, True)
    assert found and all(level == BREAK_TOP and behind.startswith("def f") for level, _, behind in found)


def test_one_place_a_stretch_and_none_in_short_documents(tokens: Tokenizer) -> None:
    text = "数" * 3000
    found = breaks_of(tokens, text, False)
    stretches = [at // BREAK_STRETCH_TOKENS for _, at, _ in found]
    assert len(stretches) == len(set(stretches)) > 1
    assert all("\ufffd" not in behind for _, _, behind in found)
    assert breaks_of(tokens, "short. " * 20, False) == []


def test_a_blank_line_at_the_begin_is_that_of_the_document() -> None:
    """In front of the second text's first line stands the end of the first, which is none of its."""
    texts = ["x" * 300, "\n" + "x" * 300]
    known = Coded(np.ones(601, np.uint32), bounds([300, 301]), np.array([-1, 1], dtype=np.int32))
    _, found = find_breaks(pa.array(texts, pa.large_string()), known, np.array([False] * 2), Spans.none(2))
    expected = [b for text in texts for b in breaks_plain(text.encode(), [1] * len(text), False, [])]
    assert found.tolist() == expected
    assert BREAK_LEVELS + BREAK_PARAGRAPH in expected


def test_a_medium_is_held_with_the_paragraphs_that_touch_it() -> None:
    text = "one. \n\n" + "a caption\n\n" + "below it\n\n" + "x" * 300
    start = len("one. \n\na caption\n\n")
    sizes = [1] * start + [-1] * 10 + [1] * (len(text) - start)
    ids = np.array([max(s, 0) for s in sizes], dtype=np.uint32)
    media = Spans(bounds([1]), np.array([start]), np.array([10]))
    known = Coded(ids, bounds([len(ids)]), np.array([-1, 1], dtype=np.int32))
    _, found = find_breaks(pa.array([text], pa.large_string()), known, np.array([False]), media)
    held = {b % BREAK_LEVELS: b // BREAK_LEVELS for b in found.tolist() if b % BREAK_LEVELS >= HOLD_END}
    assert held == {HOLD_START: len("one. \n\n"), HOLD_END: start + 10 + len("below it\n\n")}


def paired(tokens: Tokenizer, front: str, behind: str, medium: int) -> tuple[list[tuple[int, int]], int, Any]:
    """(pieces [start, stop) in rows of 1024 tokens, where the medium begins, breaks) of a document with one medium."""
    whole = pa.array([front + behind], pa.large_string())
    before = tokens.encode_batch(pa.array([front], pa.large_string())).ids
    rest = tokens.encode_batch(pa.array([behind], pa.large_string())).ids
    ids = np.concatenate([before, np.zeros(medium, np.uint32), rest])
    lengths = tokens.byte_lengths()
    assert lengths is not None
    media = Spans(bounds([1]), np.array([len(before)]), np.array([medium]))
    counts, found = find_breaks(whole, Coded(ids, bounds([len(ids)]), lengths), np.array([False]), media)
    size = np.array([len(ids)])
    parts = cut(size, 1024, Structure(bounds(counts.tolist()), found, *media))
    pieces = sorted((int(s), int(s + n)) for s, n in zip(parts.doc_offset, parts.length, strict=True))
    return pieces, len(before), found


FENCED = "```svg\n<svg>\n" + '<rect x="1" y="2"/>\n\n' * 30 + "</svg>\n```\n"
PROSE = "The mill turns by the water. " * 100


@pytest.mark.parametrize("between", ["", "\n", "\n \n\n"])
def test_a_picture_stays_with_the_code_that_made_it(tokens: Tokenizer, between: str) -> None:
    """Code with blank lines and its picture fit into a row, and neither is cut, whichever stands in front."""
    code = len(tokens.encode_batch(pa.array([FENCED], pa.large_string())).ids)
    lead = PROSE[:2000] + "\n\n"
    pieces, at, _ = paired(tokens, lead + FENCED + between, "\n\nA caption.\n\n" + PROSE, 594)
    begin = len(tokens.encode_batch(pa.array([lead], pa.large_string())).ids)
    assert 300 < code <= at - begin < 400 < begin
    assert any(s <= begin and at + 594 <= e for s, e in pieces)
    pieces, at, _ = paired(tokens, lead, between + "\n" + FENCED + "\n" + PROSE, 594)
    assert any(s <= at and at + 594 + code <= e for s, e in pieces)


def test_a_pair_longer_than_a_row_is_cut_outside_of_the_picture(tokens: Tokenizer) -> None:
    pieces, at, found = paired(tokens, FENCED * 2 + "\n", "\n\n" + PROSE, 594)
    assert HOLD_START in (found % BREAK_LEVELS).tolist() and at + 594 > 1024
    assert len(pieces) > 2 and not any(at < e < at + 594 for _, e in pieces)


def held(front: str, behind: str) -> tuple[str, str]:
    """What is held in front of and behind a medium of ten tokens; each byte is a token, and 300 more stand behind."""
    text = (front + behind + "\n\n" + "x" * 300).encode()
    start = len(front.encode())
    ids = np.array([1] * start + [0] * 10 + [1] * (len(text) - start), dtype=np.uint32)
    media = Spans(bounds([1]), np.array([start]), np.array([10]))
    known = Coded(ids, bounds([len(ids)]), np.array([-1, 1], dtype=np.int32))
    _, found = find_breaks(pa.array([text.decode()], pa.large_string()), known, np.array([False]), media)
    marks = {b % BREAK_LEVELS: b // BREAK_LEVELS for b in found.tolist() if b % BREAK_LEVELS >= HOLD_END}
    return text[marks[HOLD_START] : start].decode(), text[start : marks[HOLD_END] - 10].decode()


END = "\n\n" + "x" * 300


@pytest.mark.parametrize(
    ("front", "behind", "expected"),
    [
        ("a\n\n```svg\nb\n\nc\n```\n\n", "\n\nd\n\ne", ("```svg\nb\n\nc\n```\n\n", "\n\nd\n\n")),
        ("a\n\n~~~\nb\n\n```\n\nc\n~~~ \r\n", "\nd", ("~~~\nb\n\n```\n\nc\n~~~ \r\n", "\nd\n\n")),
        ("a\n\n", "\n\n```\nb\n\n````\n\nc\n\nd", ("a\n\n", "\n\n```\nb\n\n````\n\n")),
        ("````\nb\n\n```\n\nc\n````\n", "", ("````\nb\n\n```\n\nc\n````\n", END)),
        ("a\n\n", "\n```\nb\n\nc", ("a\n\n", "\n```\nb\n\nc" + END)),
        ("```\nb\n\n", "\n\nc\n\n```\n\nd", ("```\nb\n\n", "\n\nc\n\n```\n\n")),
        ("```\nb\n```c\n\nd\n```\n\ne\n\n", "f", ("e\n\n", "f\n\n")),
        ("a ```\n\nb\n\n", "c", ("b\n\n", "c\n\n")),
        ("```a``` b\n\nc\n\n", "d", ("c\n\n", "d\n\n")),
        ("``\n\n～～～\n\nb\n\n", "c", ("b\n\n", "c\n\n")),
        ("a\n\n```", "```\n\nb", ("```", "```\n\n")),
        ("a\n\n", "```\nb\n\nc\n```\n\nd", ("a\n\n", "```\nb\n\nc\n```\n\n")),
    ],
    ids=[
        "in front",
        "tildes around backticks",
        "closed by a longer one",
        "first line, a shorter one inside",
        "never closed",
        "medium inside",
        "a closing fence has no info",
        "within a line",
        "code in a line",
        "two, and wide ones",
        "medium in the run",
        "medium in front of the run",
    ],
)
def test_a_fenced_block_is_one_paragraph(front: str, behind: str, expected: tuple[str, str]) -> None:
    assert held(front, behind) == expected
