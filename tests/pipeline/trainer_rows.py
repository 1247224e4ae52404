"""Tokenised documents and their rows, made small for tests."""

from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.trainer_schema import TOKENISED, TokenizerIdentity, TrainerFormat
from gristmill.pipeline.pack import Pack, pack
from gristmill.pipeline.rows import Pieces, build_rows

TOKENIZER = TokenizerIdentity("test", "sha256:00", "0" * 32, 1003, 1001, 1002)


def form_of(context: int) -> TrainerFormat:
    return TrainerFormat(context, TOKENIZER, "test")


def tokenised(docs: list[list[int]], domains: list[str | None] | None = None) -> pa.RecordBatch:
    """Documents of the given ids; their content hashes come from their number."""
    values = [
        {
            "id": f"{i:032x}",
            "content_hash": np.random.default_rng(i).bytes(16),
            "source": f"source {i % 3}",
            "domain": None if domains is None else domains[i],
            "license": "MIT" if i % 2 else None,
            "input_ids": ids,
            "n_tokens": len(ids),
            "media": [],
        }
        for i, ids in enumerate(docs)
    ]
    return pa.RecordBatch.from_pylist(values, schema=TOKENISED)


def keys_of(batch: pa.RecordBatch) -> Any:
    return np.frombuffer(b"".join(batch.column("content_hash").to_pylist()), dtype=">u8").reshape(-1, 2)


def packed_rows(batch: pa.RecordBatch, context: int) -> tuple[Pack, pa.RecordBatch]:
    """The pack of a batch, and all its rows."""
    lengths = batch.column("n_tokens").to_numpy()
    packed = pack(lengths, keys_of(batch).astype(np.uint64), context)
    return packed, rows_of(batch, packed, 0, packed.rows)


def rows_of(batch: pa.RecordBatch, packed: Pack, first: int, stop: int) -> pa.RecordBatch:
    ids = batch.column("input_ids").to_pylist()
    pieces = Pieces.of(packed, first, stop)
    places = zip(pieces.doc.tolist(), pieces.doc_offset.tolist(), pieces.length.tolist(), strict=True)
    tokens = [np.array(ids[d][o : o + n], dtype=np.uint32) for d, o, n in places]
    return build_rows(pieces, tokens, batch, form_of(packed.context))
