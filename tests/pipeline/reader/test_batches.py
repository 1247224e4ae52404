"""Batches of what is left, against a plain list; steps; rows by index; buffers that are given back."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.reader import ReadOptions, RowDataset, TokenStream
from gristmill.pipeline.reader.ahead import ahead
from gristmill.pipeline.reader.batches import Left, merged
from tests.pipeline.reader.test_stream import QUIET, SHORT, out, plan_file, table

__all__ = ["out"]


class _Starts:
    """All of a plan that `Left` looks at."""

    def __init__(self, starts: list[int]) -> None:
        self.starts = starts


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), max_size=6),
)
def test_what_is_left_is_what_a_list_says(lengths: list[int], ranges: list[tuple[int, int]]) -> None:
    starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    skipped = merged(ranges)
    gone = {g for a, b in ranges for g in range(a, b)}
    assert {g for a, b in skipped for g in range(a, b)} == gone
    for stage in range(len(lengths)):
        expected = [g for g in range(starts[stage], starts[stage + 1]) if g not in gone]
        left = Left.of(_Starts(starts), stage, skipped)  # pyright: ignore[reportArgumentType]
        assert left.rows == len(expected) and left.take(0, 10**6).tolist() == expected
        for number in range(len(expected) + 1):
            assert left.take(number, 3).tolist() == expected[number : number + 3]
            assert left.after(number) == [*expected, starts[stage + 1]][number]
        for index in range(starts[stage], starts[stage + 1] + 1):
            assert left.number_of(index) == sum(g < index for g in expected)


@pytest.mark.parametrize("options", [QUIET, SHORT])
def test_where_names_the_rows_of_each_step(out: Path, options: ReadOptions) -> None:
    rows = {name: table(out / name) for name in ("a64", "b64", "b256")}
    stream = TokenStream(plan_file(out), global_batch=12, options=options)
    stream.skip([(5, 9), (100, 131), (199, 201)])
    batches = list(stream)
    for step, batch in enumerate(batches):
        told = stream.where(step)
        assert [t["index"] for t in told] == batch.indices.tolist()
        assert [t["row"] for t in told] == batch.row.tolist() and tuple(t["source"] for t in told) == batch.source
        for i, t in enumerate(told):
            assert rows[t["source"]][t["row"]]["input_ids"] == batch.tokens[i].tolist()
            shards = stream.plan.datasets[t["source"]].shards
            before = [s.rows for s in shards[: [str(s.path) for s in shards].index(t["shard"])]]
            assert t["shard_row"] == t["row"] - sum(before)
    for step in (len(batches), -1):
        with pytest.raises(IndexError, match="no batch"):
            stream.where(step)


def test_rows_by_index_are_what_the_stream_gave(out: Path) -> None:
    data = RowDataset(plan_file(out))
    items = data.__getitems__(range(len(data)))
    batches = list(TokenStream(plan_file(out), global_batch=8, options=SHORT))
    assert len(data) == 232 == sum(len(b) for b in batches)
    for batch in batches:
        for i, index in enumerate(batch.indices.tolist()):
            for item in (items[index], data[index]):
                assert item["index"] == index and item["n_tokens"] == batch.n_tokens[i]
                for name in ("tokens", "segment_ids", "positions", "loss_mask"):
                    assert np.array_equal(item[name], getattr(batch, name)[i])
    assert data[-1]["index"] == 231
    with pytest.raises(IndexError):
        data[232]


def test_released_arrays_are_filled_anew_and_kept_ones_are_not(out: Path) -> None:
    kept = [(b, b.tokens.copy()) for b in TokenStream(out / "a64", global_batch=4, options=QUIET)]
    assert all(np.array_equal(b.tokens, copy) for b, copy in kept)
    places: set[int] = set()
    stream = TokenStream(out / "a64", global_batch=4, threads=1, options=QUIET)
    for batch, (_, copy) in zip(stream, kept, strict=True):
        assert np.array_equal(batch.tokens, copy)
        places.add(batch.tokens.__array_interface__["data"][0])
        batch.release()
        batch.release()
    assert len(places) <= 2 + QUIET.prefetch < len(kept)


def test_results_come_in_order_and_errors_where_they_belong() -> None:
    def make(number: int) -> int:
        if number == 30:
            raise ValueError("thirty")
        return number * number

    for threads, depth in ((1, 0), (1, 1), (3, 2), (4, 9)):
        found: list[int] = []
        with pytest.raises(ValueError, match="thirty"):
            for value in ahead(range(100), make, threads, depth):
                found.append(value)
        assert found == [n * n for n in range(30)]


def test_nobody_works_ahead_of_one_who_has_stopped() -> None:
    made: list[int] = []
    stream = ahead(range(1000), lambda n: made.append(n) or n, 2, 4)
    assert next(stream) == 0
    stream.close()
    assert len(made) <= 6


@pytest.mark.parametrize(
    ("given", "told"),
    [({"threads": 0}, "no thread"), ({"verify": "rows"}, "verify"), ({"on_corrupt": "ignore"}, "on_corrupt")],
)
def test_words_that_mean_nothing_are_refused(out: Path, given: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        TokenStream(out / "a64", **given)  # pyright: ignore[reportArgumentType]
