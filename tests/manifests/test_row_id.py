"""`row_id` follows its written definition and sees every change of content."""

import copy
import struct
from typing import Any

import pyarrow as pa
import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.row_id import row_ids
from gristmill.manifests.trainer_schema import SEGMENT_KINDS, packed_schema
from tests.pipeline.trainer_rows import form_of, packed_rows, tokenised

corpora = st.lists(st.lists(st.integers(0, 1000), max_size=30), min_size=1, max_size=8)


def plain_row_id(row: dict[str, Any], context: int) -> bytes:
    """The definition in the module, byte by byte."""
    segments, docs = row["segments"], row["docs"]
    out = struct.pack("<5I", 1, context, row["n_tokens"], len(segments), len(docs))
    out += struct.pack(f"<{row['n_tokens']}I", *row["input_ids"][: row["n_tokens"]])
    for s in segments:
        kind = SEGMENT_KINDS.index(s["kind"])
        medium = -1 if s["media_idx"] is None else s["media_idx"]
        out += struct.pack("<5i", s["start"], s["end"], kind, s["attn_group"], s["doc_idx"])
        out += struct.pack("<qi", s["doc_offset"], medium)
    for d in docs:
        out += struct.pack("<iI", d["use_no"], len(d["id"].encode())) + d["content_hash"]
    return blake3(out + "".join(d["id"] for d in docs).encode()).digest(16)


@given(corpora, st.integers(1, 20))
@settings(max_examples=100)
def test_ids_are_those_of_the_definition(docs: list[list[int]], context: int) -> None:
    _, rows = packed_rows(tokenised(docs), context)
    expected = [plain_row_id(row, context) for row in rows.to_pylist()]
    assert row_ids(rows).to_pylist() == expected
    assert row_ids(rows.slice(1)).to_pylist() == expected[1:]


def changed(row: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    row = copy.deepcopy(row)
    at = row
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return row


def test_each_part_counts_and_padding_does_not() -> None:
    form = form_of(16)
    _, rows = packed_rows(tokenised([[1, 2, 3], [4, 5]]), 16)
    (row,) = rows.to_pylist()

    def id_of(value: dict[str, Any]) -> bytes:
        return row_ids(pa.RecordBatch.from_pylist([value], schema=packed_schema(form)))[0].as_py()

    others = [
        changed(row, "input_ids", 0, to=999),
        changed(row, "n_tokens", to=row["n_tokens"] - 1),
        changed(row, "segments", 0, "kind", to="code"),
        changed(row, "segments", 0, "start", to=9),
        changed(row, "segments", 0, "end", to=9),
        changed(row, "segments", 0, "attn_group", to=9),
        changed(row, "segments", 0, "doc_idx", to=9),
        changed(row, "segments", 0, "doc_offset", to=9),
        changed(row, "segments", 0, "media_idx", to=9),
        changed(row, "docs", 0, "id", to="x"),
        changed(row, "docs", 0, "content_hash", to=bytes(16)),
        changed(row, "docs", 0, "use_no", to=1),
    ]
    assert len({id_of(row), *map(id_of, others)}) == len(others) + 1
    assert id_of(changed(row, "input_ids", 15, to=7)) == id_of(row)
    assert id_of(changed(row, "docs", 0, "source", to="elsewhere")) == id_of(row)


def test_an_unknown_kind_is_refused() -> None:
    form = form_of(16)
    _, rows = packed_rows(tokenised([[1]]), 16)
    odd = changed(rows.to_pylist()[0], "segments", 0, "kind", to="smell")
    with pytest.raises(ValueError, match="segment kind"):
        row_ids(pa.RecordBatch.from_pylist([odd], schema=packed_schema(form)))
