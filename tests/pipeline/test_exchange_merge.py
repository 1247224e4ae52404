"""Sorting of long and skewed exchanges, merging in bounded memory, and further columns."""

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline import exchange_rows
from gristmill.pipeline.exchange_rows import merge_runs, part_bounds, part_of, sort_rows
from tests.pipeline.test_exchange_rows import prefixes

KEY, ORDER = 9, 16
Values = list[tuple[bytes, bytes, int, bytes]]
SCHEMA = pa.schema([("key", pa.binary(5)), ("order", pa.binary(2)), ("addr", pa.uint64()), ("value", pa.binary(3))])
FEW = st.lists(
    st.tuples(
        st.sampled_from([b"\0\0\0\0\0", b"aaaaa", b"\xff\xff\xff\xff\xff"]),
        st.sampled_from([b"\0\0", b"\0\1", b"\xff\0"]),
        st.sampled_from([0, 1, 255, 256, (1 << 64) - 1]),
        st.binary(min_size=3, max_size=3),
    ),
    max_size=30,
)


def table(rows: Values) -> pa.Table:
    return pa.Table.from_arrays([pa.array([r[i] for r in rows], f.type) for i, f in enumerate(SCHEMA)], schema=SCHEMA)


def listed(rows: pa.Table) -> Values:
    return list(zip(*(rows.column(n).to_pylist() for n in SCHEMA.names), strict=True))


def random_rows(rows: int, same: float, seed: int) -> pa.Table:
    """Band rows: random keys, a share of them one giant key; distinct addresses, unsorted."""
    rng = np.random.default_rng(seed)
    key = rng.integers(0, 256, (rows, KEY), dtype=np.uint8)
    key[rng.random(rows) < same] = 7
    order = rng.integers(0, 256, (rows, ORDER), dtype=np.uint8)
    order[: rows // 2, :8] = 1
    columns = [
        pa.FixedSizeBinaryArray.from_buffers(pa.binary(raw.shape[1]), rows, [None, pa.py_buffer(raw.tobytes())])
        for raw in (key, order)
    ]
    return pa.table({"key": columns[0], "order": columns[1], "addr": rng.permutation(rows).astype(np.uint64)})


@given(FEW)
def test_further_columns_are_carried_along_and_settle_ties(rows: Values) -> None:
    assert listed(sort_rows(table(rows))) == sorted(rows)


@pytest.mark.parametrize("same", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("rows", [(1 << 14) - 1, 1 << 14, 100_000])
def test_many_rows_sort_as_bytes(rows: int, same: float) -> None:
    whole = random_rows(rows, same, seed=rows)
    sorted_rows = sort_rows(whole.slice(0, rows // 3 * 2)), sort_rows(whole)
    for got, given_rows in zip(sorted_rows, (whole.slice(0, rows // 3 * 2), whole), strict=True):
        names = given_rows.column_names
        assert list(zip(*(got.column(n).to_pylist() for n in names), strict=True)) == sorted(
            zip(*(given_rows.column(n).to_pylist() for n in names), strict=True)
        )


@given(st.lists(FEW, max_size=6), st.integers(1, 7), st.integers(1, 40))
def test_merging_is_sorting_whatever_a_round_holds(runs: list[Values], step: int, rows_a_round: int) -> None:
    def run(rows: Values) -> Iterator[pa.RecordBatch]:
        whole = sort_rows(table(rows))
        yield pa.RecordBatch.from_pylist([], schema=SCHEMA)
        for start in range(0, whole.num_rows, step):
            yield from whole.slice(start, step).combine_chunks().to_batches()

    batches = list(merge_runs([run(r) for r in runs], rows_a_round))
    assert all(batch.num_rows > 0 for batch in batches)
    if len([r for r in runs if r]) > 1:
        assert all(batch.num_rows <= max(rows_a_round, len(runs), step) for batch in batches)
    merged = pa.Table.from_batches(batches, schema=SCHEMA)
    assert listed(merged) == sorted(r for rows in runs for r in rows)


def test_a_giant_key_is_merged_in_bounded_memory() -> None:
    runs = [sort_rows(random_rows(200_000, 1.0, seed)) for seed in range(3)]
    biggest = last = total = 0
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    peak = 0
    for batch in merge_runs([iter(r.to_batches(4096)) for r in runs], 6000):
        biggest = max(biggest, batch.num_rows)
        peak = max(peak, pa.total_allocated_bytes() - before)
        first = int.from_bytes(batch.column("order")[0].as_py(), "big")
        assert first >= last
        last = int.from_bytes(batch.column("order")[batch.num_rows - 1].as_py(), "big")
        total += batch.num_rows
    _, python_peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 600_000
    assert biggest <= 6000
    assert peak + python_peak < 6 << 20  # all rows are 19.8 MB


def _key(number: int) -> bytes:
    return number.to_bytes(8, "big") + bytes([number % 2])


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=20), max_size=5), st.integers(1, 30))
def test_rows_of_repeated_keys_are_merged_all(runs: list[list[tuple[int, int]]], rows_a_round: int) -> None:
    """Groups that span rounds, too; rows of other keys may be left out."""
    every = [[(_key(key), bytes([o]), 100 * n + i) for i, (key, o) in enumerate(r)] for n, r in enumerate(runs)]

    def run(rows: list[tuple[bytes, bytes, int]]) -> Iterator[pa.RecordBatch]:
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        types = (pa.binary(9), pa.binary(1), pa.uint64())
        arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
        yield from sort_rows(pa.Table.from_arrays(arrays, names=["key", "order", "addr"])).to_batches()

    with mock.patch.object(exchange_rows, "_ROWS_FOR_KERNEL", 1):
        batches = list(merge_runs([run(r) for r in every], rows_a_round, repeated_only=True))
    got = [row for b in batches for row in zip(*(b.column(n).to_pylist() for n in b.schema.names), strict=True)]
    whole = sorted(row for rows in every for row in rows)
    times = Counter(key for key, _, _ in whole)
    assert [row for row in got if times[row[0]] > 1] == [row for row in whole if times[row[0]] > 1]
    assert got == sorted(got) and set(got) <= set(whole)


@given(st.lists(st.binary(min_size=5, max_size=5), max_size=50), st.integers(1, 1024))
def test_bounds_are_where_partitions_begin(keys: list[bytes], parts: int) -> None:
    column = pa.array(sorted([*keys, bytes(5), b"\xff" * 5]), pa.binary(5))
    part = part_of(prefixes(column), parts)
    assert part_bounds(column, parts).tolist() == np.searchsorted(part, np.arange(parts + 1)).tolist()
