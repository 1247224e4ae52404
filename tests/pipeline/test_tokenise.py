"""Tokenising a batch: rows stay aligned with their documents, every lost one has a reason."""

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.child import ChildLimits
from gristmill.manifests.schema import content_hash, document_batch, record_id
from gristmill.manifests.token_child import EngineSpec
from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.manifests.trainer_schema import TOKENISED
from gristmill.pipeline.tokenise import REASONS, Tokenised, tokenise

texts = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\ufffc\ufffca ")))


@pytest.fixture(scope="module")
def tokens() -> Iterator[Tokenizer]:
    with load_tokenizer() as loaded:
        yield loaded


def documents(values: list[str]) -> pa.RecordBatch:
    rows = len(values)
    return document_batch(
        {
            "id": pa.array([record_id("key", "test", str(i)) for i in range(rows)], pa.string()),
            "content_hash": pa.array([content_hash(v.encode()) for v in values], pa.binary(16)),
            "domain": pa.array(["web", "code"] * (rows // 2) + ["math"] * (rows % 2), pa.string()),
            "source": pa.array([f"s{i}" for i in range(rows)], pa.string()),
            "license": pa.array(["MIT"] * rows, pa.string()),
            "text": pa.array(values, pa.large_string()),
        }
    )


def check(batch: pa.RecordBatch, done: Tokenised, tokens: Tokenizer) -> None:
    done.batch.validate(full=True)
    assert done.batch.schema.equals(TOKENISED)
    gone = [v.row for v in done.verdicts]
    assert sorted([*done.kept.tolist(), *gone]) == list(range(batch.num_rows))
    assert {v.reason for v in done.verdicts} <= set(REASONS)
    assert all(REASONS[v.reason].startswith(v.verdict) for v in done.verdicts)
    given_rows: list[dict[str, Any]] = batch.to_pylist()
    for row, source in zip(done.batch.to_pylist(), done.kept.tolist(), strict=True):
        document = given_rows[source]
        for name in ("id", "content_hash", "source", "domain", "license"):
            assert row[name] == document[name]
        assert len(row["input_ids"]) == row["n_tokens"] > 0
        text = document["text"].replace("\ufffc", "")
        assert row["input_ids"] == tokens.encode_batch(pa.array([text], pa.large_string())).ids.tolist()


@given(st.lists(texts, max_size=8))
@settings(max_examples=50)
def test_documents_keep_their_ids_and_their_text(tokens: Tokenizer, values: list[str]) -> None:
    batch = documents(values)
    done = tokenise(batch, tokens)
    check(batch, done, tokens)
    assert done.media_missing.tolist() == [v.count("\ufffc") for v in values]
    empty = [i for i, v in enumerate(values) if not v.replace("\ufffc", "")]
    assert [(v.row, v.reason) for v in done.verdicts] == [(i, "no_tokens") for i in empty]


def test_media_without_bytes_go_and_are_counted(tokens: Tokenizer) -> None:
    done = tokenise(documents(["a\ufffcb", "ab", "\ufffc"]), tokens)
    first, second = done.batch.column("input_ids").to_pylist()
    assert first == second
    assert done.media_missing.tolist() == [1, 0, 1]
    assert done.batch.column("media").to_pylist() == [[], []]


def test_a_failing_document_is_quarantined_alone(tokens: Tokenizer) -> None:
    rng = random.Random(7)
    slow = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000))
    batch = documents(["first", slow, "last"])
    spec = EngineSpec("tokenizers", tokens.spec.path, tokens.spec.digest)
    with Tokenizer(tokens.identity, spec, limits=ChildLimits(max_seconds_per_record=0.4)) as strict:
        done = tokenise(batch, strict)
    (verdict,) = done.verdicts
    assert (verdict.row, verdict.verdict, verdict.reason) == (1, "quarantine", "tokenizer_failed")
    assert verdict.detail == "timeout: over 0.4 s"
    check(batch, done, tokens)
