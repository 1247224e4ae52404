"""The same rows twice, plain and compressed, in several shards of several batches."""

import json
import random
from pathlib import Path

import pytest

from gristmill.manifests import ipc
from tests.laws.running import run_inline, write_recipe

RECIPE = """
name: cold
seed: 1
tokenizer: bytes
datasets:
  docs: {read: {jsonl: "docs.jsonl", key: id}, domain: web}
  plain: {from: [docs], steps: [emit: {context: 64}]}
  cold: {from: [docs], steps: [emit: {context: 64, compression: zstd}]}
"""


def make_rows(folder: Path) -> Path:
    """An output in `folder` with the datasets `docs`, `plain` and `cold`."""
    draw = random.Random(5)
    texts = [" ".join(str(draw.randrange(1000)) for _ in range(draw.randrange(1, 60))) for _ in range(160)]
    (folder / "docs.jsonl").write_text("\n".join(json.dumps({"id": f"d{i}", "text": t}) for i, t in enumerate(texts)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc, "BATCH_BYTES", 4000)
        patch.setattr(ipc, "SHARD_BYTES", 20_000)
        run_inline(write_recipe(folder, RECIPE), folder / "out")
    return folder / "out"
