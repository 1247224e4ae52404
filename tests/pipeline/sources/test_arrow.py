"""Arrow IPC, file and stream: columns, damage, and the same ids as JSON Lines."""

import itertools
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError
from gristmill.pipeline.sources.protocol import ReadOptions
from tests.pipeline.sources.reading import OPTIONS, Read, read
from tests.pipeline.sources.tables import KEYED_ROWS, ROWS, Row, as_jsonl, metas, table, without_meta

FORMS = ("file", "stream")
MANY: list[Row] = [{"id": str(n), "text": f"text {n} " + "\u4e2d" * n} for n in range(30)]
ROWS_A_BATCH = 5


def ipc_bytes(data: pa.Table, form: str, compression: str | None = None, rows: int = ROWS_A_BATCH) -> bytes:
    sink = pa.BufferOutputStream()
    new = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    with new(sink, data.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(data, max_chunksize=rows)
    return sink.getvalue().to_pybytes()


def read_ipc(folder: Path, data: bytes, options: ReadOptions = OPTIONS) -> Read:
    (folder / "a.arrow").write_bytes(data)
    return read("arrow", folder / "a.arrow", options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("arrow")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_columns_become_those_of_a_document(folder: Path, form: str, compression: str | None) -> None:
    found = read_ipc(folder, ipc_bytes(table(ROWS), form, compression, rows=2))
    assert found.texts == [row["text"] for row in ROWS] and not found.losses
    assert [row["lang"] for row in found.rows] == ["en", None, "fr"]
    assert [meta["n"] for meta in metas(found)] == [1, 2, 3]


@given(rows=KEYED_ROWS, form=st.sampled_from(FORMS))
def test_the_same_rows_have_the_same_ids_as_in_json_lines(folder: Path, rows: list[Row], form: str) -> None:
    """M8, and any size of batch."""
    found = read_ipc(folder, ipc_bytes(table(rows), form, rows=3))
    assert without_meta(found) == without_meta(as_jsonl(folder, rows, OPTIONS))


@pytest.mark.parametrize("form", FORMS)
def test_a_text_column_of_a_wrong_type_is_an_error(folder: Path, form: str) -> None:
    with pytest.raises(InputError) as error:
        read_ipc(folder, ipc_bytes(pa.table({"text": [1.5]}), form))
    assert error.value.remedy and all(word in str(error.value) for word in ("text", "double", "a.arrow"))


@pytest.mark.parametrize("form", FORMS)
def test_null_and_broken_text_is_lost_alone(folder: Path, form: str) -> None:
    data = pa.table({"text": pa.array([b"a", None, b"\xff", b"c"], pa.binary()).view(pa.string())})
    found = read_ipc(folder, ipc_bytes(data, form))
    assert found.texts == ["a", "c"] and found.reasons == ["missing_text", "bad_utf8"]
    assert [loss.offset for loss in found.losses] == [1, 2]


def test_dictionaries_and_views_are_texts(folder: Path) -> None:
    texts = ["a\u4e2d", "", "a\u4e2d", "b" * 50]
    for kind in (pa.dictionary(pa.int8(), pa.string()), pa.string_view(), pa.large_string()):
        assert read_ipc(folder, ipc_bytes(pa.table({"text": pa.array(texts).cast(kind)}), "stream")).texts == texts


def batch_ends() -> list[int]:
    """Where each batch of MANY ends in a stream; the first is the end of the schema."""
    data = table(MANY)
    parts = [data.schema.serialize(), *(batch.serialize() for batch in data.to_batches(max_chunksize=ROWS_A_BATCH))]
    return list(itertools.accumulate(part.size for part in parts))


@given(cut=st.integers(0, 10_000))
def test_cut_stream_gives_whole_batches_and_one_loss(folder: Path, cut: int) -> None:
    data = ipc_bytes(table(MANY), "stream")
    cut %= len(data)
    whole = sum(end <= cut for end in batch_ends()[1:])
    found = read_ipc(folder, data[:cut])
    assert found.texts == [row["text"] for row in MANY][: whole * ROWS_A_BATCH]
    assert len(found.losses) == 1 or cut == 0 or whole * ROWS_A_BATCH == len(MANY)
    assert found.reasons in ([], ["truncated"], ["corrupt"])


@given(cut=st.integers(0, 10_000))
def test_cut_file_gives_whole_batches_and_one_loss(folder: Path, cut: int) -> None:
    data = ipc_bytes(table(MANY), "file")
    cut %= len(data)
    whole = sum(end + 8 <= cut for end in batch_ends()[1:])
    found = read_ipc(folder, data[:cut])
    assert found.texts == [row["text"] for row in MANY][: whole * ROWS_A_BATCH]
    assert len(found.losses) == 1 or cut == 0


@given(at=st.integers(0, 10_000), flip=st.integers(1, 255), form=st.sampled_from(FORMS))
def test_a_changed_byte_never_crashes_and_reads_the_same_twice(folder: Path, at: int, flip: int, form: str) -> None:
    data = bytearray(ipc_bytes(table(MANY), form))
    data[at % len(data)] ^= flip
    outcomes: list[Any] = []
    for _ in range(2):
        try:
            outcomes.append(read_ipc(folder, bytes(data)))
        except InputError as error:  # a changed name or type of the text column
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("data", [b"not arrow at all" * 9, b"ARROW1\0\0" + b"\xff" * 60 + b"ARROW1", b"PAR1" * 8])
def test_a_file_that_is_not_arrow_is_one_loss(folder: Path, data: bytes) -> None:
    found = read_ipc(folder, data)
    assert not found.rows and len(found.losses) == 1 and found.reasons[0] in ("corrupt", "truncated")


def test_an_offset_that_leads_out_of_its_buffer_costs_a_batch(folder: Path) -> None:
    """Arrow trusts offsets; such a batch would be read out of bounds."""
    data = bytearray(ipc_bytes(pa.table({"text": ["aaaa", "bbbb"] * ROWS_A_BATCH}), "stream", rows=2))
    at = data.index(b"\x04\0\0\0\x08\0\0\0")
    data[at : at + 8] = b"\x04\0\0\0\xff\xff\xff\x7f"
    found = read_ipc(folder, bytes(data))
    assert found.texts == ["aaaa", "bbbb"] * (ROWS_A_BATCH - 1) and found.reasons == ["corrupt"]


def test_memory_urls_are_read() -> None:
    with fsspec.open("memory://tables/a.arrow", "wb") as out:
        out.write(ipc_bytes(table(ROWS), "file"))
    assert read("arrow", "memory://tables/a.arrow").texts == [row["text"] for row in ROWS]
