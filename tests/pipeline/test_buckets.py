"""Buckets: each document in the one of its domain and length, none too small where another could take it in."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.trainer_schema import (
    BREAK_LEVELS,
    BREAK_TOP,
    HOLD_END,
    HOLD_START,
    TOKENISED,
    TOKENISED_MEDIUM,
)
from gristmill.pipeline.buckets import BOUNDS, BY, MIN_ROWS, buckets_of, merged
from gristmill.pipeline.emit_stage import Emit
from gristmill.pipeline.pack_buckets import pack_buckets
from gristmill.pipeline.pack_inputs import read_documents

ways = st.sampled_from([("domain", "length"), ("domain",), ("length",), ()])
sizes = st.one_of(st.integers(1, 600_000), st.sampled_from([b + d for b in BOUNDS for d in (-1, 0, 1)]))
corpora = st.lists(st.tuples(st.integers(0, 2), sizes), max_size=40)


@given(corpora, ways, st.sampled_from([64, 8192, 131_072]))
@settings(max_examples=150)
def test_each_document_is_in_the_bucket_of_its_domain_and_length(
    corpus: list[tuple[int, int]], by: tuple[str, ...], context: int
) -> None:
    names = ("web", "", "code")
    domain, lengths = (np.array([c[i] for c in corpus], dtype=np.int64) for i in (0, 1))
    found = buckets_of(lengths, domain, names, context, by)
    assert sorted(d for b in found for d in b.docs.tolist()) == list(range(len(corpus)))
    keys = [(b.domain or "", b.min_tokens) for b in found]
    assert keys == sorted(set(keys))
    for bucket in found:
        high = bucket.max_tokens or 1 << 62
        assert {bucket.min_tokens, high} <= {0, *BOUNDS, 1 << 62}
        assert len(bucket.docs) and (lengths[bucket.docs] >= bucket.min_tokens).all()
        assert (lengths[bucket.docs] < high).all()
        assert bucket.domain == (names[domain[bucket.docs[0]]] if "domain" in by else None)
        assert "domain" not in by or len(set(domain[bucket.docs].tolist())) == 1
        alone = sum(b.domain == bucket.domain for b in found) == 1
        assert alone or lengths[bucket.docs].sum() >= MIN_ROWS * context
    assert "length" in by or all((b.min_tokens, b.max_tokens) == (0, None) for b in found)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([9, 9, 9], [(0, 0), (1, 1), (2, 2)]),
        ([3, 9, 9], [(0, 1), (2, 2)]),
        ([9, 2, 2], [(0, 2)]),
        ([3, 0, 2], [(0, 2)]),
        ([0, 3, 0], [(1, 1)]),
        ([9, 0, 9], [(0, 0), (2, 2)]),
        ([0, 0, 0], []),
    ],
)
def test_small_ranges_go_to_the_next_longer_and_the_last_to_the_one_before(
    tokens: list[int], expected: list[tuple[int, int]]
) -> None:
    assert merged(tokens, 5) == expected


def write(path: Path, rows: list[dict[str, Any]], media: pa.DataType) -> Path:
    """A file of tokenised documents whose ids are made up, and whose lengths need not be theirs."""
    index = TOKENISED.get_field_index("media")
    schema = TOKENISED.set(index, pa.field("media", pa.list_(media)))
    with pa.ipc.new_file(str(path), schema) as writer:
        writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
    return path


def document(number: int, tokens: int, domain: str | None, **more: Any) -> dict[str, Any]:
    base = {"id": f"{number:032x}", "content_hash": np.random.default_rng(number).bytes(16), "domain": domain}
    return {**base, "input_ids": [], "n_tokens": tokens, "media": [], "breaks": [], **more}


def medium(start: int, length: int) -> dict[str, int]:
    return {"token_start": start, "token_len": length}


def test_rows_of_a_bucket_are_one_range_and_facts_add_up(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    values = [(int(n), d) for d in ("web", None, "code") for n in rng.integers(1, 40_000, 60)]
    rows = [document(i, n, d) for i, (n, d) in enumerate(values)]
    rows[3] |= {"n_tokens": 30_000, "media": [medium(10, 100), medium(500, 7000)]}
    parts = [write(tmp_path / f"{i}.arrow", rows[i::2], TOKENISED_MEDIUM) for i in range(2)]
    documents = read_documents(parts, 8192)
    packed, facts = pack_buckets(documents, 8192, BY, None)
    domains = [f["domain"] for f in facts]
    assert domains == sorted(domains) and set(domains) == {"", "code", "web"} and len(domains) > 3
    assert [f["first_row"] for f in facts] == [0, *(f["stop_row"] for f in facts)][:-1]
    assert facts[-1]["stop_row"] == packed.rows
    for fact in facts:
        here = (packed.row >= fact["first_row"]) & (packed.row < fact["stop_row"])
        docs = np.unique(packed.doc[here])
        assert {documents.names[d] for d in documents.domain[docs].tolist()} == {fact["domain"]}
        assert ((documents.lengths[docs] >= fact["min_tokens"]) & (documents.lengths[docs] < fact["max_tokens"])).all()
        assert fact["documents"] == len(docs)
        assert fact["tokens"] == packed.length[here].sum() == documents.lengths[docs].sum()
        filled = packed.length[here].sum() + packed.separator[here].sum()
        places = (fact["stop_row"] - fact["first_row"]) * 8192
        assert fact["padding_frac"] == (places - filled) / places
        by_hand: dict[tuple[int, int | None], list[int]] = {}
        for tokens in documents.lengths[docs].tolist():
            edges = [0, *(b for b in BOUNDS if b <= tokens)]
            high = next((b for b in BOUNDS if b > tokens), None)
            by_hand.setdefault((edges[-1], high), []).append(tokens)
        told = {(p["min_tokens"], p["max_tokens"]): (p["documents"], p["tokens"]) for p in fact["lengths"]}
        assert told == {r: (len(n), sum(n)) for r, n in by_hand.items()}
        assert list(told) == sorted(told) and fact["rate"] == fact["tokens"] / documents.lengths.sum()
    assert any(len(f["lengths"]) > 1 for f in facts), "some are merged"
    assert sum(f["image_tokens"] for f in facts) == 7100
    _, together = pack_buckets(documents, 8192, (), None)
    assert [(f["domain"], f["min_tokens"], f["max_tokens"], f["documents"]) for f in together] == [(None, 0, None, 180)]
    again, same = pack_buckets(read_documents(parts[::-1], 8192), 8192, BY, None)
    assert same == facts
    assert np.array_equal(again.length, packed.length)


def test_pieces_end_at_breaks_and_outside_of_media(tmp_path: Path) -> None:
    breaks = [90 * BREAK_LEVELS + BREAK_TOP, 185 * BREAK_LEVELS + BREAK_TOP]
    hold = [99 * BREAK_LEVELS + HOLD_START, 150 * BREAK_LEVELS + HOLD_END]
    rows = [
        document(0, 400, "web", breaks=breaks, media=[medium(280, 90)]),
        document(1, 20, "web"),
        document(2, 299, "web", breaks=hold, media=[medium(120, 9)]),
    ]
    documents = read_documents([write(tmp_path / "a.arrow", rows, TOKENISED_MEDIUM)], 100)
    packed, _ = pack_buckets(documents, 100, BY, None)
    assert sorted(packed.doc_offset[packed.doc == 0].tolist()) == [0, 90, 185, 280, 380]
    assert sorted(packed.doc_offset[packed.doc == 2].tolist()) == [0, 99, 199]


def test_a_medium_longer_than_a_row_is_refused(tmp_path: Path) -> None:
    rows = [document(5, 300, "web"), document(6, 400, "web", media=[medium(0, 10), medium(20, 101)])]
    path = write(tmp_path / "a.arrow", rows, TOKENISED_MEDIUM)
    with pytest.raises(InputError, match=f"document {6:032x}.*101 tokens, rows have 100"):
        read_documents([path], 100)


def test_lengths_beyond_32_bits(tmp_path: Path) -> None:
    """NVIDIA/Megatron-LM#1672 and marin PR #1970: lengths beyond 2^31, sums beyond 2^32; no ids are there."""
    huge = [(1 << 31) + 5, (1 << 32) + 7, 1 << 33]
    place = (huge[1] - 100) * BREAK_LEVELS + BREAK_TOP
    rows = [document(i, n, "web", breaks=[place] if i == 1 else []) for i, n in enumerate([*huge, 5, 6])]
    documents = read_documents([write(tmp_path / "a.arrow", rows, TOKENISED_MEDIUM)], 1 << 20)
    packed, facts = pack_buckets(documents, 1 << 20, BY, None)
    assert sum(f["tokens"] for f in facts) == sum(huge) + 11 == packed.length.sum()
    for doc, length in enumerate(huge):
        mine = packed.doc == doc
        order = np.argsort(packed.doc_offset[mine])
        offsets, sizes = packed.doc_offset[mine][order], packed.length[mine][order]
        assert np.array_equal(np.cumsum(sizes)[:-1], offsets[1:])
        assert offsets[-1] + sizes[-1] == length
    assert packed.needless_cuts == 0


@pytest.mark.parametrize(
    "params", [{"by": ("domain", "domain")}, {"by": ("source",)}, {"max_segments": 0}, {"context": 1}]
)
def test_parameters_of_emit_that_make_no_sense(params: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Emit(**params)
