"""`@doc_filter`: the design's example as it stands, columns by name, limits, and what a failing function costs."""

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages import doc_filter
from gristmill.stages.chain import run_chain
from gristmill.stages.doc_filter import DocFilter
from gristmill.stages.protocol import Filter, Mapper

Measures = dict[str, float | None]


@doc_filter(drop_above={"upper_frac": 0.3})
def shouting(text: str) -> Measures:
    """Documents written mostly in capitals.

    More that nobody lists.
    """
    letters = [c for c in text if c.isalpha()]
    return {"upper_frac": sum(c.isupper() for c in letters) / max(len(letters), 1)}


def _batch(texts: list[str | None], **columns: list[str | None]) -> pa.RecordBatch:
    return document_batch(
        {"text": pa.array(texts, pa.large_string())} | {k: pa.array(v, pa.string()) for k, v in columns.items()}
    )


def _fates(stage: DocFilter, batch: pa.RecordBatch) -> list[tuple[int, str, str]]:
    return [(f.row, f.verdict, f.reason) for f in run_chain([stage], batch).fates]  # pyright: ignore[reportArgumentType]


def test_the_example_of_the_design() -> None:
    batch = _batch(["HELLO there", "hello There", "", None])
    (fate,) = run_chain([shouting], batch).fates  # pyright: ignore[reportArgumentType]
    assert (fate.row, fate.verdict, fate.reason) == (0, "drop", "upper_frac_above")
    assert (fate.measure, fate.value, fate.limit) == ("upper_frac", 0.5, 0.3)
    np.testing.assert_array_equal(shouting.measure(batch)["upper_frac"], [0.5, 0.1, 0, 0])


def test_it_says_what_it_is() -> None:
    assert (shouting.name, shouting.doc) == ("shouting", "Documents written mostly in capitals.")
    assert shouting.columns == ("text",)
    assert [(r.measure, r.direction, r.limit) for r in shouting.rules()] == [("upper_frac", "above", 0.3)]
    assert isinstance(shouting, Filter)
    assert isinstance(shouting, Mapper)


def test_it_still_is_the_function() -> None:
    assert shouting("Ab") == {"upper_frac": 0.5}


def test_a_limit_itself_is_not_over_it() -> None:
    @doc_filter(drop_above={"n": 2}, drop_below={"n": 1})
    def size(text: str) -> Measures:
        return {"n": len(text)}

    assert _fates(size, _batch(["", "a", "ab", "abc"])) == [(0, "drop", "n_below"), (3, "drop", "n_above")]


def test_other_columns_come_by_name() -> None:
    seen: list[tuple[object, ...]] = []

    @doc_filter(drop_above={"n": 1})
    def looks(url: str | None, text: str, meta: str | None, scale: int = 3) -> Measures:
        seen.append((url, text, meta, scale))
        return {"n": 0}

    _fates(looks, _batch(["a", None], url=["u", None]))
    assert seen == [("u", "a", None, 3), (None, "", None, 3)]


@pytest.mark.parametrize("value", [None, math.nan, np.nan])
def test_nothing_measured_never_drops(value: float | None) -> None:
    @doc_filter(drop_above={"x": 0}, drop_below={"x": 1})
    def unsure(text: str) -> Measures:
        return {"x": value}

    assert _fates(unsure, _batch(["a"])) == []
    assert math.isnan(unsure.measure(_batch(["a"]))["x"][0])


@pytest.mark.parametrize("value", [True, 1, 1.0, np.float32(1), np.int64(1)])
def test_any_number_is_a_measure(value: float) -> None:
    @doc_filter(drop_above={"x": 0.5})
    def numbers(text: str) -> Measures:
        return {"x": value}

    assert _fates(numbers, _batch(["a"])) == [(0, "drop", "x_above")]


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda: {}, "KeyError: 'x'"),
        (lambda: None, "TypeError"),
        (lambda: {"x": "0.9"}, "TypeError: a measure must be a number"),
        (lambda: {"x": object()}, "TypeError"),
        (lambda: {}[object()], "0x?"),
    ],
)
def test_a_failure_quarantines_its_record_alone(broken: Callable[[], Measures], told: str) -> None:
    @doc_filter(drop_above={"x": 0.5})
    def fragile(text: str) -> Measures:
        return broken() if text == "bad" else {"x": 1 if text == "high" else 0}

    batch = _batch(["low", "bad", "high", "bad"])
    (first, second, third) = run_chain([fragile], batch).fates  # pyright: ignore[reportArgumentType]
    assert (first.row, first.verdict, first.reason) == (1, "quarantine", "filter_error")
    assert told in first.detail
    assert (second.row, second.reason, third.row) == (2, "x_above", 3)
    assert {first.reason, second.reason} <= {r.reason for r in fragile.reasons()}
    np.testing.assert_array_equal(fragile.measure(batch)["x"], [0, np.nan, 1, np.nan])


def test_an_interrupt_is_not_a_failure_of_the_record() -> None:
    @doc_filter(drop_above={"x": 0.5})
    def interrupted(text: str) -> Measures:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted.measure(_batch(["a"]))


def test_an_empty_batch() -> None:
    assert shouting.measure(_batch([]))["upper_frac"].shape == (0,)
    assert _fates(shouting, _batch([])) == []


def test_the_version_follows_the_source() -> None:
    def make(limit: float) -> DocFilter:
        @doc_filter(drop_above={"x": limit})
        def same(text: str) -> Measures:
            return {"x": 0}

        return same

    @doc_filter(drop_above={"x": 1})
    def same(text: str) -> Measures:
        return {"x": 1}

    assert make(1).version == make(1).version
    assert make(1).version != same.version
    assert 0 < same.version < 2**53


def test_limits_from_a_recipe() -> None:
    @doc_filter(drop_above={"a": 1, "b": 2}, drop_below={"b": 0})
    def both(text: str) -> Measures:
        return {"a": 0, "b": 0}

    changed = both.with_limits({"a": 5, "drop_below": {"b": -1}})
    assert changed.drop_above == (("a", 5.0), ("b", 2.0))
    assert changed.drop_below == (("b", -1.0),)
    for wrong in ({"c": 1}, {"b": 1}, {"a": "1"}, {"a": True}, {"a": math.nan}, {"drop_below": {"a": 1}}):
        with pytest.raises(UsageError, match="stage both"):
            both.with_limits(wrong)


def test_wrong_functions_are_refused() -> None:
    with pytest.raises(UsageError, match=r"stage bad.*no column.*'words'.*content_hash"):

        @doc_filter(drop_above={"x": 1})
        def bad(words: str) -> Measures: ...

    with pytest.raises(UsageError, match="must name columns"):

        @doc_filter(drop_above={"x": 1})
        def stars(*columns: str) -> Measures: ...

    with pytest.raises(UsageError, match="at least one column"):

        @doc_filter(drop_above={"x": 1})
        def none() -> Measures: ...

    with pytest.raises(UsageError, match="finite number"):

        @doc_filter(drop_above={"x": math.inf})
        def infinite(text: str) -> Measures: ...

    with pytest.raises(UsageError, match="needs its limits"):
        doc_filter(drop_above=lambda text: {})  # pyright: ignore[reportArgumentType, reportUnknownLambdaType]
