"""Datasets to export, made small, and what must come out of them, read without the reader or a library."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.manifests import ipc
from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.schema import DOCUMENT
from gristmill.manifests.trainer_schema import packed_schema
from tests.laws.running import run_inline, write_recipe
from tests.manifests.small_run import forge_table
from tests.pipeline.trainer_rows import form_of

CONTEXT = 64
RECIPE = """
name: exported
seed: 1
tokenizer: bytes
datasets:
  texts: {read: {jsonl: "texts.jsonl", key: id}, domain: web}
  rows: {from: [texts], steps: [emit: {context: 64}]}
"""
SPANS = [
    {"start": 2, "end": 5, "weight": 0.5, "reason": "quoted"},
    {"start": 5, "end": 6, "weight": 0.0, "reason": None},
]
PIXELS = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
Ids = npt.NDArray[np.uint32]


def make_output(folder: Path, documents: int = 160) -> Path:
    """`texts` and `rows` of 64 tokens in several shards of several batches; the first rows have loss spans and a
    medium, the first text has a picture."""
    draw = random.Random(5)
    texts = [" ".join(str(draw.randrange(1000)) for _ in range(draw.randrange(1, 60))) for _ in range(documents)]
    lines = [json.dumps({"id": f"t{i}", "text": f"{text} \u00fc\u7edf"}) for i, text in enumerate(texts)]
    (folder / "texts.jsonl").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc, "BATCH_BYTES", 4000)
        patch.setattr(ipc, "SHARD_BYTES", 20_000)
        run_inline(write_recipe(folder, RECIPE), folder / "out")
    forge_table(folder / "out" / "rows", "shards", _with_spans)
    forge_table(folder / "out" / "texts", "shards", _with_picture)
    return folder / "out"


def _with_spans(table: pa.Table) -> pa.Table:
    rows = table.to_pylist()
    for row in rows[:3]:
        row["loss_spans"] = SPANS
        row["media"] = [{"sha256": bytes(32), "mime": "image/png", "width": 4, "token_start": 1, "token_len": 2}]
        row["tasks"] = [{"task_id": "t", "family": "needle", "query_start": 3, "window_eps": [0.5], "chance": 0.25}]
    return pa.Table.from_pylist(rows, schema=packed_schema(form_of(CONTEXT)).with_metadata(table.schema.metadata))


def _with_picture(table: pa.Table) -> pa.Table:
    rows = table.to_pylist()
    rows[0]["text"] = f"a picture \ufffc {rows[0]['text']}"
    rows[0]["media"] = [{"kind": "image", "sha256": bytes(32), "mime": "image/png", "bytes": PIXELS, "width": 1}]
    rows[1]["scores"] = [("quality", 0.5)]
    return pa.Table.from_pylist(rows, schema=DOCUMENT)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Every row of a dataset of rows, in stored order."""
    return [row for path in _paths(folder, "shards") for batch in read_ipc(path) for row in batch.to_pylist()]


def tokenised_of(folder: Path) -> list[dict[str, Any]]:
    """Every tokenised document behind a dataset of rows."""
    return [row for path in _paths(folder, "tokenised") for batch in read_ipc(path) for row in batch.to_pylist()]


def texts_of(folder: Path) -> list[dict[str, Any]]:
    """Every document of a dataset of documents."""
    return [row for path in _paths(folder, "shards") for row in pq.read_table(path).to_pylist()]


def _paths(folder: Path, file_list: str) -> list[Path]:
    return [folder / entry["path"] for entry in read_manifest(folder)[file_list]]


def bounds_of(row: dict[str, Any]) -> list[int]:
    """`cu_seqlens` of a row, one segment after the other."""
    bounds, group = [0], None
    for segment in row["segments"]:
        if group is not None and segment["attn_group"] != group:
            bounds.append(segment["start"])
        group = segment["attn_group"]
    return [*bounds, row["n_tokens"], *([CONTEXT] if row["n_tokens"] < CONTEXT else [])]
