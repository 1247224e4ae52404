"""Lines, repeats and tokens equal their plain-Python twins, stay in their row, and follow the rows that stay."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.stages import shared
from gristmill.stages.kernels import segments
from gristmill.stages.kernels.segments import Tokens, repeats, token_table, word_counts
from gristmill.stages.kernels.segments_plain import gram_tokens, repeat_counts, token_rows
from gristmill.stages.text.gopher_repetition import GopherRepetition
from tests.stages.kernels.test_words import TEXTS

# Few different lines, so that they repeat; ends of every kind.
LINES = st.sampled_from(["a", "b", " a", "a ", "\ta b", "c.", "中", "é\u0301", "", " ", "# x", "don't"])
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\u2028", "\n\n", "\r\n\r\n", "\x0b", " \n "])
PAGES = st.lists(st.tuples(LINES, ENDS), max_size=12).map(lambda parts: "".join(map("".join, parts)))


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Kernels are compiled outside the timed part of a test."""
    GopherRepetition().prepare()


CODE = st.lists(
    st.sampled_from(
        [*"-/@|,:<=(.'#…_", "//", "====", "__a_", "://", "ab", "1", "中", " ", "don't", "\u0301", "…", "\\"]
    ),
    max_size=12,
).map("".join)


def _column(texts: Sequence[str | None]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def _tokens(texts: Sequence[str | None]) -> list[tuple[list[int], list[int], list[int]]]:
    found: list[tuple[list[int], list[int], list[int]]] = [([], [], []) for _ in texts]
    for rows, part in token_table(_column(texts)):
        for i, row in enumerate(rows.tolist()):
            found[row] = _row(part, i)
    return found


def _row(tokens: Tokens, i: int) -> tuple[list[int], list[int], list[int]]:
    here, words = slice(*tokens.rows[i : i + 2]), slice(*tokens.vocabulary[i : i + 2])
    return tokens.ids[here].tolist(), tokens.spaced[here].tolist(), tokens.chars[words].tolist()


@given(st.lists(TEXTS | PAGES | CODE, max_size=5))
@example(["a\r\n\r\na\n\na", "\n\n\n", "\u2028a\x85a", " a\na\n a", "a\nb\n\na\nb\n \na\nb\nb"])
@example(["\u0301a # # ##\u0301# 中\u0301中 x.y x .y", "a" * 70 + " " + "a" * 71])
@example(["(foo.bar(), -v a/ --x=1 foo(bar) x|y| well-known 'don't' a--b a,b:c/d 我-a /-a a-/ #a# ##"])
@settings(max_examples=500)
def test_kernels_equal_their_twins(texts: list[str]) -> None:
    column = _column(texts)
    assert list(map(tuple, repeats(column).table.tolist())) == [repeat_counts(text) for text in texts]
    assert _tokens(texts) == [token_rows(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(foo(bar), x_y)", ["(", "foo(bar", ")", ",", "x_y", ")"]),
        ("-v a/ --x=y", ["-v", "a/", "--x", "=", "y"]),
        ("well-known a--b a:b ==a", ["well", "-", "known", "a", "--", "b", "a", ":", "b", "=", "=", "a"]),
        ("A::B a:: >>> ==== ``x``", ["A::B", "a", ":", ":", ">", ">", ">", "====", "`", "`", "x", "`", "`"]),
        ("a-1 1-2 3-a 3/4 3/a 1,a", ["a-1", "1", "-", "2", "3", "-", "a", "3/4", "3", "/", "a", "1,a"]),
        ("os.Path end...Next 0..10 ..a", ["os", ".", "Path", "end", "...", "Next", "0", "..", "10", "..", "a"]),
        ("[x](http://a/b) ~http://a/b", ["[", "x](http://a", "/", "b", ")", "~http://a/b"]),
        ("http://a/b-c#d a/b //a/b", ["http://a/b-c#d", "a", "/", "b", "//a", "/", "b"]),
        ("don't 'x'", ["don", "'t", "'", "x", "'"]),
        ("x|y /usr/lib ...", ["x|y", "/usr", "/", "lib", "..."]),
        (
            "_a_ __a__(b_, a-_b [1]_ ____a",
            ["_", "a", "_", "_", "_", "a__(b", "_", ",", "a-_b", "[", "1", "]", "_", "____", "a"],
        ),
        (
            "====|== +----+----+ +--+ 中---- a ____",
            ["====|==", "+----+----+", "+", "--", "+", "中", "----", "a", "____"],
        ),
        ("我-a中b", ["我", "-a", "中", "b"]),
        ("a\u0301-\u0301b", ["a\u0301", "-\u0301", "b"]),
    ],
)
def test_tokens_of_n_grams(text: str, found: list[str]) -> None:
    assert [token.text for token in gram_tokens(text)] == found
    assert _tokens([text]) == [token_rows(text)]


def test_many_lines_and_words_grow_their_tables() -> None:
    text = "\n".join(f"w{i % 3000} v{i % 2500}\n" for i in range(5000))
    assert tuple(repeats(_column([text])).table[0].tolist()) == (5000, 0, 0, 5000, 0, 0)
    half = "\n".join(f"w{i % 2500}\n" for i in range(5000))
    assert repeats(_column(["x", half])).table[1, [1, 4]].tolist() == [2500, 2500]
    ids = _tokens([text])[0][0]
    assert len(set(ids)) == 5500
    assert ids[::2] == [ids[2 * (i % 3000)] for i in range(5000)]


@given(st.binary(max_size=40), st.binary(max_size=10))
def test_bytes_that_are_no_text_stay_in_their_row(raw: bytes, after: bytes) -> None:
    def found(data: bytes) -> object:
        bytes_, offsets = np.frombuffer(data, np.uint8), np.array([0, len(raw)])
        from gristmill.stages.kernels.segments_lines import count_repeats

        return count_repeats(bytes_, offsets).tolist(), _row(segments.tokens_of(bytes_, *offsets[:, None]), 0)

    assert found(raw + after) == found(raw)


@given(st.lists(TEXTS | PAGES | st.none(), max_size=6), st.data())
def test_what_follows_is_what_would_be_made(texts: list[str | None], data: st.DataObject) -> None:
    before = _column(texts)
    kept = np.array([data.draw(st.booleans()) for _ in texts], np.bool_)
    after = before.filter(pa.array(kept, pa.bool_()))
    for make in (word_counts, repeats):
        followed = make(before).take(kept)
        shared.forget()
        anew = make(after)
        for one, other in zip(vars(followed).values(), vars(anew).values(), strict=True):
            np.testing.assert_array_equal(one, other) if isinstance(one, np.ndarray) else None
        shared.forget()


def test_made_once_for_a_column() -> None:
    column = _column(["a b\na", "c"])
    assert repeats(column) is repeats(column)
    assert word_counts(column) is word_counts(column)
    shared.forget()


@pytest.mark.parametrize("filler", ["word ", "中文", "\u0301"])
def test_long_rows_come_in_pieces(monkeypatch: pytest.MonkeyPatch, filler: str) -> None:
    monkeypatch.setattr(segments, "PART_BYTES", 64)
    texts = ["one two", filler * 40, None, "three", filler * 11]
    parts = list(token_table(_column(texts)))
    data, offsets = segments.text_buffers(_column(texts))
    pieces = list(segments._parts(data, offsets))  # pyright: ignore[reportPrivateUsage]
    assert [rows.tolist() for rows, _ in parts] == [rows.tolist() for rows, _, _ in pieces]
    for row, text in enumerate(texts):
        spans = [
            data[start:end].tobytes()
            for rows, starts, ends in pieces
            for number, start, end in zip(rows, starts, ends, strict=True)
            if number == row
        ]
        assert b"".join(spans) == (text or "").encode()
        assert "".join(span.decode() for span in spans) == (text or "")
    assert sum(len(tokens.ids) for _, tokens in parts) == sum(len(token_rows(text or "")[0]) for text in texts)
