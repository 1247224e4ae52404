"""Language: labels, the two drops, hostile text, and no dependence on the batch."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.protocol import Mapped, Mapper
from gristmill.stages.text.language import Language

ENGLISH = "The miller grinds corn in his old mill by the river every day."
FRENCH = "Le meunier moud le grain dans son vieux moulin au bord de la rivière."
CHINESE = "我们今天和孩子们一起去公园玩，天气非常好。"


def _batch(texts: Sequence[str | None]) -> pa.RecordBatch:
    langs = pa.array(["xx"] * len(texts), pa.string())
    return document_batch({"text": pa.array(texts, pa.large_string()), "lang": langs})


def _verdicts(mapped: Mapped) -> list[tuple[int, str, str]]:
    return [(v.row, v.reason, v.detail) for v in mapped.verdicts]


def test_labels_overwrite_the_column() -> None:
    mapped = Language().transform(_batch([ENGLISH, FRENCH, CHINESE]))
    assert mapped.batch.column("lang").to_pylist() == ["en", "fr", "zh"]
    assert mapped.batch.schema == _batch([]).schema
    assert _verdicts(mapped) == []
    assert (mapped.measures["lang_score"] > 0.8).all()


def test_unsure_comes_before_not_kept() -> None:
    stage = Language(keep=("en",))
    mapped = stage.transform(_batch([ENGLISH, FRENCH, "", None, " \n\t", "12345 67890"]))
    assert _verdicts(mapped) == [
        (1, "language_not_kept", "fr"),
        (2, "language_unsure", ""),
        (3, "language_unsure", ""),
        (4, "language_unsure", ""),
        (5, "language_unsure", ""),
    ]
    assert {v.reason for v in mapped.verdicts} < {r.reason for r in stage.reasons()}


def test_a_score_at_the_limit_stays() -> None:
    score = float(Language().transform(_batch([FRENCH])).measures["lang_score"][0])
    assert score == round(score, 4)
    assert not Language(min_score=score).transform(_batch([FRENCH])).verdicts
    above = Language(min_score=min(score + 0.0001, 1.0)).transform(_batch([FRENCH]))
    assert [(v.value, v.limit) for v in above.verdicts] == [(score, min(score + 0.0001, 1.0))]


def test_min_score_zero_labels_without_dropping() -> None:
    assert not Language(min_score=0.0).transform(_batch([ENGLISH, "", "12345"])).verdicts


def test_only_the_prefix_counts() -> None:
    text = FRENCH + "\n" + ENGLISH * 100
    label = [Language(prefix_chars=n).transform(_batch([text])).batch.column("lang")[0].as_py() for n in (60, 2000)]
    assert label == ["fr", "en"]


@pytest.mark.parametrize("start", ["</s> ", "</s>\n", "\n\n", "\0", "__label__zh "])
def test_a_document_does_not_choose_its_label(start: str) -> None:
    assert Language().transform(_batch([start + FRENCH])).batch.column("lang").to_pylist() == ["fr"]


@given(st.lists(st.text(max_size=60) | st.none() | st.sampled_from([ENGLISH, FRENCH]), max_size=6), st.data())
@settings(max_examples=60)
def test_a_batch_is_the_sum_of_its_slices(texts: list[str | None], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    batch, stage = _batch(texts), Language()
    whole = stage.transform(batch)
    parts = [stage.transform(batch.slice(0, cut)), stage.transform(batch.slice(cut))]
    assert whole.batch.column("lang").to_pylist() == [x for p in parts for x in p.batch.column("lang").to_pylist()]
    scores = np.concatenate([part.measures["lang_score"] for part in parts])
    np.testing.assert_array_equal(whole.measures["lang_score"], scores)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_windows_are_spread_over_the_text() -> None:
    text = ENGLISH * 40 + FRENCH * 200 + ENGLISH * 40
    three = [Language(windows=n, prefix_chars=600).transform(_batch([text])) for n in (1, 3)]
    assert three[0].measures["lang_score"][0] > three[1].measures["lang_score"][0]
    five = Language(windows=5, prefix_chars=600).transform(_batch([text]))
    assert five.batch["lang"].to_pylist() == ["fr"]


def test_a_chinese_page_with_english_menus_and_code_is_chinese() -> None:
    page = (
        "Home\nProducts\nAbout us\nContact\nSign in\n"
        + CHINESE * 3
        + "\ngit clone https://example.org/repository\n" * 2
    )
    mapped = Language().transform(_batch([page]))
    assert mapped.batch["lang"].to_pylist() == ["zh"]
    assert mapped.measures["lang_score"][0] > 0.9


def test_a_second_look_sees_the_prose_among_code() -> None:
    code = "json.dumps({'4': 5, '6': 7}, sort_keys=True, indent=4)\n>>> json.loads('[\"foo\", {\"bar\": 1.0}]')\n" * 12
    prose = "The encoder can be told to keep the order of the keys, and the result is the same for all of them. "
    alone = Language(prefix_chars=len(code)).transform(_batch([code + prose * 10]))
    assert alone.batch["lang"].to_pylist() == ["en"]
    assert alone.verdicts == ()


def test_a_label_of_another_script_is_unsure(monkeypatch: pytest.MonkeyPatch) -> None:
    def says_english(lines: Sequence[str]) -> tuple[list[str | None], np.ndarray]:
        return ["en"] * len(lines), np.full(len(lines), 0.99)

    monkeypatch.setattr("gristmill.stages.text.language.predictor", lambda: says_english)
    mapped = Language().transform(_batch([CHINESE, ENGLISH, CHINESE * 3 + ENGLISH]))
    assert mapped.measures["lang_score"].tolist()[:2] == [0.0, 0.99]
    assert _verdicts(mapped)[0] == (0, "language_unsure", "en")


BOTH = f"{ENGLISH}\n\n{ENGLISH}\n\nmenu\n\n{FRENCH}\n\nmenu\n\n{FRENCH}\n\n{ENGLISH}\n"


def test_paragraphs_are_labelled_into_the_scores() -> None:
    batch = _batch([BOTH, ENGLISH, "", None])
    mapped = Language(paragraphs="label", min_score=0).transform(batch)
    shares = dict(mapped.batch["scores"][0].as_py())
    assert set(shares) == {"language.en", "language.fr"}
    assert sum(shares.values()) == pytest.approx(1, abs=1e-3)
    assert mapped.measures["main_language_frac"].tolist()[1:] == [1.0, 1.0, 1.0]
    assert mapped.measures["main_language_frac"][0] == pytest.approx(shares["language.en"], abs=1e-4)
    assert mapped.batch["text"].equals(batch["text"])
    assert mapped.batch["scores"].to_pylist()[2:] == [None, None]
    again = Language(paragraphs="label", min_score=0).transform(mapped.batch)
    assert len(again.batch["scores"][0].as_py()) == 2


def test_paragraphs_of_other_languages_are_cut() -> None:
    mapped = Language(paragraphs="cut").transform(_batch([BOTH, FRENCH]))
    expected = f"{ENGLISH}\n\n{ENGLISH}\n\nmenu\n\n{ENGLISH}\n"
    assert mapped.batch["text"].to_pylist() == [expected, FRENCH]
    assert mapped.cut_chars["other_language"].tolist() == [len(BOTH) - len(expected), 0]
    both = Language(paragraphs="cut", keep=("en", "fr")).transform(_batch([BOTH]))
    assert both.batch["text"].to_pylist() == [BOTH]
    assert both.cut_chars == {}


def test_a_paragraph_with_a_medium_stays() -> None:
    text = f"{ENGLISH}\n\n{FRENCH} \ufffc\n\n{ENGLISH}"
    assert Language(paragraphs="cut").transform(_batch([text])).batch["text"].to_pylist() == [text]


def test_mixed_documents_are_dropped_below_the_limit() -> None:
    frac = float(Language(paragraphs="label").transform(_batch([BOTH])).measures["main_language_frac"][0])
    kept = Language(paragraphs="label", min_main_frac=frac).transform(_batch([BOTH]))
    assert kept.verdicts == ()
    gone = Language(paragraphs="cut", min_main_frac=frac + 0.01).transform(_batch([BOTH]))
    assert [(v.reason, v.value, v.detail) for v in gone.verdicts] == [("language_mixed", frac, "en")]
    assert gone.cut_chars == {}


@given(st.lists(st.sampled_from([ENGLISH, FRENCH, CHINESE, "x", "\n", "\n\n", " \n", "\ufffc", "\r\n"]), max_size=12))
@settings(max_examples=60, deadline=None)
def test_characters_balance_when_paragraphs_are_cut(parts: list[str]) -> None:
    text = "".join(parts)
    mapped = Language(paragraphs="cut", min_score=0).transform(_batch([text]))
    after = mapped.batch["text"][0].as_py()
    assert len(text) == len(after) + int(sum(c[0] for c in mapped.cut_chars.values()))
    assert after.count("\ufffc") == text.count("\ufffc")
    assert 0 <= mapped.measures["main_language_frac"][0] <= 1


def test_is_a_mapper() -> None:
    assert isinstance(Language(), Mapper)


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"keep": ("english",)}, "unknown language"),
        ({"min_score": 1.1}, "probability"),
        ({"prefix_chars": 0}, "positive"),
        ({"windows": 0}, "positive"),
        ({"paragraphs": "all"}, "unknown choice"),
        ({"min_main_frac": 1.5, "paragraphs": "cut"}, "probability"),
        ({"min_main_frac": 0.5}, "not judged"),
    ],
)
def test_wrong_parameters_are_refused(params: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Language(**params)  # pyright: ignore[reportArgumentType]
