"""Profiles: by tag, by script, by stop words; limits that a stage can use."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.schema import document_batch
from gristmill.stages.kernels.stop_table import MAX_WORD_BYTES
from gristmill.stages.text.language_profiles import (
    SPACELESS,
    by_profile,
    code_of,
    limits,
    profile_of,
    profiles,
    stop_words,
)

WANTED = [
    "en",
    "fr",
    "de",
    "es",
    "it",
    "pt",
    "nl",
    "pl",
    "ru",
    "zh",
    "ja",
    "ko",
    "ar",
    "hi",
    "tr",
    "vi",
    "cs",
    "sv",
    "uk",
    "fa",
    "th",
]
SENTENCES = {
    "en": "The miller grinds the corn of the village and has to be up with the sun.",
    "fr": "Le meunier moud le grain dans son vieux moulin, et la rivière est une voisine.",
    "de": "Der Müller mahlt das Korn und die Mühle ist nicht weit von dem Dorf.",
    "es": "El molinero muele el grano de la aldea para los vecinos que viven por la orilla.",
    "it": "Il mugnaio macina il grano che arriva per il mulino, e non sono pochi.",
    "pt": "O moleiro mói os grãos dos vizinhos com uma mó que não pára.",
    "nl": "De molenaar maalt het koren van het dorp met een oude molen, dat is niet ver.",
    "pl": "Młynarz nie śpi, bo młyn jest na rzece i że woda się nie zatrzyma.",
    "cs": "Mlynář mele na mlýně, který je u řeky, nebo se dívá, jako by spal.",
    "sv": "Mjölnaren maler och det är inte långt till en kvarn som står för sig.",
    "no": "Mølleren maler og det er ikke langt til elven, som ble en del av den.",
    "da": "Mølleren maler, og det er ikke langt til åen, som blev en del af den.",
    "tr": "Değirmenci bir köy için çalışır ve bu iş daha zor olarak bilinir.",
    "vi": "Người thợ xay là một người không giàu và có nhà của mình.",
    "ru": "Мельник не спит, и на реке стоит мельница, как для него построенная.",
    "uk": "Мельник не спить, що є дивом для всіх, і як то є до ранку.",
    "bg": "Мелничарят се труди на реката от сутрин и по залез, като за себе си.",
    "el": "Ο μυλωνάς και το ποτάμι του χωριού για να αλέθει.",
    "ar": "الطحان في القرية من زمن بعيد، على النهر ما زال هذا الطاحون",
    "fa": "آسیابان در روستا از صبح به کار است که این آسیاب را با آب",
    "he": "הטוחן של הכפר לא ישן, הוא עובד על הנהר עם בנו",
    "hi": "गाँव के लोग चक्की पर आते हैं और यह चक्की की बात है",
    "zh": "磨坊主每天在河边的老磨坊里磨玉米。",
    "ja": "粉屋は毎日、川のほとりの古い水車小屋でとうもろこしを挽いている。",
    "ko": "방앗간 주인은 매일 강가에서 곡식을 빻는다.",
    "th": "คนโม่แป้งทำงานทุกวันที่โรงสีริมแม่น้ำ",
}


def _profile(text: str | None, lang: str | None = None) -> str:
    return _profiles([text], [lang])[0]


def _profiles(texts: list[str | None], langs: list[str | None]) -> list[str]:
    return profile_of(
        document_batch({"text": pa.array(texts, pa.large_string()), "lang": pa.array(langs, pa.string())})
    )


def test_the_languages_that_are_asked_for() -> None:
    assert set(WANTED) <= set(profiles())
    assert profiles()[0] == "en"


@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_without_a_tag_has_its_profile(code: str) -> None:
    assert _profile(SENTENCES[code]) == code


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("zh-TW", "zh"),
        ("pt_BR", "pt"),
        ("eng", "en"),
        ("en-US", "en"),
        ("EN", "en"),
        (" fr ", "fr"),
        ("zh-Hant-HK", "zh"),
        ("nb", "no"),
        ("eu", ""),
        ("ltz", ""),
        ("", None),
        (None, None),
        ("und", None),
        ("english", None),
        ("x" * 1000, None),
    ],
)
def test_tags(tag: str | None, code: str | None) -> None:
    assert code_of(tag) == code


def test_the_tag_goes_before_the_text_and_an_unknown_one_does_not() -> None:
    assert _profile(SENTENCES["fr"], "zh-TW") == "zh"
    assert _profile(SENTENCES["fr"], "eu") == ""
    assert _profile(SENTENCES["fr"], "und") == "fr"


@pytest.mark.parametrize("text", ["", None, "123 ...", "zyx wvu tsr", "the", "ქართული ენა", "Монгол хэл"])
def test_no_evidence_no_profile(text: str | None) -> None:
    assert _profile(text) == ""


def test_two_stop_words_are_the_boundary() -> None:
    assert _profile("the xyzzy plugh") == ""
    assert _profile("the xyzzy of plugh") == "en"


@pytest.mark.parametrize("kana", [4, 5, 6])
def test_kana_make_japanese_from_a_twentieth(kana: int) -> None:
    assert _profile("漢" * (100 - kana) + "の" * kana) == ("ja" if kana > 5 else "zh")


@given(st.lists(st.text(max_size=50) | st.none() | st.sampled_from(list(SENTENCES.values())), max_size=6), st.data())
@settings(max_examples=50)
def test_a_batch_is_the_sum_of_its_slices(texts: list[str | None], data: st.DataObject) -> None:
    langs = [data.draw(st.sampled_from([None, "fr", "zh-TW", "\x00"])) for _ in texts]
    assert _profiles(texts, langs) == [_profiles([t], [tag])[0] for t, tag in zip(texts, langs, strict=True)]


@pytest.mark.parametrize("code", profiles())
def test_limits_and_words_of_each_profile(code: str) -> None:
    for name, limit in limits(code).items():
        if limit is not None and not name.endswith("word_length") and name != "min_stop_words":
            assert 0 <= limit <= 1, name
    low, high = (limits(code).get(f"{end}_avg_word_length") for end in ("min", "max"))
    assert (low is None) == (high is None)
    assert low is None or high is None or low <= 3 < high
    assert all(0 < len(word.encode()) <= MAX_WORD_BYTES and word == word.lower() for word in stop_words(code))
    assert len(stop_words(code)) == (0 if code in SPACELESS else 8)


def test_chinese_is_not_held_against_words_with_spaces() -> None:
    asked = limits("zh")
    assert asked["max_avg_word_length"] is None
    assert asked["min_stop_words"] is None
    assert asked["top_2_gram"] is None
    assert [asked["dup_9_gram"], asked["dup_10_gram"]] == [None, 0.3]
    assert asked["dup_line_frac"] == 0.287


def test_english_keeps_what_a_stage_says() -> None:
    assert dict(limits("en")) == {"min_stop_words": 2.0}
    assert dict(limits("")) == {}


def test_by_profile_is_what_a_rule_takes() -> None:
    found = by_profile("max_avg_word_length")
    assert found["de"] == 15
    assert found["zh"] is None
    assert "en" not in found
    assert by_profile("no_such_parameter") == {}


@pytest.mark.parametrize("call", [limits, stop_words])
def test_what_is_no_profile_is_refused(call: object) -> None:
    with pytest.raises(KeyError):
        call("xx")  # type: ignore[operator]
