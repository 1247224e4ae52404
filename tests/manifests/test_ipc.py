"""Arrow IPC shards: aligned, readable by plain pyarrow, the same bytes however rows were batched."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests import ipc
from gristmill.manifests.commit import ObjectWriter
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.ipc import IpcShards, TokenLookup, read_ipc, row_bytes

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("input_ids", pa.large_list(pa.uint32()), nullable=False),
        pa.field("row", pa.list_(pa.field("item", pa.uint32(), nullable=False), 3)),
        pa.field("flag", pa.bool_()),
        pa.field("hash", pa.binary(16)),
        pa.field("spans", pa.list_(pa.struct([("start", pa.int32()), ("kind", pa.string()), ("m", pa.int32())]))),
        pa.field("boxes", pa.list_(pa.struct([("box", pa.list_(pa.float32(), 4))]))),
    ],
    metadata={"context": "3"},
)

spans = st.fixed_dictionaries(
    {
        "start": st.integers(0, 9),
        "kind": st.sampled_from(["text", "code", None]),
        "m": st.one_of(st.none(), st.integers(0, 3)),
    }
)
rows = st.fixed_dictionaries(
    {
        "id": st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
        "input_ids": st.lists(st.integers(0, 2**32 - 1), max_size=40),
        "row": st.one_of(st.none(), st.lists(st.integers(0, 2**32 - 1), min_size=3, max_size=3)),
        "flag": st.sampled_from([True, False, None]),
        "hash": st.one_of(st.none(), st.binary(min_size=16, max_size=16)),
        "spans": st.one_of(st.none(), st.lists(spans, max_size=3)),
        "boxes": st.lists(st.just({"box": [0.0, 0.5, 1.0, 2.0]}), max_size=2),
    }
)


def batch_of(values: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(values, schema=SCHEMA)


def written(folder: Path, batches: list[pa.RecordBatch], schema: pa.Schema = SCHEMA) -> list[Path]:
    writer = ObjectWriter(folder, "0" * 32, {})
    shards = IpcShards(writer, "data", schema)
    for batch in batches:
        shards.write(batch)
    shards.close()
    return [folder / f.path for f in writer.files]


@given(st.lists(rows, min_size=1, max_size=30), st.data())
@settings(max_examples=60)
def test_the_same_rows_give_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]], data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc, "BATCH_BYTES", data.draw(st.sampled_from([1, 200, 1000, 1 << 22])))
        patch.setattr(ipc, "SHARD_BYTES", data.draw(st.sampled_from([1, 1500, 1 << 28])))
        cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=5)))
        whole = batch_of(values)
        parts = [whole.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
        fresh = [batch_of([value]) for value in values]
        folder = tmp_path_factory.mktemp("ipc")
        paths = [written(folder / str(i), b) for i, b in enumerate(([whole], parts, fresh))]
    names = [[p.name for p in group] for group in paths]
    assert names[0] == names[1] == names[2]
    for group in zip(*paths, strict=True):
        assert len({p.read_bytes() for p in group}) == 1
    back = [row for path in paths[0] for batch in read_ipc(path) for row in batch.to_pylist()]
    assert back == values


@given(st.lists(rows, min_size=1, max_size=20))
@settings(max_examples=30)
def test_every_buffer_is_aligned(tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc, "BATCH_BYTES", 300)
        (path,) = written(tmp_path_factory.mktemp("ipc"), [batch_of(values)])
    whole = pa.py_buffer(path.read_bytes())
    reader = pa.ipc.open_file(whole)
    assert reader.schema.equals(SCHEMA, check_metadata=True)
    for index in range(reader.num_record_batches):
        batch = reader.get_batch(index)
        batch.validate(full=True)
        buffers = [b for column in batch.columns for b in column.buffers() if b is not None and b.size]
        assert all((b.address - whole.address) % 64 == 0 for b in buffers)
    assert reader.read_all().to_pylist() == values


def test_plain_pyarrow_reads_it_as_a_stream_too(tmp_path: Path) -> None:
    """The head of a file behind its magic is a stream: what recovers rows when a footer is lost."""
    values = [{"id": str(i), "input_ids": [i], "boxes": []} for i in range(5)]
    (path,) = written(tmp_path, [batch_of(values)])
    with pa.ipc.open_stream(pa.BufferReader(path.read_bytes()[8:])) as reader:
        assert reader.read_all().column("id").to_pylist() == ["0", "1", "2", "3", "4"]


def test_a_row_above_the_limit_is_a_batch_alone(tmp_path: Path) -> None:
    long = list(range((ipc.BATCH_BYTES // 4) + 1))
    values = [{"id": str(i), "input_ids": long if i == 2 else [1], "boxes": []} for i in range(5)]
    (path,) = written(tmp_path, [batch_of(values)])
    assert [b.num_rows for b in read_ipc(path)] == [2, 1, 2]


def test_row_bytes_count_what_is_nested() -> None:
    one, many = (
        {"id": "x", "input_ids": [1], "boxes": []},
        {"id": "x", "input_ids": [1] * 10, "boxes": [{"box": [0.0] * 4}] * 3, "spans": [{"kind": "code"}]},
    )
    small, large = row_bytes(batch_of([one, many])).tolist()
    assert large - small == 9 * 4 + 3 * 16 + (4 + 4 + 4 + len("code"))


def test_no_rows_leave_no_file_and_other_schemas_are_refused(tmp_path: Path) -> None:
    assert written(tmp_path / "a", [batch_of([])]) == []
    with pytest.raises(ValueError, match="another schema"):
        written(tmp_path / "b", [pa.RecordBatch.from_pydict({"id": ["x"]})])


@pytest.mark.parametrize("damage", ["cut", "no magic", "absent", "empty"])
def test_damage_is_named(tmp_path: Path, damage: str) -> None:
    (path,) = written(tmp_path, [batch_of([{"id": "x", "input_ids": [1, 2], "boxes": []}])])
    raw = path.read_bytes()
    damaged = tmp_path / "damaged.arrow"
    if damage != "absent":
        damaged.write_bytes({"cut": raw[:-20], "no magic": raw[:-1] + b"?", "empty": b""}[damage])
    with pytest.raises(VerifyError, match=r"damaged\.arrow"):
        list(read_ipc(damaged))


@given(st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=20), min_size=1, max_size=20), st.data())
@settings(max_examples=40)
def test_token_lookup_finds_pieces_across_files(
    tmp_path_factory: pytest.TempPathFactory, docs: list[list[int]], data: st.DataObject
) -> None:
    batch = batch_of([{"id": "x", "input_ids": ids, "boxes": []} for ids in docs])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc, "BATCH_BYTES", 200)
        patch.setattr(ipc, "SHARD_BYTES", 500)
        lookup = TokenLookup(written(tmp_path_factory.mktemp("ipc"), [batch]))
    assert len(lookup) == len(docs)
    asked = data.draw(st.lists(st.integers(0, len(docs) - 1), max_size=10))
    offsets = [data.draw(st.integers(0, len(docs[d]))) for d in asked]
    lengths = [data.draw(st.integers(0, len(docs[d]) - o)) for d, o in zip(asked, offsets, strict=True)]
    arrays = [np.array(a, dtype=np.int64) for a in (asked, offsets, lengths)]
    pieces = lookup.pieces(arrays[0], arrays[1], arrays[2])
    wanted = [docs[d][o : o + n] for d, o, n in zip(asked, offsets, lengths, strict=True)]
    assert [p.tolist() for p in pieces] == wanted


@pytest.mark.parametrize("place", [(2, 0, 1), (-1, 0, 1), (0, 0, 4), (0, -1, 1), (1, 3, 1)])
def test_token_lookup_refuses_what_is_not_there(tmp_path: Path, place: tuple[int, int, int]) -> None:
    values = [{"id": "x", "input_ids": [1, 2, 3], "boxes": []}] * 2
    lookup = TokenLookup(written(tmp_path, [batch_of(values)]))
    doc, offset, length = (np.array([v], dtype=np.int64) for v in place)
    with pytest.raises(IndexError):
        lookup.pieces(doc, offset, length)
