"""Columns and batches: ids, hashes, bounds, and that a used buffer is never one that somebody still holds."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.schema import DOCUMENT, ID_BYTES, content_hash, record_id
from gristmill.pipeline.sources import content_hashes, encodings, kernel_use, spare_buffers
from gristmill.pipeline.sources.batching import DocumentBuilder
from gristmill.pipeline.sources.columns import (
    Columns,
    constant,
    finished_batch,
    hex_strings,
    identity,
    ids,
    medium_chars,
    one_row,
    without_medium_chars,
)
from gristmill.pipeline.sources.content_hashes import hash_rows
from gristmill.pipeline.sources.losses import lose
from gristmill.pipeline.sources.protocol import ReadBatch, ReadOptions
from tests.pipeline.sources.checked import check_batch, with_options

TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from("\ufffc\ufffd\uf8ff\uffff\U0001f600"), max_size=30)


def columns(rows: int) -> Columns:
    none: list[None] = [None] * rows
    return Columns(list(none), list(none), list(none), list(none), list(none))


@given(keys=st.lists(st.none() | TEXT, max_size=20))
def test_ids_are_record_ids_or_content_hashes(keys: list[str | None]) -> None:
    hashes = np.arange(len(keys) * ID_BYTES, dtype=np.uint8).reshape(-1, ID_BYTES)
    found = ids([key if key is None else identity("key", "d", key) for key in keys], hashes).to_pylist()
    assert found == [
        hashes[row].tobytes().hex() if key is None else record_id("key", "d", key) for row, key in enumerate(keys)
    ]


@pytest.mark.parametrize("kernel", [False, True])
@given(texts=st.lists(TEXT.map(str.encode) | st.sampled_from([b"x" * 5000, b"y" * 20_000]), max_size=20))
def test_hashes_are_those_of_each_text(kernel: bool, texts: list[bytes]) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    data = np.frombuffer(b"".join(texts), np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content_hashes, "kernels_pay", lambda _: kernel)
        assert [row.tobytes() for row in hash_rows(data, offsets)] == [content_hash(text) for text in texts]


def test_kernels_are_left_alone_where_little_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_use, "_NUMBA_IN_USE", "no such module")
    monkeypatch.setattr(kernel_use, "_handled", 0)
    assert not kernel_use.kernels_pay(kernel_use.ENOUGH_BYTES)
    assert kernel_use.kernels_pay(1)


@pytest.mark.parametrize("kernel", [False, True])
@given(data=st.binary(max_size=20) | TEXT.map(str.encode))
def test_utf8_is_told_alike_in_both_ways(kernel: bool, data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encodings, "kernels_pay", lambda _: kernel)
        assert encodings.is_utf8(data) == (data.decode("utf-8", "ignore").encode() == data)


@given(texts=st.lists(TEXT, min_size=1, max_size=9))
def test_no_medium_char_is_left(texts: list[str]) -> None:
    wanted = [text.replace("\ufffc", "\ufffd") for text in texts]
    batch = finished_batch(pa.array(texts, pa.large_string()), columns(len(texts)), with_options())
    assert batch.column("text").to_pylist() == wanted
    check_batch(batch, with_options())
    joined = "".join(texts).encode()
    assert without_medium_chars(joined).decode() == "".join(wanted)
    assert len(medium_chars(np.frombuffer(joined, np.uint8))) == joined.count("\ufffc".encode())
    alone = one_row(joined, columns(1), with_options())
    assert alone.column("text").to_pylist() == ["".join(wanted)]
    check_batch(alone, with_options())


def test_hex_is_lower_case_and_of_full_length() -> None:
    digests = np.array([[0, 1, 255], [16, 160, 9]], np.uint8)
    assert hex_strings(digests).to_pylist() == ["0001ff", "10a009"]
    assert hex_strings(digests[:0]).to_pylist() == []


@pytest.mark.parametrize("name", DOCUMENT.names)
def test_constants_have_the_type_of_their_column(name: str) -> None:
    kind = DOCUMENT.field(name).type
    assert constant(name, None, 3).type == kind
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        assert constant(name, "x", 3).type == kind
        assert constant(name, "x", 3).to_pylist() == ["x"] * 3


def _built(texts: Sequence[str], options: ReadOptions, by_row: bool, at_once: int) -> Iterator[ReadBatch]:
    builder = DocumentBuilder(options)
    for start in range(0, len(texts), at_once):
        some = texts[start : start + at_once]
        if by_row:
            for number, text in enumerate(some):
                data = memoryview(text.encode())
                parts = [data[:number], data[number:]] if number % 2 else [data]
                if number % 3 == 0 or not builder.add_utf8(parts, None, "u", b"{}"):
                    yield from builder.add_row(without_medium_chars(bytes(data)), None, "u", b"{}")
        else:
            yield from builder.add(some, columns(len(some)), sum(len(text.encode()) for text in some))
        if start % 3 == 0:
            yield from builder.lose(lose("bad_json", b"x", start))
    yield from builder.finish()


@given(
    texts=st.lists(TEXT, max_size=40),
    rows=st.integers(1, 9),
    size=st.integers(1, 60),
    by_row=st.booleans(),
    at_once=st.integers(1, 9),
)
def test_batches_hold_all_rows_in_order_within_their_bounds(
    texts: list[str], rows: int, size: int, by_row: bool, at_once: int
) -> None:
    options = with_options(batch_rows=rows, batch_bytes=size)
    read = list(_built(texts, options, by_row, at_once))
    for one in read:
        check_batch(one.batch, options)
        assert len(one.losses) <= rows
    found = [text for one in read for text in one.batch.column("text").to_pylist()]
    assert found == [text.replace("\ufffc", "\ufffd") for text in texts]
    assert sum(len(one.losses) for one in read) == len([s for s in range(0, len(texts), at_once) if s % 3 == 0])
    # As full as the bounds allow: two neighbours never fit into one.
    for first, second in pairwise(read):
        sizes = [len(text.encode()) for one in (first, second) for text in one.batch.column("text").to_pylist()]
        behind = first.batch.num_rows
        full = behind + 1 > rows or sum(sizes[: behind + 1]) > size or len(first.losses) >= rows
        # A text of all the bytes that a batch may have is alone.
        assert full or not second.batch.num_rows or max(sizes[: behind + 1]) == size


def _held(buffer: Any, holder: str) -> Any:
    arrow = pa.py_buffer(buffer)
    array = pa.Array.from_buffers(pa.uint8(), 64, [None, arrow])
    if holder in ("buffer", "slice"):
        return arrow if holder == "buffer" else arrow.slice(3, 5)
    if holder in ("array", "sliced array"):
        return array if holder == "array" else array.slice(60)
    return memoryview(arrow) if holder == "view" else np.frombuffer(arrow, np.uint8)[1:]


class TestSpareBuffers:
    """A buffer comes back only when nothing that shares its memory is left."""

    @pytest.fixture(autouse=True)
    def none_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(spare_buffers, "_spare", [])

    def test_that_are_free_are_used_again(self) -> None:
        first = spare_buffers.take_buffer(64).ctypes.data
        assert spare_buffers.take_buffer(64).ctypes.data == first
        assert spare_buffers.take_buffer(65).ctypes.data != first

    @pytest.mark.parametrize("holder", ["buffer", "slice", "array", "sliced array", "view", "numpy"])
    def test_that_are_held_are_not(self, holder: str) -> None:
        address = spare_buffers.take_buffer(64).ctypes.data
        held = [_held(spare_buffers.take_buffer(64), holder)]
        assert spare_buffers.take_buffer(64).ctypes.data != address
        held.clear()
        assert spare_buffers.take_buffer(64).ctypes.data == address

    def test_of_a_batch_stay_as_they_are_while_it_lives(self) -> None:
        options = with_options(batch_bytes=64)
        texts = [chr(ord("a") + n) * 40 for n in range(20)]
        kept = list(_built(texts, options, True, 1))
        assert [text for one in kept for text in one.batch.column("text").to_pylist()] == texts

    def test_are_few(self) -> None:
        held = [spare_buffers.take_buffer(64) for _ in range(9)]
        assert len({buffer.ctypes.data for buffer in held}) == 9
        assert len(spare_buffers._spare) <= 3
