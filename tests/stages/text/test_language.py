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
        (5, "language_unsure", "en"),
    ]
    assert {v.reason for v in mapped.verdicts} == {r.reason for r in stage.reasons()}


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


def test_is_a_mapper() -> None:
    assert isinstance(Language(), Mapper)


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"keep": ("english",)}, "unknown language"),
        ({"min_score": 1.1}, "probability"),
        ({"prefix_chars": 0}, "positive"),
    ],
)
def test_wrong_parameters_are_refused(params: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Language(**params)  # pyright: ignore[reportArgumentType]
