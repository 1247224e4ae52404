"""Rows: segments tile the tokens, every id is a document's, a separator or padding, and says which."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.row_id import row_ids
from gristmill.manifests.trainer_schema import packed_schema
from gristmill.pipeline.rows import Pieces, build_rows
from tests.pipeline.trainer_rows import TOKENIZER, form_of, packed_rows, rows_of, tokenised

docs_and_context = st.integers(1, 30).flatmap(
    lambda context: st.tuples(
        st.lists(st.lists(st.integers(0, 1000), max_size=3 * context), max_size=12), st.just(context)
    )
)


@given(docs_and_context, st.data())
@settings(max_examples=200)
def test_rows_hold_every_document_once(case: tuple[list[list[int]], int], data: st.DataObject) -> None:
    docs, context = case
    domains = data.draw(st.lists(st.sampled_from(["code", "web", None]), min_size=len(docs), max_size=len(docs)))
    batch = tokenised(docs, domains)
    packed, rows = packed_rows(batch, context)
    assert rows.schema.equals(packed_schema(form_of(context)), check_metadata=True)
    rows.validate(full=True)
    assert rows.num_rows == packed.rows
    found: dict[str, dict[int, list[int]]] = {}
    for row in rows.to_pylist():
        check_row(row, context)
        for segment in row["segments"]:
            doc = row["docs"][segment["doc_idx"]]
            ids = row["input_ids"][segment["start"] : segment["end"]]
            number = int(doc["id"], 16)
            if segment["kind"] == "separator":
                assert ids == [TOKENIZER.eos_id]
                assert segment["doc_offset"] == len(docs[number])
            else:
                assert segment["kind"] == ("code" if domains[number] == "code" else "text")
                found.setdefault(doc["id"], {})[segment["doc_offset"]] = ids
    whole = {name: [i for _, ids in sorted(p.items()) for i in ids] for name, p in found.items()}
    assert whole == {f"{i:032x}": ids for i, ids in enumerate(docs) if ids}


def check_row(row: dict[str, Any], context: int) -> None:
    """What must hold of each row by itself."""
    segments, docs = row["segments"], row["docs"]
    ends = [0, *(s["end"] for s in segments)]
    assert [s["start"] for s in segments] == ends[:-1]
    assert ends[-1] == row["n_tokens"]
    assert all(s["start"] < s["end"] for s in segments)
    assert len(row["input_ids"]) == context
    assert set(row["input_ids"][row["n_tokens"] :]) <= {TOKENIZER.pad_id}
    assert [s["attn_group"] for s in segments] == [s["doc_idx"] for s in segments]
    assert sorted({s["doc_idx"] for s in segments}) == list(range(len(docs)))
    assert len({d["id"] for d in docs}) == len(docs)
    assert all(s["media_idx"] is None for s in segments)
    assert (row["media"], row["loss_spans"], row["tasks"]) == ([], [], [])


def test_documents_are_described_in_the_row() -> None:
    batch = tokenised([[5, 6, 7]])
    _, rows = packed_rows(batch, 8)
    (row,) = rows.to_pylist()
    assert row["input_ids"] == [5, 6, 7, 1001, 1002, 1002, 1002, 1002]
    assert row["docs"] == [
        {
            "id": "0" * 32,
            "source": "source 0",
            "domain": None,
            "license": None,
            "content_hash": batch.column("content_hash")[0].as_py(),
            "n_tokens_total": 3,
            "use_no": 0,
        }
    ]


def test_rows_do_not_depend_on_how_many_are_built_at_once() -> None:
    batch = tokenised([[i] * (i % 11 + 1) for i in range(40)])
    packed, whole = packed_rows(batch, 16)
    single = [rows_of(batch, packed, r, r + 1) for r in range(packed.rows)]
    assert pa.concat_batches(single).equals(whole)
    assert whole.column("row_id").equals(row_ids(whole))


def test_a_batch_without_rows() -> None:
    _, rows = packed_rows(tokenised([]), 8)
    assert rows.num_rows == 0
    assert row_ids(rows).to_pylist() == []


def test_domains_may_be_dictionaries() -> None:
    batch = tokenised([[1], [2]], ["code", "web"])
    encoded = batch.set_column(3, "domain", batch.column("domain").dictionary_encode())
    _, plain = packed_rows(batch, 8)
    _, rows = packed_rows(encoded, 8)
    assert rows.equals(plain)


def test_a_piece_of_another_length_is_refused() -> None:
    batch = tokenised([[1, 2]])
    packed, _ = packed_rows(batch, 8)
    with pytest.raises(ValueError, match="2 tokens came with 1"):
        build_rows(Pieces.of(packed, 0, 1), [np.array([1], dtype=np.uint32)], batch, form_of(8))
