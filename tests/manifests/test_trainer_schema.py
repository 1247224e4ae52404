"""The trainer's schema is that of the design, and a file says what its ids mean."""

from dataclasses import replace

import pyarrow as pa
import pytest

from gristmill.manifests.trainer_schema import (
    MAX_CONTEXT,
    TASK,
    TokenizerIdentity,
    TrainerFormat,
    packed_schema,
    tokenised_schema,
)

TOKENIZER = TokenizerIdentity("deepseek", "sha256:00", "f" * 32, 129_280, 1, 2)
FORM = TrainerFormat(8192, TOKENIZER, "8K")


def fields_of(kind: pa.DataType) -> list[str]:
    return [f.name for f in kind]


def test_columns_are_those_of_the_design() -> None:
    schema = packed_schema(FORM)
    names = ["row_id", "input_ids", "n_tokens", "segments", "docs", "media", "loss_spans", "tasks"]
    assert schema.names == names
    assert schema.field("row_id").type == pa.binary(16)
    assert schema.field("input_ids").type.list_size == 8192
    assert schema.field("input_ids").type.value_type == pa.uint32()
    assert schema.field("n_tokens").type == pa.int32()
    segment = ["start", "end", "kind", "attn_group", "doc_idx", "doc_offset", "media_idx"]
    assert fields_of(schema.field("segments").type.value_type) == segment
    doc = ["id", "source", "domain", "license", "content_hash", "n_tokens_total", "use_no"]
    assert fields_of(schema.field("docs").type.value_type) == doc
    medium = ["sha256", "mime", "width", "height", "frames", "token_start", "token_len"]
    assert fields_of(schema.field("media").type.value_type) == medium
    assert fields_of(schema.field("loss_spans").type.value_type) == ["start", "end", "weight", "reason"]
    needed = {"family", "klass", "query_start", "answer_start", "answer", "evidence", "window_eps"}
    assert needed <= set(fields_of(TASK))


def test_one_schema_for_every_length() -> None:
    short, long = packed_schema(FORM), packed_schema(replace(FORM, context=1 << 20))
    assert [f for f in short if f.name != "input_ids"] == [f for f in long if f.name != "input_ids"]


def test_the_format_comes_back_from_metadata() -> None:
    metadata = packed_schema(FORM).metadata
    assert TrainerFormat.from_metadata(metadata) == FORM
    assert {b"context", b"tokenizer_digest", b"pad_id", b"stage", b"format_version"} <= set(metadata)
    assert {b"context", b"stage"}.isdisjoint(tokenised_schema(TOKENIZER).metadata)


def test_another_format_version_is_refused() -> None:
    metadata = {**packed_schema(FORM).metadata, b"format_version": b"2"}
    with pytest.raises(ValueError, match="format_version"):
        TrainerFormat.from_metadata(metadata)


@pytest.mark.parametrize("context", [0, -1, MAX_CONTEXT + 1])
def test_contexts_outside_int32_are_refused(context: int) -> None:
    with pytest.raises(ValueError, match="context"):
        replace(FORM, context=context)
