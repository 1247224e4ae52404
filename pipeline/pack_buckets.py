"""Packing bucket by bucket: one `Pack` of all documents in which the rows of each bucket are one range.

In: `Documents`; out: the pack, and for each bucket, in the order of rows, what a manifest says of it: `{"domain",
"min_tokens", "max_tokens", "first_row", "stop_row", "documents", "tokens", "image_tokens", "padding_frac", "lengths",
"rate"}`: domain null where domains are packed together, "" for documents without one; documents of [min_tokens,
max_tokens) tokens, max null for no bound; rows half open; tokens without separators, image_tokens those of them that
stand for media. `lengths` says what a bucket of several ranges holds: `{"min_tokens", "max_tokens", "documents",
"tokens"}` for each range of `buckets.BOUNDS` that has documents, ascending; they add up to the bucket's. `rate` is the
bucket's part of all tokens, 0 where there are none.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gristmill.pipeline.buckets import Bucket, buckets_of, lengths_within
from gristmill.pipeline.cut import Ints
from gristmill.pipeline.pack import Pack, pack
from gristmill.pipeline.pack_inputs import Documents


def pack_buckets(
    documents: Documents, context: int, by: Sequence[str], max_segments: int | None
) -> tuple[Pack, list[dict[str, Any]]]:
    """See the module; `doc` of the pack indexes the documents given."""
    packs: list[Pack] = []
    facts: list[dict[str, Any]] = []
    first_row = 0
    found = buckets_of(documents.lengths, documents.domain, documents.names, context, by)
    for bucket in found:
        docs = bucket.docs
        lengths, structure = documents.lengths[docs], documents.structure.take(docs)
        packed = pack(lengths, documents.keys[docs], context, structure, max_segments)
        facts.append(_facts(bucket, documents, packed, first_row))
        packs.append(packed)
        first_row += packed.rows
    return _joined(packs, [b.docs for b in found], context), facts


def _facts(bucket: Bucket, documents: Documents, packed: Pack, first_row: int) -> dict[str, Any]:
    tokens = int(documents.lengths[bucket.docs].sum())
    return {
        "domain": bucket.domain,
        "min_tokens": bucket.min_tokens,
        "max_tokens": bucket.max_tokens,
        "first_row": first_row,
        "stop_row": first_row + packed.rows,
        "documents": len(bucket.docs),
        "tokens": tokens,
        "image_tokens": int(documents.image_tokens[bucket.docs].sum()),
        "padding_frac": packed.padding_frac,
        "lengths": _lengths(documents.lengths[bucket.docs]),
        "rate": tokens / max(int(documents.lengths.sum()), 1),
    }


def _lengths(lengths: Ints) -> list[dict[str, Any]]:
    return [
        {"min_tokens": low, "max_tokens": high, "documents": len(docs), "tokens": int(lengths[docs].sum())}
        for (low, high), docs in lengths_within(lengths)
    ]


def _joined(packs: Sequence[Pack], docs: Sequence[np.ndarray], context: int) -> Pack:
    if not packs:
        none, no = np.zeros(0, np.int64), np.zeros(0, np.bool_)
        return Pack(context, 0, none, none, none, none, none, no, no, none)
    first = np.cumsum([0, *(p.rows for p in packs)]).tolist()
    return Pack(
        context=context,
        rows=first[-1],
        row=np.concatenate([p.row + r for p, r in zip(packs, first[:-1], strict=True)]),
        start=np.concatenate([p.start for p in packs]),
        doc=np.concatenate([d[p.doc] for p, d in zip(packs, docs, strict=True)]),
        doc_offset=np.concatenate([p.doc_offset for p in packs]),
        length=np.concatenate([p.length for p in packs]),
        ends_doc=np.concatenate([p.ends_doc for p in packs]),
        separator=np.concatenate([p.separator for p in packs]),
        empty=np.concatenate([d[p.empty] for p, d in zip(packs, docs, strict=True)]),
    )
