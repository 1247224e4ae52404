"""Measures are datatrove's raw statistics, recomputed here with its own functions."""

import re
from collections.abc import Mapping
from statistics import fmean

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.protocol import Floats
from gristmill.stages.text.compat import spans
from gristmill.stages.text.compat.datatrove_chars import PUNCTUATION, TERMINAL_PUNCTUATION
from gristmill.stages.text.compat.measures import compat_fineweb, compat_quality, compat_repetition
from gristmill.stages.text.gopher_quality import GopherQuality
from tests.stages.text.compat.documents import documents
from tests.stages.text.compat.reference import MARKS, SPACES, WORDS, spacy_words

theirs = pytest.importorskip("datatrove.pipeline.filters.gopher_repetition_filter")
quality = pytest.importorskip("datatrove.pipeline.filters.gopher_quality_filter")
their_text = pytest.importorskip("datatrove.utils.text")

TOP, DUPLICATED = (2, 3, 4), (5, 6, 7, 8, 9, 10)
CRAFTED = [
    "",
    " ",
    "\n\n",
    "Alpha bravo charlie delta echo foxtrot",
    "ab c zz a bc " * 3,
    "one\r\n\r\ntwo\r\n\r\none\r\n\r\ntwo",
    "same line\nsame line\n\nsame line\n\n\nother\n",
    "\n\nlead and trail\n\n",
    "• one\n  - two\n-three\nfour... \nfive…\n.....",
    "the The THE of be be that and have with to",
    "#a##b #c ... .... ...... … a...b",
    "la la la la la la la la la la la la",
    "x. y. x. y. x. y. x. y.\nx. y.",
    "tab\there\x0bvertical\x0cform\x1cfile\u2028line\x85next ",
    "。？ plain 中文。\nsecond line?\n",
    "a b a b c d c d",
]


def column(texts: list[str]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def their_quality(text: str) -> dict[str, float]:
    words = spacy_words().word_tokenize(text)
    kept = [w for w in words if any(ch not in their_text.PUNCTUATION_SET for ch in w)]
    lines = text.splitlines()
    n, n_lines = max(len(words), 1), max(len(lines), 1)
    return {
        "words": len(kept),
        "mean_word_chars": fmean(map(len, kept)) if kept else float("nan"),
        "hash_frac": min(text.count("#") / n, 1.0),
        "ellipsis_frac": min((text.count("...") + text.count("…")) / n, 1.0),
        "bullet_line_frac": sum(s.lstrip().startswith(("•", "-")) for s in lines) / n_lines,
        "ellipsis_line_frac": sum(s.rstrip().endswith(("...", "…")) for s in lines) / n_lines,
        "alpha_frac": sum(any(c.isalpha() for c in w) for w in words) / n,
        "stop_words": len(set(quality.STOP_WORDS) & set(words)),
    }


def their_repetition(text: str) -> dict[str, float]:
    words, chars = spacy_words().word_tokenize(text), max(len(text), 1)
    paras, lines = re.split(r"\n{2,}", text.strip()), re.split(r"\n+", text)
    dup_paras, dup_para_chars = theirs.find_duplicates(paras)
    dup_lines, dup_line_chars = theirs.find_duplicates(lines)
    grams = {n: theirs.get_n_grams(words, n) for n in TOP}
    return {
        "lines": len(lines) if text else 0,
        "dup_para_frac": dup_paras / len(paras),
        "dup_para_char_frac": dup_para_chars / chars,
        "dup_line_frac": dup_lines / len(lines),
        "dup_line_char_frac": dup_line_chars / chars,
        **{
            f"top_{n}_gram_frac": min(theirs.find_top_duplicate(grams[n]) / chars, 1.0) if grams[n] else 0.0
            for n in TOP
        },
        **{f"dup_{n}_gram_frac": theirs.find_all_duplicate(words, n) / chars for n in DUPLICATED},
    }


def their_fineweb(text: str) -> dict[str, float]:
    lines = [line for line in text.split("\n") if line.strip() != ""]
    n, chars = max(len(lines), 1), max(len(text.replace("\n", "")), 1)
    words = max(len(spacy_words().word_tokenize(text)), 1)
    return {
        "lines": len(lines),
        "line_punct_frac": sum(line.endswith(tuple(their_text.TERMINAL_PUNCTUATION)) for line in lines) / n,
        "short_line_frac": sum(len(line) <= 30 for line in lines) / n,
        "char_dup_frac": theirs.find_duplicates(lines)[1] / chars,
        "new_line_frac": min(text.count("\n") / words, 1.0),
    }


def check(texts: list[str]) -> None:
    """All measures of all texts, exactly."""
    text = column(texts)
    found: tuple[tuple[Mapping[str, Floats], list[dict[str, float]]], ...] = (
        (compat_quality(text), [their_quality(one) for one in texts]),
        (compat_repetition(text, TOP, DUPLICATED), [their_repetition(one) for one in texts]),
        (compat_fineweb(text, None, 30, False), [their_fineweb(one) for one in texts]),
    )
    for ours, wanted in found:
        assert set(ours) == set(wanted[0])
        for name, values in ours.items():
            np.testing.assert_array_equal(values, np.array([row[name] for row in wanted], dtype=np.float64), name)


def test_crafted_texts() -> None:
    check(CRAFTED)


def test_real_documents() -> None:
    check([text[:1500] for text in documents(120)])


@given(
    st.lists(
        st.lists(st.sampled_from([*WORDS[:4], "a", "b", "ab", ".", "...", "#", *SPACES, "\n\n", "-", "•", "…"])).map(
            "".join
        ),
        max_size=3,
    )
)
def test_mixtures(texts: list[str]) -> None:
    if texts:
        check(texts)


def test_a_text_in_pieces_has_the_same_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "first short one",
        "some words that come again, some words that come again\nand some do not.\n" * 30,
        "",
        "z",
    ]
    text = column(texts)
    whole = compat_quality(text), compat_repetition(text, TOP, DUPLICATED)
    monkeypatch.setattr(spans, "PART_BYTES", 100)
    text = column(texts)
    pieces = compat_quality(text), compat_repetition(text, TOP, DUPLICATED)
    for one, other in zip(whole, pieces, strict=True):
        for name in one:
            np.testing.assert_array_equal(one[name], other[name], name)


def test_the_faults_stay() -> None:
    repeated = compat_repetition(column(["Alpha bravo charlie delta echo foxtrot", "ab c zz a bc"]), (2,), (2,))
    assert repeated["top_2_gram_frac"][0] > 0.2  # M23: it occurs once
    assert repeated["dup_2_gram_frac"][1] == 3 / 12  # M26: "ab" "c" is "a" "bc"


def test_no_words_where_datatrove_raises() -> None:
    """M24: its min_doc_words=None divides by nothing."""
    found = compat_quality(column(["", " \n"]))
    assert all(rule.limit >= 0 for rule in GopherQuality(min_doc_words=None, words="compat").rules())
    assert np.isnan(found["mean_word_chars"]).all()
    assert all((found[name] == 0).all() for name in found if name != "mean_word_chars")


def test_characters_are_datatroves() -> None:
    assert PUNCTUATION == their_text.PUNCTUATION_SET
    assert TERMINAL_PUNCTUATION == their_text.TERMINAL_PUNCTUATION


def test_unicode_marks() -> None:
    check(["".join(MARKS), " ".join(MARKS), "\n".join(MARKS)])
