"""The exchange's sorting, partitioning and merging, and the exchange of repeated ids."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.exchange_rows import merge_runs, part_of, sort_rows
from gristmill.pipeline.repeated_ids import RepeatedIds
from gristmill.stages.protocol import VERDICTS, emitted_schema

SCHEMA = emitted_schema(5, 3)
ROWS = st.lists(
    st.tuples(
        st.sampled_from([b"\0\0\0\0\0", b"\0\0\0\0\1", b"aaaaa", b"aaaab", b"\xff\xff\xff\xff\xff"]),
        st.binary(min_size=3, max_size=3),
        st.integers(0, (1 << 64) - 1),
    ),
    max_size=40,
)


def table(rows: list[tuple[bytes, bytes, int]]) -> pa.Table:
    columns = [pa.array([r[i] for r in rows], SCHEMA.field(i).type) for i in range(3)]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def listed(rows: pa.Table) -> list[tuple[bytes, bytes, int]]:
    return list(zip(*(rows.column(n).to_pylist() for n in SCHEMA.names), strict=True))


@given(ROWS)
def test_rows_sort_as_bytes(rows: list[tuple[bytes, bytes, int]]) -> None:
    assert listed(sort_rows(table(rows))) == sorted(rows)


def prefixes(keys: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """The first 32 bits of each key, zero-padded behind."""
    return np.array([int.from_bytes(key[:4].ljust(4, b"\0"), "big") for key in keys.to_pylist()], np.uint32)


@given(ROWS, st.integers(1, 1000))
def test_partitions_are_ranges_of_the_key(rows: list[tuple[bytes, bytes, int]], parts: int) -> None:
    ordered = sort_rows(table(rows))
    part = part_of(prefixes(ordered.column("key")), parts)
    assert (np.diff(part) >= 0).all()
    by_key: dict[bytes, set[int]] = defaultdict(set)
    for (key, _, _), p in zip(listed(ordered), part.tolist(), strict=True):
        assert 0 <= p < parts
        by_key[key].add(p)
    assert all(len(p) == 1 for p in by_key.values())


@given(st.lists(ROWS, max_size=5), st.integers(1, 7))
def test_merging_runs_is_sorting_the_whole(runs: list[list[tuple[bytes, bytes, int]]], step: int) -> None:
    def run(rows: list[tuple[bytes, bytes, int]]) -> Iterator[pa.RecordBatch]:
        whole = sort_rows(table(rows))
        for start in range(0, whole.num_rows, step):
            yield from whole.slice(start, step).combine_chunks().to_batches()

    merged = pa.Table.from_batches(list(merge_runs([run(r) for r in runs])), schema=SCHEMA)
    assert listed(merged) == sorted(r for rows in runs for r in rows)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=30), st.integers(1, 9))
def test_repeated_ids_are_numbered_in_content_order(pairs: list[tuple[int, int]], step: int) -> None:
    stage = RepeatedIds()
    batch = pa.RecordBatch.from_arrays(
        [pa.array([bytes([v]) * 16 for v in column], pa.binary(16)) for column in zip(*pairs, strict=True)]
        or [pa.array([], pa.binary(16))] * 2,
        names=["id", "content_hash"],
    )
    emitted = stage.emit(batch, np.arange(len(pairs), dtype=np.uint64))
    whole = sort_rows(pa.Table.from_batches([emitted]))
    parts = [b for s in range(0, whole.num_rows, step) for b in whole.slice(s, step).combine_chunks().to_batches()]
    reduced = pa.Table.from_batches(list(stage.reduce(iter(parts))), schema=VERDICTS)
    got = dict(zip(reduced.column("addr").to_pylist(), reduced.column("value").to_pylist(), strict=True))
    expected: dict[int, float] = {}
    for key in {k for k, _ in pairs}:
        mine = sorted((content, at) for at, (k, content) in enumerate(pairs) if k == key)
        expected |= {at: float(n) for n, (_, at) in enumerate(mine) if n}
    assert got == expected
