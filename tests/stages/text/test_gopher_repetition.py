"""Gopher's repetition rules: each at, above and below its limit; all ratios in [0, 1]; engines' slices agree."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.catalogue import load
from gristmill.stages.chain import run_chain
from gristmill.stages.kernels import segments
from gristmill.stages.protocol import Filter
from gristmill.stages.text.gopher_repetition import GopherRepetition

HOSTILE = st.lists(
    st.sampled_from(
        ["a", "b ", "ab", "c. ", "\n", "\r\n", "\n\n", " ", "中", "\u0301", "\ufffc", "\0", "a b c d e f "]
    ),
    max_size=60,
).map("".join) | st.text(max_size=40)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Kernels are compiled outside the timed part of a test."""
    GopherRepetition().prepare()


def _batch(texts: Sequence[str | None], lang: str | None = None) -> pa.RecordBatch:
    langs = pa.array([lang] * len(texts), pa.string())
    return document_batch({"text": pa.array(texts, pa.large_string()), "lang": langs})


def _reason(text: str | None, **params: Any) -> str:
    fates = run_chain([GopherRepetition(**params)], _batch([text])).fates
    return fates[0].reason if fates else ""


def _measures(text: str) -> dict[str, float]:
    return {name: float(values[0]) for name, values in GopherRepetition().measure(_batch([text])).items()}


def _prose(words: int, seed: int = 0) -> str:
    """Words that never come again."""
    return " ".join(f"w{seed}x{i}" for i in range(words))


def _lines(distinct: int, again: int, separator: str = "\n") -> str:
    lines = [f"line{i} {_prose(3, i)}" for i in range(distinct)]
    return separator.join([*lines, *["x"] * (again + 1)][: distinct + again + 1])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (None, "empty"),
        (" \n\u3000\r\n", "empty"),
        ("x", ""),
        ("Alpha bravo charlie delta echo foxtrot", ""),
        (_lines(6, 3, "\n\n"), ""),
        (_lines(6, 4, "\n\n"), "dup_para_frac"),
        (_lines(6, 3), ""),
        (_lines(6, 4), "dup_line_frac"),
        (_prose(90) + "\n\n" + "\n\n".join([_prose(9, 1)] * 4), "dup_para_frac"),
        (_prose(40) + "\n\na\n\nb\n\nc\n\n" + "\n\n".join([_prose(20, 1)] * 2), "dup_para_char_frac"),
        (_prose(90) + "\n\na\n\nb\n\nc\n\n" + "\n\n".join([_prose(9, 1)] * 2), ""),
        (_prose(40) + "\na\nb\nc\n" + "\n".join([_prose(20, 1)] * 2), "dup_line_char_frac"),
        ("of the " * 3 + _prose(20), ""),
        (_prose(20) + "".join(f" of the {i}" for i in range(40)), "top_2_gram"),
    ],
)
def test_each_kind_of_rule(text: str | None, reason: str) -> None:
    assert _reason(text) == reason


@pytest.mark.parametrize("n", [2, 3, 4])
def test_top_n_grams_at_their_limit(n: int) -> None:
    gram = " ".join("abcd"[:n])
    text = f"{gram} {'x' * 5} {gram} {'y' * 10}"
    value = 2 * len(gram) / len(text)
    assert _measures(text)[f"top_{n}_gram_frac"] == value
    alone: dict[str, Any] = {"dup_n_grams": ()}
    assert _reason(text, top_n_grams=((n, value),), **alone) == ""
    assert _reason(text, top_n_grams=((n, value - 1e-9),), **alone) == f"top_{n}_gram"


@pytest.mark.parametrize("n", range(5, 11))
def test_duplicate_n_grams_at_their_limit(n: int) -> None:
    gram = _prose(n)
    text = f"{gram} {_prose(3, 1)} {gram} {_prose(40, 2)}"
    value = (len(gram) - n + 1) / len(text)
    assert _measures(text)[f"dup_{n}_gram_frac"] == value
    assert _measures(text)[f"dup_{min(n + 1, 10)}_gram_frac"] == (0 if n < 10 else value)
    alone: dict[str, Any] = {"top_n_grams": ()}
    assert _reason(text, dup_n_grams=((n, value),), **alone) == ""
    assert _reason(text, dup_n_grams=((n, value - 1e-9),), **alone) == f"duplicated_{n}_n_grams"


def test_order_of_rules_is_datatrove_s() -> None:
    assert [rule.reason for rule in GopherRepetition().rules()] == [
        "empty",
        "dup_para_frac",
        "dup_para_char_frac",
        "dup_line_frac",
        "dup_line_char_frac",
        *(f"top_{n}_gram" for n in (2, 3, 4)),
        *(f"duplicated_{n}_n_grams" for n in range(5, 11)),
    ]


def test_limits_are_those_of_the_paper() -> None:
    limits = {rule.measure: rule.limit for rule in GopherRepetition().rules()}
    assert [limits[f"dup_{unit}"] for unit in ("line_frac", "para_frac", "line_char_frac", "para_char_frac")] == [
        0.3,
        0.3,
        0.2,
        0.2,
    ]
    assert [limits[f"top_{n}_gram_frac"] for n in (2, 3, 4)] == [0.2, 0.18, 0.16]
    assert [limits[f"dup_{n}_gram_frac"] for n in range(5, 11)] == [0.15, 0.14, 0.13, 0.12, 0.11, 0.10]


def test_many_short_paragraphs_stay() -> None:
    """datatrove, mended 2024-04-26: documents with many paragraphs went for repetition."""
    assert _reason("\n\n".join(f"p{i} q{i}" for i in range(50))) == ""


def test_overlapping_occurrences_count_each_character_once() -> None:
    assert _measures("la " * 30 + "x")["top_2_gram_frac"] == pytest.approx(89 / 91)


def test_rules_can_be_turned_off() -> None:
    off: dict[str, Any] = dict.fromkeys(("dup_line_frac", "dup_para_frac", "dup_line_char_frac", "dup_para_char_frac"))
    assert _reason("x\n\n" * 9, **off, top_n_grams=(), dup_n_grams=()) == ""
    assert len(GopherRepetition(**off, top_n_grams=(), dup_n_grams=()).rules()) == 1


@given(st.lists(HOSTILE | st.none(), max_size=6))
def test_measures_are_total_and_ratios_are_ratios(texts: list[str | None]) -> None:
    stage = GopherRepetition()
    measures = stage.measure(_batch(texts))
    assert {rule.measure for rule in stage.rules()} == set(measures)
    for name, values in measures.items():
        assert values.dtype == np.float64
        assert len(values) == len(texts)
        if name.endswith("_frac"):
            assert ((values >= 0) & (values <= 1)).all(), name


@given(st.lists(HOSTILE | st.none(), max_size=6), st.data())
def test_a_batch_is_the_sum_of_its_slices(texts: list[str | None], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    batch, stage = _batch(texts), GopherRepetition()
    whole = stage.measure(batch)
    parts = [stage.measure(batch.slice(0, cut)), stage.measure(batch.slice(cut))]
    for name in whole:
        np.testing.assert_array_equal(whole[name], np.concatenate([part[name] for part in parts]))


def test_a_row_in_pieces_is_within_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "to be or not to be, that is the question. " * 40
    whole = _measures(text)
    monkeypatch.setattr(segments, "PART_BYTES", 420)
    pieces = _measures(text)
    for name in ("top_2_gram_frac", "dup_5_gram_frac"):
        assert 0.5 * whole[name] < pieces[name] <= whole[name]


def test_limits_of_other_languages_are_theirs() -> None:
    text = "\n".join([f"zeile{i} wort{i * i}" for i in range(18)] + ["x"] * 8)
    value = _measures(text)["dup_line_frac"]
    assert 0.26 < value < 0.3

    def reason(lang: str, stage: GopherRepetition) -> str:
        fates = run_chain([stage], _batch([text], lang)).fates
        return fates[0].reason if fates else ""

    assert reason("de", GopherRepetition()) == "dup_line_frac"
    assert reason("de", GopherRepetition(by_language=False)) == reason("en", GopherRepetition()) == ""


def test_chinese_has_no_limits_on_n_grams_of_characters() -> None:
    text = "".join(f"磨坊主{chr(0x4E00 + i)}" for i in range(60))
    assert _measures(text)["top_2_gram_frac"] > 0.2
    assert _reason(text) == ""
    assert _reason(text, by_language=False) == "top_2_gram"


def test_is_a_filter_that_a_recipe_can_set() -> None:
    assert isinstance(GopherRepetition(), Filter)
    made = load("gopher_repetition", {"dup_line_frac": None, "top_n_grams": [[2, 0.5]]}, Path())
    assert made == GopherRepetition(dup_line_frac=None, top_n_grams=((2, 0.5),))


@pytest.mark.parametrize(
    "params",
    [
        {"dup_line_frac": 1.5},
        {"top_n_grams": ((2, -0.1),)},
        {"dup_n_grams": ((1, 0.1),)},
        {"top_n_grams": ((2, 0.1),) * 2},
    ],
)
def test_impossible_limits_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        GopherRepetition(**params)
