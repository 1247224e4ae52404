"""Exact dedup: the smallest id of each content stays, whatever the batches and the order of the shards."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.schema import content_hash, document_batch, record_id
from gristmill.stages.dedup.exact import ExactDedup
from gristmill.stages.protocol import VERDICTS, Exchange, emitted_schema

Record = tuple[str, str, int]
"""Id, text, address."""


def _batch(records: Sequence[Record]) -> pa.RecordBatch:
    texts = pa.array([text for _, text, _ in records], pa.large_string())
    hashes = pa.array([content_hash(text.encode()) for _, text, _ in records], pa.binary(16))
    ids = pa.array([key for key, _, _ in records], pa.string())
    return document_batch({"text": texts, "id": ids, "content_hash": hashes})


def _emit(records: Sequence[Record]) -> pa.RecordBatch:
    return ExactDedup().emit(_batch(records), np.array([addr for _, _, addr in records], dtype=np.uint64))


def _sorted_batches(emitted: pa.RecordBatch, cuts: Sequence[int]) -> Iterator[pa.RecordBatch]:
    table = pa.Table.from_batches([emitted]).sort_by([("key", "ascending"), ("order", "ascending")])
    batch = table.combine_chunks().to_batches()[0] if table.num_rows else emitted
    for start, end in pairwise([0, *sorted(cuts), batch.num_rows]):
        yield batch.slice(start, max(end - start, 0))


def _reduce(emitted: pa.RecordBatch, cuts: Sequence[int] = ()) -> dict[int, str]:
    """Address of each row that goes -> its keeper's id."""
    found: dict[int, str] = {}
    for batch in ExactDedup().reduce(_sorted_batches(emitted, cuts)):
        assert batch.schema == VERDICTS
        assert batch.column("value").to_pylist() == batch.column("limit").to_pylist() == [1.0] * batch.num_rows
        for addr, keeper in zip(batch.column("addr").to_pylist(), batch.column("keeper").to_pylist(), strict=True):
            assert addr not in found
            found[addr] = keeper.hex()
    return found


def _expected(records: Sequence[Record]) -> dict[int, str]:
    kept: dict[str, tuple[str, int]] = {}
    for key, text, addr in records:
        kept[text] = min(kept.get(text, (key, addr)), (key, addr))
    return {addr: kept[text][0] for _, text, addr in records if kept[text][1] != addr}


RECORDS = st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["", "a", "b", "c", "\0", "é"])), max_size=30).map(
    lambda drawn: [(record_id("key", "", str(key)), text, (i % 3) << 32 | i) for i, (key, text) in enumerate(drawn)]
)


@given(RECORDS, st.lists(st.integers(0, 30), max_size=4))
def test_the_smallest_id_stays(records: list[Record], cuts: list[int]) -> None:
    found = _reduce(_emit(records), [min(cut, len(records)) for cut in cuts])
    assert found == _expected(records)


@given(RECORDS, st.randoms(use_true_random=False))
def test_order_of_the_rows_does_not_matter(records: list[Record], random: object) -> None:
    shuffled = [*records]
    random.shuffle(shuffled)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    ids = {addr: key for key, _, addr in records}

    def kept(rows: list[Record]) -> set[tuple[str, str]]:
        goes = _reduce(_emit(rows))
        return {(ids[addr], text) for _, text, addr in rows if addr not in goes}

    assert kept(shuffled) == kept(records)


def test_a_group_over_many_batches() -> None:
    records = [(record_id("key", "", str(i)), "same", i) for i in range(50)]
    smallest = min(records)
    assert _reduce(_emit(records), range(1, 50)) == {r[2]: smallest[0] for r in records if r != smallest}


def test_emits_key_order_and_address() -> None:
    emitted = _emit([("00" * 15 + "ff", "x", 7)])
    assert emitted.schema == emitted_schema(16, 16)
    assert emitted.to_pylist() == [{"key": content_hash(b"x"), "order": b"\0" * 15 + b"\xff", "addr": 7}]


def test_slices_emit_as_the_whole_does() -> None:
    records = [(record_id("key", "", str(i)), str(i % 3), i) for i in range(9)]
    addr = np.arange(9, dtype=np.uint64)
    whole = ExactDedup().emit(_batch(records), addr)
    part = ExactDedup().emit(_batch(records).slice(4, 3), addr[4:7])
    assert part.to_pylist() == whole.to_pylist()[4:7]


def test_nothing_gives_nothing() -> None:
    assert _emit([]).num_rows == 0
    assert list(ExactDedup().reduce(iter([]))) == []
    assert list(ExactDedup().reduce(iter([_emit([]), _emit([])]))) == []


@pytest.mark.parametrize("key", ["", "0" * 31, "0" * 31 + "G", "0" * 31 + "F", "é" * 16, "0" * 33])
def test_an_id_that_is_not_one_is_refused(key: str) -> None:
    with pytest.raises(GristmillError, match="32"):
        _emit([("0" * 32, "x", 0), (key, "x", 1)])


def test_a_missing_hash_is_refused() -> None:
    batch = document_batch({"text": pa.array(["x"]), "id": pa.array(["0" * 32])})
    with pytest.raises(GristmillError, match="content_hash"):
        ExactDedup().emit(batch, np.zeros(1, dtype=np.uint64))


def test_is_an_exchange_with_one_reason() -> None:
    assert isinstance(ExactDedup(), Exchange)
    assert [(r.reason, r.verdict) for r in ExactDedup().reasons()] == [("exact_duplicate", "drop")]
