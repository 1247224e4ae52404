"""The word kernel equals its plain-Python twin on hostile Unicode, and does not see beyond a row."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.segments_plain import gram_tokens
from gristmill.stages.kernels.stop_table import StopTable, stop_table
from gristmill.stages.kernels.words import COUNTS, count_documents
from gristmill.stages.kernels.words_plain import compounds, count_document, lines, parts_of, tokens

STOP_WORDS = ("the", "be", "中", "à", "из", "ab1", "_x", "não", "abcdefgh", "e.g", "don't")

# Whatever the rules tell apart, often, beside the whole of Unicode without surrogates.
SPECIAL = "aZé1_'’.,-#…•\n\r\x0b\x0c\x1c\x85\u2028 \t\u3000中カกำ่ߋ\u0301\u200d\ufeff\ufffc٣²Ⅷªßİ😀\ufe0f\0\U0010ffff"
TEXTS = st.text(st.one_of(st.sampled_from(SPECIAL), st.characters(exclude_categories=["Cs"])), max_size=60) | st.lists(
    st.sampled_from([*STOP_WORDS, "The", "BE", ".", "...", " ", "#", "\n", "x"]), max_size=20
).map("".join)
CHUNKS = st.lists(
    st.sampled_from(
        [*"-/@|,:<=(.'#…", "//", "==", "://", "ab", "X", "1", "_", "____", "中", " ", "\u0301", "–", "..", "--"]
    ),
    max_size=12,
).map("".join)
"""Runs with symbols between them."""


def _counted(texts: list[str | None]) -> list[tuple[dict[str, int], set[str]]]:
    stop = stop_table(STOP_WORDS)
    counts, bits = count_documents(*text_buffers(pa.array(texts, pa.large_string())), stop)
    found = [{w for i, w in enumerate(stop.words) if int(row[i // 64]) >> (i % 64) & 1} for row in bits]
    return [(dict(zip(COUNTS, row.tolist(), strict=True)), f) for row, f in zip(counts, found, strict=True)]


@given(st.lists(TEXTS | CHUNKS, max_size=5))
@example(["end.Next e.g. 3.14 1,000 a,b don't 'tis os.path x.\u0301y", "a\u0301.b 中.a ...a.b…… # ## #\u0301#"])
@example(
    [
        "a'b'c 'a a' a''b 1'a a'1 a\u0301'\u0301b a'\u0301b 中'a a'中 x.'y _'a a'.b",
        "that's TO'be",
        "a\u0301'b a\u0301,2 a\u0301.B",
    ]
)
@example(["- a\r\n\r\n•b...\n. ..\nx... \n…\n", "\r", "\n\r\n", " ", "x\x85"])
@settings(max_examples=400)
def test_kernel_equals_its_twin(texts: list[str]) -> None:
    assert _counted([*texts]) == [count_document(text, STOP_WORDS) for text in texts]


@given(st.lists(TEXTS | st.none(), max_size=8), st.data())
def test_a_row_s_counts_do_not_depend_on_the_batch(texts: list[str | None], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    array = pa.array(texts, pa.large_string())
    stop = stop_table(STOP_WORDS)
    whole = count_documents(*text_buffers(array), stop)
    parts = [count_documents(*text_buffers(part), stop) for part in (array.slice(0, cut), array.slice(cut))]
    for i in range(2):
        np.testing.assert_array_equal(whole[i], np.concatenate([part[i] for part in parts]))


@given(st.binary(max_size=40), st.binary(max_size=10))
def test_bytes_that_are_no_text_stay_in_their_row(raw: bytes, after: bytes) -> None:
    def counts(data: bytes, ends: list[int]) -> list[int]:
        arrays = np.frombuffer(data, np.uint8), np.array(ends)
        return count_documents(*arrays, stop_table(["the"]))[0][0].tolist()

    assert counts(raw + after, [0, len(raw)]) == counts(raw, [0, len(raw)])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t stop, John's dog.", ["Don", "’t", "stop", ",", "John", "'s", "dog", "."]),
        ("x_1 = os.path; 3.14 1,000", ["x_1", "=", "os.path", ";", "3.14", "1,000"]),
        ("The end.Next e.g. U.S.A", ["The", "end", ".", "Next", "e.g", ".", "U.S.A"]),
        ("well-known ---- ## ....", ["well", "-", "known", "----", "#", "#", "...."]),
        ("我有GPU。コード", ["我", "有", "GPU", "。", "コ", "ー", "ド"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("نمی\u200cخواهم", ["نمی\u200cخواهم"]),
        ("❤\ufe0f❤\ufe0f ok\ufffcno", ["❤\ufe0f❤\ufe0f", "ok", "no"]),
        ("", []),
    ],
)
def test_segmentation(text: str, words: list[str]) -> None:
    assert [t.text for t in tokens(text)] == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("https://a.b/c-d?e=f, (http://x/y), me@a.org", ["https://a.b/c-d?e=f", "http://x/y", "me@a.org"]),
        ("[text](https://a/b) a/b//c/d", ["text](https://a", "b", "a", "b//c", "d"]),
        ("foo(bar, x|y /usr/lib --x=1", ["foo(bar", "x|y", "usr", "lib", "x=1"]),
        ("well-known 16-bit utf-8 2023-06", ["well", "known", "16", "bit", "utf-8", "2023", "06"]),
        ("a--b a----b a--1 1--2", ["a", "b", "a----b", "a--1", "1", "2"]),
        ("end.Next wait...what 0..10 …a a…b 1…2", ["end", "Next", "wait", "what", "0", "10", "a", "a", "b", "1…2"]),
        ("a,b 1,a a,1 3/4 a:b 9:30", ["a", "b", "1,a", "a,1", "3/4", "a", "b", "9:30"]),
        ("don't 我a/b中c", ["don", "'t", "a", "b", "c"]),
        ("x=='y' --- # ____ _", ["x=='y"]),
    ],
)
def test_compounds(text: str, words: list[str]) -> None:
    assert compounds(parts_of(text)) == words
    counts, _ = _counted([text])[0]
    assert (counts["compounds"], counts["compound_chars"]) == (len(words), sum(map(len, words)))


@given(TEXTS | CHUNKS)
def test_compounds_are_the_tokens_of_n_grams_that_have_a_run(text: str) -> None:
    runs = {t.start + len(t.text) - len(t.text.lstrip("_")) for t in parts_of(text) if t.kind == "run"}
    spans = [range(token.start, token.start + len(token.text)) for token in gram_tokens(text)]
    assert len(compounds(parts_of(text))) == sum(any(start in span for start in runs) for span in spans)


def test_lines_are_those_of_splitlines() -> None:
    text = "a\nb\r\nc\rd\x0be\x0cf\x1cg\x1dh\x1ei\x85j\u2028k\u2029\n l \n"
    assert lines(text) == [line.strip() for line in text.splitlines()]


def test_stop_table_finds_every_word_it_has_room_for() -> None:
    words = [f"w{i}" for i in range(500)]
    stop = stop_table(words)
    _, bits = count_documents(*text_buffers(pa.array([" ".join(words[::2]), "W499, w500"])), stop)
    assert bits[0].tolist() == stop.mask(words[::2]).tolist()
    assert bits[1].tolist() == stop.mask(["w499"]).tolist()


@pytest.mark.parametrize("words", [[""], ["ninebytes"], [f"w{i}" for i in range(513)]])
def test_stop_table_refuses(words: list[str]) -> None:
    with pytest.raises(ValueError, match=r"words|bytes"):
        stop_table(words)


def test_stop_table_is_read_only() -> None:
    table: StopTable = stop_table(["a"])
    assert not table.keys.flags.writeable


def test_importing_stages_leaves_numba_alone() -> None:
    code = "import sys, gristmill.stages.catalogue as c; c.sample_stages(); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
