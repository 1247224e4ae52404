"""Gopher's quality rules: each at, above and below its limit; the faults that we mend; all ratios in [0, 1]."""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Filter
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.stop_words import LATIN_SCRIPT

ENGLISH = "The mill of the miller grinds corn and that is what it has been made to be with water"
FRENCH = "Le moulin du meunier est dans la vallée et les enfants jouent avec des pierres une fois encore"
CHINESE = "磨坊里的磨坊主每天都在磨面粉，孩子们在河边玩耍。"
RUSSIAN = "Мельница стоит на реке и работает не только для мельника, что известно как в деревне, так и за рекой"
KOREAN = "방앗간은 강가에 있는 오래된 건물이며 그 마을의 사람들은 이 곳에서 곡식을 빻을 수 있다"
THAI = "โรงสีข้าวอยู่ในหมู่บ้านริมแม่น้ำ"
HOSTILE = st.text(st.sampled_from("aZé1'.,-#…•\n\r\u2028 中ก\u0301\ufffc\0😀"), max_size=40) | st.text(max_size=40)


def _batch(texts: Sequence[str | None], lang: str | None = None) -> pa.RecordBatch:
    langs = pa.array([lang] * len(texts), pa.string())
    return document_batch({"text": pa.array(texts, pa.large_string()), "lang": langs})


def _reason(text: str | None, stage: GopherQuality | None = None, lang: str | None = None) -> str:
    fates = run_chain([stage or GopherQuality()], _batch([text], lang)).fates
    return fates[0].reason if fates else ""


def _measures(text: str, lang: str | None = None) -> dict[str, float]:
    return {name: float(values[0]) for name, values in GopherQuality().measure(_batch([text], lang)).items()}


def _words(count: int, word: str = "corn") -> str:
    return " ".join(["the", "mill", "and", *[word] * count][:count])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_words(49), "gopher_short_doc"),
        (_words(50), ""),
        (_words(48) + " (https://corn.org/a/b-c?d=e)", "gopher_short_doc"),
        (_words(49) + " (https://corn.org/a/b-c?d=e)", ""),
        (_words(48) + " corn-field", ""),
        (_words(49) + " corn_field · # | \U0001f33d", ""),
        (_words(48) + " corn@field.org · # | \U0001f33d", "gopher_short_doc"),
        (_words(200, "a"), "gopher_below_avg_threshold"),
        (_words(200, "abc"), ""),
        (_words(200, "abcdefghijk"), "gopher_above_avg_threshold"),
        (_words(200, "abcdefghij"), ""),
        (_words(90) + " #" * 11, "gopher_too_many_hashes"),
        (_words(90) + " #" * 10, ""),
        (_words(90) + " ####" + " #" * 7, "gopher_too_many_hashes"),
        (_words(90) + " ... a" * 12, "gopher_too_many_ellipsis"),
        (_words(90) + "\n… b" * 10, ""),
        ("\n".join(["- " + _words(9)] * 10), "gopher_too_many_bullets"),
        ("\n".join(["- " + _words(9)] * 9 + [_words(9)]), ""),
        ("\n".join([" \u2022 " + _words(9)] * 10), "gopher_too_many_bullets"),
        ("\n".join([_words(20) + "... "] * 4 + [_words(20)] * 6), "gopher_too_many_end_ellipsis"),
        ("\n".join([_words(20) + "…"] * 3 + [_words(20)] * 7), ""),
        ("\n".join([_words(20) + ". .."] * 10), ""),
        (_words(79) + " 12345" * 21, "gopher_below_alpha_threshold"),
        (_words(80) + " 12345" * 20, ""),
        (_words(80) + " 12345" * 20 + " ; , . !" * 30, ""),
        ("corn " * 99 + "the", "gopher_enough_stop_words"),
        ("corn " * 99 + "the the THE The", "gopher_enough_stop_words"),
        ("corn " * 99 + "the WITH", ""),
        ("", "gopher_short_doc"),
        (None, "gopher_short_doc"),
        (" \n\u3000", "gopher_short_doc"),
    ],
)
def test_each_rule_at_its_limit(text: str | None, reason: str) -> None:
    assert _reason(text, lang="en") == reason


def test_reasons_come_in_order_and_with_value_and_limit() -> None:
    fates = run_chain([GopherQuality()], _batch(["# 1 ..."])).fates
    assert [(f.reason, f.measure, f.value, f.limit) for f in fates] == [("gopher_short_doc", "words", 1.0, 50.0)]


def test_long_documents_stay_unless_asked() -> None:
    text = _words(150_000)
    assert _reason(text) == ""
    assert _reason(text, GopherQuality(max_doc_words=100_000)) == "gopher_long_doc"


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_a_rule_that_is_off_divides_by_nothing(text: str) -> None:
    """datatrove#71 and M24: `min_doc_words=None` on an empty text raised ZeroDivisionError."""
    assert _reason(text, GopherQuality(min_doc_words=None)) == "gopher_below_alpha_threshold"
    bare = GopherQuality(min_doc_words=None, min_alpha_words_ratio=None, min_stop_words=None)
    assert _reason(text, bare) == ""


@pytest.mark.parametrize(("text", "lang"), [(FRENCH, "fr"), (FRENCH, None), (CHINESE, "zh"), (CHINESE, None)])
def test_no_language_goes_for_want_of_english(text: str, lang: str | None) -> None:
    assert _reason(" ".join([text] * 4), lang=lang) == ""


@pytest.mark.parametrize(("text", "lang"), [(RUSSIAN, "ru"), (KOREAN, "ko"), (RUSSIAN, None), (KOREAN, None)])
def test_stop_words_of_other_scripts(text: str, lang: str | None) -> None:
    assert _measures(text, lang)["stop_words"] >= 2
    assert _reason(" ".join([text] * 4), lang=lang) == ""
    assert _reason("мельницы " * 99, lang="ru") == "gopher_enough_stop_words"


def test_limits_of_other_languages_are_theirs() -> None:
    long_words = " ".join(["der", "und", *["Donaudampfer"] * 60])
    assert _measures(long_words, "de")["mean_word_chars"] > 11
    assert _reason(long_words, lang="de") == ""
    assert _reason(long_words, GopherQuality(by_language=False), lang="de") == "gopher_above_avg_threshold"
    assert _reason(long_words, lang="en") == "gopher_above_avg_threshold"
    profiles = GopherQuality().profiles(_batch([long_words, long_words], "de_DE"))
    assert list(profiles) == ["de", "de"]


def test_where_nothing_tells_the_language_any_latin_list_will_do() -> None:
    assert _reason("xqz " * 99) == "gopher_enough_stop_words"
    assert math.isnan(_measures("xqz " * 99, "eo")["stop_words"])


@pytest.mark.parametrize("text", [CHINESE * 4, THAI * 4, f"{CHINESE} GPU 3 a " * 4])
def test_scripts_without_spaces_are_not_short(text: str) -> None:
    assert _reason(text) == ""
    assert _measures(text)["words"] >= 50


def test_french_marked_english_goes() -> None:
    assert _reason(" ".join([FRENCH] * 4), lang="en") == "gopher_enough_stop_words"


def test_word_length_is_of_runs_alone() -> None:
    assert _measures("abcd 中文")["mean_word_chars"] != 4
    assert math.isnan(_measures("abcd 中文")["mean_word_chars"])
    assert _measures("abcd ef 中文")["mean_word_chars"] == 3
    assert math.isnan(_measures("...")["mean_word_chars"])


def test_a_picture_s_place_is_no_token() -> None:
    assert _measures("one\ufffctwo")["words"] == 2
    assert _measures("one\ufffctwo")["alpha_frac"] == 1


@given(st.lists(HOSTILE | st.none(), max_size=6), st.sampled_from([None, "en", "fr"]))
def test_measures_are_total_and_ratios_are_ratios(texts: list[str | None], lang: str | None) -> None:
    stage = GopherQuality()
    measures = stage.measure(_batch(texts, lang))
    assert {rule.measure for rule in stage.rules()} <= set(measures)
    for name, values in measures.items():
        assert values.dtype == np.float64
        assert len(values) == len(texts)
        if name.endswith("_frac"):
            assert ((values >= 0) & (values <= 1)).all(), name


@given(st.lists(HOSTILE | st.none(), max_size=6), st.data())
def test_a_batch_is_the_sum_of_its_slices(texts: list[str | None], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    batch, stage = _batch(texts), GopherQuality()
    whole = stage.measure(batch)
    parts = [stage.measure(batch.slice(0, cut)), stage.measure(batch.slice(cut))]
    for name in whole:
        np.testing.assert_array_equal(whole[name], np.concatenate([part[name] for part in parts]))


def test_is_a_filter_with_datatrove_s_reasons() -> None:
    assert isinstance(GopherQuality(), Filter)
    assert {rule.reason for rule in GopherQuality(max_doc_words=9).rules()} == {
        "gopher_short_doc",
        "gopher_long_doc",
        "gopher_below_avg_threshold",
        "gopher_above_avg_threshold",
        "gopher_too_many_hashes",
        "gopher_too_many_ellipsis",
        "gopher_too_many_bullets",
        "gopher_too_many_end_ellipsis",
        "gopher_below_alpha_threshold",
        "gopher_enough_stop_words",
    }


@pytest.mark.parametrize("params", [{"max_symbol_word_ratio": 1.5}, {"min_doc_words": -1}])
def test_impossible_limits_are_refused(params: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        GopherQuality(**params)  # pyright: ignore[reportArgumentType]


def test_stop_word_lists_are_eight_distinct_words() -> None:
    for words in LATIN_SCRIPT.values():
        assert len(set(words)) == 8
        assert all(word == word.lower() for word in words)
