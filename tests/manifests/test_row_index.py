"""The index of a shard of rows: what the shard alone says, in some sixty bytes a row."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests import ipc
from gristmill.manifests.commit import ObjectWriter
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.ipc import IpcShards
from gristmill.manifests.row_index import BATCH_TABLE, HEAD, ROW_TABLE, RowIndex, head_bytes, index_of_shard, row_sides
from gristmill.manifests.trainer_schema import SEGMENT_KINDS, packed_schema
from gristmill.pipeline.reader.sides import sides_of, sides_plain
from tests.pipeline.trainer_rows import form_of

CONTEXT = 64


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row of any segments, loss spans and media; ids and hashes are of no matter."""
    bounds = sorted(draw(st.sets(st.integers(0, CONTEXT), max_size=9)) | {0})
    optional = st.one_of(st.none(), st.integers(0, 300))
    segments = [
        {
            "start": a,
            "end": b,
            "kind": draw(st.sampled_from(SEGMENT_KINDS)),
            "attn_group": draw(st.integers(0, 3)),
            "doc_idx": 0,
            "doc_offset": draw(st.sampled_from([0, 1, b - a, 5_000_000_000])),
            "media_idx": draw(optional),
        }
        for a, b in pairwise(bounds)
    ]
    spans = [{"start": 1, "end": 9, "weight": draw(st.floats(width=32, allow_nan=False)), "reason": "x"}]
    media = [{"token_start": 3, "token_len": draw(st.integers(0, 1 << 20))}]
    return {
        "row_id": bytes(16),
        "input_ids": draw(st.lists(st.integers(0, 2**32 - 1), min_size=CONTEXT, max_size=CONTEXT)),
        "n_tokens": bounds[-1],
        "segments": segments,
        "docs": [],
        "media": media * draw(st.integers(0, 2)),
        "loss_spans": spans * draw(st.integers(0, 2)),
        "tasks": [],
    }


def batch_of(values: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(values, schema=packed_schema(form_of(CONTEXT)))


def expected(row: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """What a row's columns say, in the form of `sides_plain`."""
    kinds = SEGMENT_KINDS.index

    def medium(index: int | None) -> int:
        return -1 if index is None else index

    return {
        "segments": [
            (s["start"], s["end"], kinds(s["kind"]), s["attn_group"], s["doc_offset"], medium(s["media_idx"]))
            for s in row["segments"]
        ],
        "loss": [(s["start"], s["end"], int(np.float32(s["weight"]).view(np.uint32))) for s in row["loss_spans"]],
        "media": [(m["token_start"], m["token_len"]) for m in row["media"]],
    }


@given(st.lists(rows(), min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_a_side_says_what_the_columns_say(values: list[dict[str, Any]]) -> None:
    sides = row_sides(batch_of(values))
    assert [sides_plain(side) for side in sides] == [expected(row) for row in values]
    bounds = np.concatenate(([0], np.cumsum([len(side) for side in sides])))
    found = sides_of(np.frombuffer(b"".join(sides), np.uint8).copy(), bounds)
    for r, row in enumerate(values):
        mine = [tuple(s) for s in found.segments[found.segment_bounds[r] : found.segment_bounds[r + 1]].tolist()]
        assert mine == expected(row)["segments"]
        at = slice(found.loss_bounds[r], found.loss_bounds[r + 1])
        bits = found.weight[at].view(np.uint32).tolist()
        assert [(*s, b) for s, b in zip(found.loss[at].tolist(), bits, strict=True)] == [
            tuple(s) for s in expected(row)["loss"]
        ]
        assert found.media[found.media_bounds[r] : found.media_bounds[r + 1]].tolist() == [
            list(m) for m in expected(row)["media"]
        ]


def shards(folder: Path, values: list[dict[str, Any]]) -> list[tuple[Path, Path, str]]:
    """(shard, index, digest) of rows."""
    writer = ObjectWriter(folder, "0" * 32, {})
    made = IpcShards(writer, "rows", packed_schema(form_of(CONTEXT)), "row_indexes")
    for value in values:
        made.write(batch_of([value]))
    made.close()
    files = writer.files
    assert [f.role for f in files] == ["rows", "row_indexes"] * (len(files) // 2)
    return [(folder / a.path, folder / b.path, a.digest) for a, b in zip(files[::2], files[1::2], strict=True)]


@given(st.lists(rows(), min_size=1, max_size=12), st.data())
@settings(max_examples=25, deadline=None)
def test_the_index_follows_from_the_shard(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc, "BATCH_BYTES", data.draw(st.sampled_from([1, 1000, 1 << 22])))
        patch.setattr(ipc, "SHARD_BYTES", data.draw(st.sampled_from([1, 1500, 1 << 28])))
        made = shards(folder, values)
    read: list[list[int]] = []
    for shard, index, digest in made:
        whole = index.read_bytes()
        assert whole == index_of_shard(shard, digest)
        head = RowIndex.parse(whole, str(index))
        assert head.shard_digest.hex() == digest[7:39]
        assert head_bytes(whole[: HEAD.size]) == head.rows_at
        table = np.frombuffer(whole, ROW_TABLE, head.rows + 1, head.rows_at)
        file = shard.read_bytes()
        for row in range(head.rows):
            batch = head.batches[np.searchsorted(head.batches["first"], row, side="right") - 1]
            at = int(batch["ids_at"]) + 4 * CONTEXT * (row - int(batch["first"]))
            ids = file[at : at + 4 * CONTEXT]
            assert xxhash.xxh3_64_intdigest(ids) == table["ids"][row]
            side = whole[head.sides_at + table["side_at"][row] : head.sides_at + table["side_at"][row + 1]]
            assert xxhash.xxh3_64_intdigest(side) & 0xFFFFFFFF == table["side"][row]
            read.append(np.frombuffer(ids, "<u4").tolist())
    assert read == [row["input_ids"] for row in values]


@pytest.mark.parametrize("at", [0, 9, 30, HEAD.size - 1, HEAD.size + 3, HEAD.size + BATCH_TABLE.itemsize - 1])
def test_a_damaged_head_is_told(tmp_path: Path, at: int) -> None:
    row = {"row_id": bytes(16), "input_ids": [1] * CONTEXT, "n_tokens": 0}
    empty: dict[str, Any] = {name: [] for name in ("segments", "docs", "media", "loss_spans", "tasks")}
    ((_, index, _),) = shards(tmp_path, [row | empty])
    data = bytearray(index.read_bytes())
    data[at] ^= 4
    with pytest.raises(VerifyError, match="index of rows is damaged"):
        RowIndex.parse(bytes(data), "x")
    with pytest.raises(VerifyError, match="cut short"):
        RowIndex.parse(bytes(data[:20]), "x")


def test_what_is_no_side_is_refused() -> None:
    for data in (b"\x01", b"\x80", b"\x05\x00\x01", b"\x00\x00\x00\x00", b"\xff\xff\xff\xff\x0f"):
        with pytest.raises(ValueError, match="row 0 has no side"):
            sides_of(np.frombuffer(data, np.uint8).copy(), np.array([0, len(data)]))
