"""Words and n-grams of evaluation sets: kernels against their plain twin, forms, hostile bytes."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels import ngram_plain as plain
from gristmill.stages.kernels.buffers import Bytes, text_buffers
from gristmill.stages.kernels.ngram_fold import fold
from gristmill.stages.kernels.ngram_index import Grams, Words, index_grams, with_bits
from gristmill.stages.kernels.ngram_probe import Cut, distinct_grams, passages, rows_with_grams
from gristmill.stages.kernels.ngram_words import words_of_texts

PIECES = [
    *"aZé中ので9٣²½ﬁ",
    *["é", "̄ͅ", "\u200d\xad️"],
    *[",", ".", "'", "’", "_", "-", "\n", "￼", "\x00"],
    " ",
    " ",
    "80,000",
    "1,2345",
    "word",
    "LONGERWORD",
    "eightlet",
    "sixteen_letters_",
    "ß",
    "が",
    "か\u3099",
    "हि",
    "ﷺ",
    "한글",
    "ゟ",
    "\U0001f600",
    "ก่",
]
texts = st.lists(st.sampled_from(PIECES) | st.characters(exclude_categories=["Cs"]), max_size=40).map("".join)


def kernel_words(text: str) -> list[str]:
    """The forms of a text's words, from the stream."""
    stream, hashes, bounds, _ = words_of_texts(*text_buffers(pa.array([text], pa.large_string())), fold())
    return ["".join(map(chr, stream[bounds[i] : bounds[i + 1] - 1])) for i in range(len(hashes))]


def table(evals: list[str], ngram: int, min_words: int) -> Grams:
    """The n-grams of some texts, all of them active."""
    words = Words(*words_of_texts(*text_buffers(pa.array(evals, pa.large_string())), fold()))
    for array in words:
        array.flags.writeable = False
    grams, _, firsts = index_grams(words, ngram, min_words)
    return with_bits(grams, words.hashes, firsts, np.ones(len(grams.sizes), np.uint8))


def data_of(text: str) -> Bytes:
    """The bytes of one text as a kernel gets them."""
    return np.frombuffer(text.encode(), np.uint8)


@given(texts)
def test_words_are_those_of_the_twin(text: str) -> None:
    assert kernel_words(text) == [word.form for word in plain.words(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't don\u2019t DONT dont", ["dont"] * 4),
        ("$80,000.50 80000", ["80000", "50", "80000"]),
        ("1,2 1,2345 1,234", ["1", "2", "1", "2345", "1234"]),
        ("foo_bar (baz)-qux", ["foo", "bar", "baz", "qux"]),
        ("Café CAFE\u0301 cafe ﬁne Ｆｉｎｅ x²", ["cafe", "cafe", "cafe", "fine", "fine", "x2"]),
        ("Straße STRASSE in\u00advisible", ["strasse", "strasse", "invisible"]),
        ("中文12字 のが", ["中", "文", "12", "字", "の", "か\u3099"]),
        ("x,y 中,文", ["x", "y", "中", "文"]),
        ("\u0301 ' , _", []),
        ("", []),
        ("abcdefgh abcdefghijklmnop q", ["abcdefgh", "abcdefghijklmnop", "q"]),
    ],
)
def test_forms(text: str, words: list[str]) -> None:
    assert kernel_words(text) == words


@given(texts)
def test_forms_survive_unicodes_normal_forms_and_case(text: str) -> None:
    assigned = "".join(c for c in text if unicodedata.category(c) != "Cn")
    ordered = unicodedata.normalize("NFC", assigned)
    assert kernel_words(unicodedata.normalize("NFD", ordered)) == kernel_words(ordered)


@given(st.lists(texts, max_size=4), st.integers(1, 4), st.integers(1, 3), st.data())
def test_what_is_found_is_what_the_twin_finds(evals: list[str], ngram: int, least: int, data: st.DataObject) -> None:
    parts = st.sampled_from([*evals, " "]) | texts
    text = "".join(data.draw(st.lists(parts, max_size=4)))
    wanted = {gram for one in evals for gram in plain.grams(one, ngram, least)}
    expected = plain.found_grams(text, wanted)
    grams = table(evals, ngram, least)
    assert len(grams.sizes) == len(wanted)
    found, spans = distinct_grams(data_of(text), fold(), grams)
    named = [_gram(grams, int(number)) for number in found]
    starts = [len(text[:start].encode()) for start, _ in expected.values()]
    stops = [len(text[:stop].encode()) for _, stop in expected.values()]
    assert sorted(zip(named, spans.tolist(), strict=True)) == sorted(
        zip(expected, map(list, zip(starts, stops, strict=True)), strict=True)
    )
    rows = rows_with_grams(*text_buffers(pa.array(["\x00", text, ""], pa.large_string())), fold(), grams)
    assert rows.tolist() == [False, bool(expected), False]


def _gram(grams: Grams, number: int) -> plain.Gram:
    place, words = int(grams.places[number]), list[str]()
    for _ in range(int(grams.sizes[number])):
        end = place + int(np.argmin(grams.stream[place:] != 0))
        words.append("".join(map(chr, grams.stream[place:end])))
        place = end + 1
    return tuple(words)


def test_equal_hashes_are_not_enough() -> None:
    """The table's hash is that of the text's words, but the words behind it are others, as with a forged collision."""
    grams = table(["alpha beta gamma"], 3, 3)
    stream = grams.stream.copy()
    stream[0] = ord("z")
    stream.flags.writeable = False
    assert len(distinct_grams(data_of("alpha beta gamma"), fold(), grams)[0]) == 1
    assert len(distinct_grams(data_of("alpha beta gamma"), fold(), grams._replace(stream=stream))[0]) == 0


def test_passages_are_apart_and_on_characters() -> None:
    grams = table(["eins zwei drei"], 3, 3)
    wanted = np.ones(len(grams.sizes), np.uint8)
    text = "é" * 50 + " eins zwei drei " + "ü" * 50 + " Eins, Zwei, Drei " + "中" * 50
    found = passages(data_of(text), fold(), grams, wanted, Cut(10, 5, 9))
    assert found is not None
    cut = [text.encode()[start:stop].decode() for start, stop in found.tolist()]
    assert cut == ["é" * 9 + " eins zwei drei " + "ü" * 9, "ü" * 9 + " Eins, Zwei, Drei " + "中" * 9]
    assert passages(data_of(text), fold(), grams, wanted, Cut(10, 5, 1)) is None
    joined = passages(data_of(text), fold(), grams, wanted, Cut(10, 33, 9))
    assert joined is not None
    assert len(joined) == 1
    apart = passages(data_of(text), fold(), grams, wanted, Cut(10, 32, 9))
    assert apart is not None
    assert len(apart) == 2


@pytest.mark.parametrize(("least", "left"), [(20, [20, 20]), (21, [0, 0]), (0, [20, 20])])
def test_short_ends_go_with_their_passage(least: int, left: list[int]) -> None:
    grams = table(["eins zwei drei"], 3, 3)
    text = "é" * 25 + " eins zwei drei " + "ü" * 25
    found = passages(data_of(text), fold(), grams, np.ones(1, np.uint8), Cut(6, least, 9))
    assert found is not None
    start, stop = found[0].tolist()
    assert [len(text.encode()[:start].decode()), len(text.encode()[stop:].decode())] == left


@given(texts, texts, st.integers(0, 5), st.integers(0, 5))
def test_passages_cover_every_n_gram(one: str, other: str, margin: int, least: int) -> None:
    grams = table(["a b", "中 9"], 2, 2)
    text = f"{one} a b {other} 中 9 {one}"
    found = passages(data_of(text), fold(), grams, np.ones(len(grams.sizes), np.uint8), Cut(margin, least, 1000))
    assert found is not None
    bounds = found.ravel().tolist()
    assert bounds == sorted(bounds)
    left = text.encode()
    for start, stop in reversed(found.tolist()):
        left = left[:start] + b"\n#\n" + left[stop:]
    assert plain.found_grams(left.decode(), {("a", "b"), ("中", "9")}) == {}
