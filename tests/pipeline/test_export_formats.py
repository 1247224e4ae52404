"""Exports read back by small parsers of the formats' own definitions: nothing of a sample is lost or changed."""

import io
import json
import struct
import tarfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.export import mds, megatron
from gristmill.pipeline.export.document_source import cut_places
from gristmill.pipeline.export.run import export
from gristmill.pipeline.export.shape import Order, Request, Unit
from gristmill.pipeline.reader import ReadOptions, TokenStream
from gristmill.pipeline.reader.plan import implicit_plan
from tests.pipeline.export_data import (
    CONTEXT,
    PIXELS,
    bounds_of,
    make_output,
    rows_of,
    texts_of,
    tokenised_of,
)

SHARD_BYTES = 8000
EOS = 257


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_output(tmp_path_factory.mktemp("exported"))


def made(out: Path, target: Path, form: str, unit: Unit | None = None, order: Order = "stored") -> Path:
    dataset = out / ("texts" if unit == "text" else "rows")
    export(Request(dataset, form, None if unit == "text" else unit, order, 3, shard_bytes=SHARD_BYTES), target)
    return target


def read_hf(folder: Path) -> list[dict[str, Any]]:
    names = [f["filename"] for f in json.loads((folder / "state.json").read_bytes())["_data_files"]]
    assert len(names) > 1
    tables = [pa.ipc.open_stream((folder / name).read_bytes()).read_all() for name in names]
    return [row for table in tables for row in table.to_pylist()]


def read_mds(folder: Path) -> Iterator[dict[str, Any]]:
    shards = json.loads((folder / "index.json").read_bytes())["shards"]
    assert len(shards) > 1
    for shard in shards:
        data = (folder / shard["raw_data"]["basename"]).read_bytes()
        assert len(data) == shard["raw_data"]["bytes"]
        (count,) = struct.unpack_from("<I", data)
        assert count == shard["samples"]
        offsets = struct.unpack_from(f"<{count + 1}I", data, 4)
        assert json.loads(data[4 * (count + 2) : offsets[0]])["column_names"] == shard["column_names"]
        assert offsets[-1] == len(data)
        for begin, end in pairwise(offsets):
            yield _mds_sample(data[begin:end], shard)


def _mds_sample(data: bytes, shard: dict[str, Any]) -> dict[str, Any]:
    open_ended = shard["column_sizes"].count(None)
    sizes = iter(struct.unpack_from(f"<{open_ended}I", data))
    at, sample = 4 * open_ended, {}
    columns = zip(shard["column_names"], shard["column_encodings"], shard["column_sizes"], strict=True)
    for name, encoding, fixed in columns:
        size = next(sizes) if fixed is None else fixed
        part = data[at : at + size]
        at += size
        if encoding == "int":
            sample[name] = struct.unpack("<q", part)[0]
        elif encoding == "str":
            sample[name] = part.decode()
        else:
            sample[name] = np.frombuffer(part if fixed else _mds_array(part), dtype="<u4").tolist()
    assert at == len(data)
    return sample


def _mds_array(part: bytes) -> bytes:
    axes, width = part[0] >> 2, 1 << (part[0] & 3)
    length = int.from_bytes(part[1 : 1 + width], "little")
    assert axes == 1 and len(part) == 1 + width + 4 * length
    return part[1 + width :]


def read_tars(folder: Path) -> list[tuple[str, dict[str, bytes]]]:
    found: dict[str, dict[str, bytes]] = {}
    paths = sorted(folder.glob("shard-*.tar"))
    assert len(paths) > 1
    for path in paths:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                assert (member.mtime, member.uid, member.uname, member.mode) == (0, 0, "", 0o644)
                key, _, suffix = member.name.partition(".")
                content = tar.extractfile(member)
                assert content is not None
                found.setdefault(key, {})[suffix] = content.read()
    return list(found.items())


def read_megatron(folder: Path) -> tuple[list[list[int]], list[dict[str, Any]]]:
    sequences: list[list[int]] = []
    said: list[dict[str, Any]] = []
    stems = sorted(path.with_suffix("") for path in folder.glob("*.idx"))
    assert len(stems) > 1
    for stem in stems:
        index, ids = stem.with_suffix(".idx").read_bytes(), stem.with_suffix(".bin").read_bytes()
        assert index[:9] == b"MMIDIDX\0\0"
        version, code, count, bounds = struct.unpack_from("<QBQQ", index, 9)
        assert (version, code, bounds) == (1, 8, count + 1)
        lengths = np.frombuffer(index, "<i4", count, 34)
        pointers = np.frombuffer(index, "<i8", count, 34 + 4 * count)
        documents = np.frombuffer(index, "<i8", count + 1, 34 + 12 * count)
        assert documents.tolist() == list(range(count + 1))
        assert len(index) == 34 + 12 * count + 8 * (count + 1)
        assert len(ids) == 2 * int(lengths.sum())
        places = zip(lengths.tolist(), pointers.tolist(), strict=True)
        sequences += [np.frombuffer(ids, "<u2", n, at).tolist() for n, at in places]
        said += [json.loads(line) for line in stem.with_suffix(".jsonl").read_bytes().splitlines()]
    return sequences, said


def hexed(value: Any) -> Any:
    """Plain data as JSON holds it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {k: hexed(v) for k, v in value.items() if not (k == "bytes" and "mime" in value)}
    return [hexed(v) for v in value] if isinstance(value, list | tuple) else value


def said_of(row: dict[str, Any]) -> dict[str, Any]:
    return hexed({k: v for k, v in row.items() if k != "input_ids"} | {"cu_seqlens": bounds_of(row)})


def test_rows_are_arrow_streams_with_every_column(out: Path, tmp_path: Path) -> None:
    found = read_hf(made(out, tmp_path / "x", "hf"))
    assert found == [{**row, "cu_seqlens": bounds_of(row)} for row in rows_of(out / "rows")]
    assert found[0]["loss_spans"] and found[0]["media"] and found[0]["tasks"]


def test_documents_are_arrow_streams(out: Path, tmp_path: Path) -> None:
    assert read_hf(made(out, tmp_path / "x", "hf", "document")) == tokenised_of(out / "rows")
    texts = read_hf(made(out, tmp_path / "y", "hf", "text"))
    for found, written in zip(texts, texts_of(out / "texts"), strict=True):
        scores = written.pop("scores")
        assert found.pop("scores") == (None if scores is None else [{"key": k, "value": v} for k, v in scores])
        assert found == written


def test_rows_are_mds(out: Path, tmp_path: Path) -> None:
    found = list(read_mds(made(out, tmp_path / "x", "mds")))
    for sample, row in zip(found, rows_of(out / "rows"), strict=True):
        assert sample.pop("tokens") == row["input_ids"]
        said = said_of(row)
        texts = {name: json.loads(sample.pop(name)) for name in mds.JSON_COLUMNS}
        assert {**sample, **texts} == said


def test_documents_are_mds(out: Path, tmp_path: Path) -> None:
    found = list(read_mds(made(out, tmp_path / "x", "mds", "document")))
    for sample, document in zip(found, tokenised_of(out / "rows"), strict=True):
        assert sample.pop("tokens") == document["input_ids"]
        assert sample == {n: hexed(document[n]) or "" for n in mds.TEXT_COLUMNS} | {"n_tokens": document["n_tokens"]}


def test_rows_and_documents_are_tars(out: Path, tmp_path: Path) -> None:
    rows = read_tars(made(out, tmp_path / "x", "webdataset"))
    for place, ((key, files), row) in enumerate(zip(rows, rows_of(out / "rows"), strict=True)):
        assert key == f"{place:09d}-{row['row_id'].hex()}"
        ids = np.load(io.BytesIO(files["npy"]))
        assert ids.dtype == np.uint32
        assert ids.tolist() == row["input_ids"]
        assert json.loads(files["json"]) == said_of(row)
    documents = read_tars(made(out, tmp_path / "y", "webdataset", "document"))
    for (_, files), document in zip(documents, tokenised_of(out / "rows"), strict=True):
        assert np.load(io.BytesIO(files["npy"])).tolist() == document["input_ids"]


def test_texts_are_tars_with_their_media(out: Path, tmp_path: Path) -> None:
    found = read_tars(made(out, tmp_path / "x", "webdataset", "text"))
    for (key, files), document in zip(found, texts_of(out / "texts"), strict=True):
        assert key.endswith(document["id"])
        assert files["txt"].decode() == document["text"]
        said = json.loads(files["json"])
        assert said["content_hash"] == document["content_hash"].hex()
        assert [m["file"] for m in said["media"] or []] == sorted(files.keys() - {"txt", "json"})
    assert found[0][1]["0.png"] == PIXELS


def test_documents_are_sequences_that_end_with_eos(out: Path, tmp_path: Path) -> None:
    sequences, said = read_megatron(made(out, tmp_path / "x", "megatron"))
    documents = tokenised_of(out / "rows")
    assert sequences == [[*document["input_ids"], EOS] for document in documents]
    assert [s["id"] for s in said] == [document["id"] for document in documents]


def test_rows_are_sequences_of_the_context(out: Path, tmp_path: Path) -> None:
    sequences, said = read_megatron(made(out, tmp_path / "x", "megatron", "row"))
    assert sequences == [row["input_ids"] for row in rows_of(out / "rows")]
    assert said == [said_of(row) for row in rows_of(out / "rows")]


def test_the_shuffled_order_is_that_of_the_stream(out: Path, tmp_path: Path) -> None:
    found = read_hf(made(out, tmp_path / "x", "hf", order="shuffled"))
    stream = TokenStream(implicit_plan(out / "rows", 3), options=ReadOptions(torch=False))
    batches = list(stream)
    assert [row["input_ids"] for row in found] == [batch.tokens[0].tolist() for batch in batches]
    assert [row["cu_seqlens"] for row in found] == [batch.cu_seqlens.tolist() for batch in batches]
    assert found != read_hf(made(out, tmp_path / "y", "hf"))


@pytest.mark.parametrize("order", ["stored", "shuffled"])
def test_places_cut_a_piece_out_of_the_order(out: Path, tmp_path: Path, order: Order) -> None:
    whole = read_hf(made(out, tmp_path / "x", "hf", order=order))
    export(Request(out / "rows", "hf", None, order, 3, 7, 90, SHARD_BYTES), tmp_path / "y")
    assert read_hf(tmp_path / "y") == whole[7:90]


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 120))
def test_pieces_are_as_full_as_they_can_be(sizes: list[int], most: int) -> None:
    plain = [0]
    filled = 0
    for at, size in enumerate(sizes):
        if filled and filled + size > most:
            plain.append(at)
            filled = 0
        filled += size
    expected = [*plain, len(sizes)] if sizes else [0]
    assert cut_places(np.array(sizes, dtype=np.int64), most) == expected


@given(st.lists(st.integers(0, (1 << 31) - 1), max_size=20), st.sampled_from([np.uint16, np.int32]))
def test_pointers_of_megatron_pass_32_bits(lengths: list[int], kind: Any) -> None:
    data = b"".join(megatron.index_parts(np.array(lengths, dtype=np.int64), np.dtype(kind)))
    count = len(lengths)
    pointers = np.frombuffer(data, "<i8", count, 34 + 4 * count).tolist()
    assert pointers == [sum(lengths[:i]) * np.dtype(kind).itemsize for i in range(count)]
    assert np.frombuffer(data, "<i4", count, 34).tolist() == lengths


def test_a_sequence_of_2_31_ids_is_no_megatron() -> None:
    with pytest.raises(ValueError, match="2147483648"):
        list(megatron.index_parts(np.array([1 << 31]), np.dtype(np.int32)))


@pytest.mark.parametrize(("vocabulary", "kind"), [(65499, np.uint16), (65500, np.int32), (129280, np.int32)])
def test_megatron_takes_the_smallest_type(vocabulary: int, kind: Any) -> None:
    assert megatron.dtype_of(vocabulary) == np.dtype(kind)


def test_offsets_of_mds_end_below_4_gib() -> None:
    room = (1 << 32) - 1 - 4 * 4 - 10
    head = mds.head_of(np.array([1 << 31, room - (1 << 31)]), 10)
    assert struct.unpack("<4I", head) == (2, 26, 26 + (1 << 31), (1 << 32) - 1)
    with pytest.raises(ValueError, match="4294967296"):
        mds.head_of(np.array([1 << 31, room - (1 << 31) + 1]), 10)


def test_a_shard_of_mds_that_passes_4_gib_is_refused(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mds, "MAX_SHARD_BYTES", 5000)
    with pytest.raises(UsageError, match="lower --shard-bytes"):
        made(out, tmp_path / "x", "mds")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("length", [1, 255, 256, 65535, 65536])
def test_shapes_of_mds(length: int) -> None:
    ids = np.arange(length, dtype=np.uint32)
    assert _mds_array(mds.shape_of(length) + ids.tobytes()) == ids.tobytes()


def test_context_is_in_the_encoding(out: Path, tmp_path: Path) -> None:
    made(out, tmp_path / "x", "mds")
    shard = json.loads((tmp_path / "x" / "index.json").read_bytes())["shards"][0]
    assert f"ndarray:uint32:{CONTEXT}" in shard["column_encodings"]
