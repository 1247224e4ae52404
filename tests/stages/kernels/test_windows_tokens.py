"""Places of tokens and words, and edges of spans, against their plain twins."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gristmill.stages.kernels import windows_tokens, windows_tokens_plain
from gristmill.stages.kernels.windows import SPAN_FIELDS
from gristmill.stages.kernels.windows_units_plain import units

PIECES = (b"", b" ", b" a", b"a", b"ab", b"\xe4", b"\xb8\x96", b"\xe4\xb8\x96", b"b ")
TEXT = st.lists(
    st.sampled_from(["a", "b", " ", "世", "é", "\u0301", "-", "😊", "\u200d", "'s", "_", "\ufffc"]), max_size=30
)


def column(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), offsets


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, len(PIECES)), max_size=8), st.binary(max_size=3), st.booleans()), max_size=4
    )
)
def test_places_of_tokens_equal_the_twin(drawn: list[tuple[list[int], bytes, bool]]) -> None:
    rows: list[tuple[list[int], bytes]] = []
    for ids, other, spells in drawn:
        text = b"".join(PIECES[i] for i in ids if i < len(PIECES))
        rows.append((ids, text if spells else other))
    ids = np.array([i for row, _ in rows for i in row], np.uint32)
    offsets = np.cumsum([0, *(len(row) for row, _ in rows)]).astype(np.int64)
    starts, stops, right = windows_tokens.token_places(
        (ids, offsets), column([t for _, t in rows]), column(list(PIECES))
    )
    for n, (row, text) in enumerate(rows):
        known = all(i < len(PIECES) for i in row)
        expected = windows_tokens_plain.token_places([PIECES[i] for i in row], text) if known else None
        assert right[n] == (expected is not None)
        if expected is not None:
            own = slice(int(offsets[n]), int(offsets[n + 1]))
            assert list(zip(starts[own].tolist(), stops[own].tolist(), strict=True)) == expected


def test_a_space_that_a_vocabulary_puts_before_a_text() -> None:
    tokens = np.array([2, 4], np.uint32), np.array([0, 2])
    for text, places in ((b"aab", [(0, 1), (1, 3)]), (b" aab", [(0, 2), (2, 4)])):
        starts, stops, right = windows_tokens.token_places(tokens, column([text]), column(list(PIECES)))
        assert right.all()
        assert list(zip(starts.tolist(), stops.tolist(), strict=True)) == places


@given(st.lists(TEXT.map("".join), max_size=4))
def test_words_equal_the_twin(texts: list[str]) -> None:
    values, offsets, starts, stops = windows_tokens.word_units(*column([text.encode() for text in texts]))
    made = list(zip(starts.tolist(), stops.tolist(), strict=True))
    bounds = pairwise(offsets.tolist())
    assert [made[a:b] for a, b in bounds] == [windows_tokens_plain.word_places(text) for text in texts]
    words = [unit.tokens for text in texts for unit in units(text)]
    assert all(values[i] == values[words.index(word)] for i, word in enumerate(words))


@given(TEXT.map("".join), st.lists(st.integers(0, 200), min_size=2, max_size=5))
@example("ab", [1, 2, 3])
def test_edges_equal_the_twin(text: str, drawn: list[int]) -> None:
    raw = text.encode()
    edges = sorted(at % (len(raw) + 1) for at in drawn)
    spans = np.zeros((len(edges) - 1, SPAN_FIELDS), np.int64)
    spans[:, 0] = 1
    spans[:, 1], spans[:, 2] = np.arange(len(spans)), np.arange(len(spans)) + 1
    spans[:, 3], spans[:, 4] = edges[:-1], edges[1:]
    made = windows_tokens.snapped(spans, *column([b"x\xe4\xb8\x96", raw, b"y"]))
    expected = windows_tokens_plain.snapped(edges, text)
    assert made[:, 3].tolist() == expected[:-1]
    assert made[:, 4].tolist() == expected[1:]


@pytest.mark.parametrize("edges", [(0, 9), (3, 7), (9, 9)])
def test_spans_apart_are_moved_each_for_itself(edges: tuple[int, int]) -> None:
    text = b"one two three"
    spans = np.array([[0, 0, 2, *edges, 0, 2], [0, 5, 9, 9, 13, 0, 2]])
    made = windows_tokens.snapped(spans, *column([text]))
    assert made[1, 3:5].tolist() == [13, 13]
    assert made[0, 3:5].tolist() == {(0, 9): [0, 8], (3, 7): [3, 7], (9, 9): [9, 9]}[edges]
