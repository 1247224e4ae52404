"""Documents to tokenised documents: rows of DOCUMENT in, rows of TOKENISED out, in the same order.

Media without bytes have no tokens yet, so each U+FFFC is taken out of the text before encoding and counted
(`media_missing`). A document that the tokenizer fails on leaves with reason `tokenizer_failed` (quarantine), one
that has no token with `no_tokens` (drop). Ids are those of the text alone: no separator, no special token.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.schema import MEDIUM, MEDIUM_CHAR
from gristmill.manifests.tokenizer import Encoded, Tokenizer
from gristmill.manifests.trainer_schema import tokenised_schema
from gristmill.pipeline.breaks import Coded, Spans, any_long, find_breaks
from gristmill.stages.protocol import RowVerdict

REASONS: Mapping[str, str] = {
    "tokenizer_failed": "quarantine: the tokenizer crashed, hung or needed too much memory; detail says which",
    "no_tokens": "drop: nothing is left to encode: an empty text, or media without bytes alone",
}
"""The closed vocabulary of reasons that tokenising gives; the first word is the verdict."""


@dataclass(frozen=True)
class Tokenised:
    """What became of n documents.

    batch: rows of `tokenised_schema` for those that stay; kept: int64, their rows among the n; verdicts: of the
    others; media_missing: int64[n] characters U+FFFC taken out of each text.
    """

    batch: pa.RecordBatch
    kept: npt.NDArray[np.int64]
    verdicts: tuple[RowVerdict, ...]
    media_missing: npt.NDArray[np.int64]


def tokenise(batch: pa.RecordBatch, tokenizer: Tokenizer) -> Tokenised:
    """Encode a batch with the columns of DOCUMENT."""
    text = batch.column("text")
    missing = pc.fill_null(pc.count_substring(text, MEDIUM_CHAR), 0).to_numpy().astype(np.int64)
    if missing.any():
        text = pc.replace_substring(text, MEDIUM_CHAR, "")
    encoded = tokenizer.encode_batch(text)
    counts = np.diff(encoded.offsets)
    failed = {f.row: f for f in encoded.failures}
    kept = np.flatnonzero(counts > 0).astype(np.int64)
    verdicts = tuple(
        RowVerdict(row, "quarantine", "tokenizer_failed", detail=f"{failed[row].kind}: {failed[row].detail}")
        if row in failed
        else RowVerdict(row, "drop", "no_tokens")
        for row in np.flatnonzero(counts == 0).tolist()
    )
    offsets = np.concatenate(([0], np.cumsum(counts[kept])))
    ids = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(encoded.ids))
    breaks = _breaks(batch, text, encoded, tokenizer, kept)
    named = batch.select(["id", "content_hash", "source", "domain", "license"]).take(pa.array(kept))
    columns = {
        **{name: named.column(name) for name in named.schema.names},
        "domain": named.column("domain").cast(pa.string()),
        "input_ids": ids,
        "n_tokens": pa.array(counts[kept]),
        "media": _no_media(len(kept)),
        "breaks": breaks,
    }
    schema = tokenised_schema(tokenizer.identity)
    arrays = [columns[f.name] for f in schema]
    return Tokenised(pa.RecordBatch.from_arrays(arrays, schema=schema), kept, verdicts, missing)


def _breaks(
    batch: pa.RecordBatch, text: pa.Array, encoded: Encoded, tokenizer: Tokenizer, kept: npt.NDArray[np.int64]
) -> pa.LargeListArray:
    """Where the documents that stay may be cut; `text` as it was encoded."""
    lengths = tokenizer.byte_lengths() if any_long(encoded.offsets) else None
    if lengths is None:
        counts, places = np.zeros(batch.num_rows, np.int64), np.zeros(0, np.int64)
    else:
        is_code = pc.fill_null(pc.equal(batch.column("domain").cast(pa.string()), "code"), False)
        coded = Coded(encoded.ids, encoded.offsets, lengths)
        media = Spans.none(batch.num_rows)
        counts, places = find_breaks(text, coded, is_code.to_numpy(zero_copy_only=False), media)
    bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts[kept])))
    return pa.LargeListArray.from_arrays(pa.array(bounds), pa.array(places))


def _no_media(rows: int) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.zeros(rows + 1, dtype=np.int32)), pa.array([], MEDIUM))
