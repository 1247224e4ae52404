"""Pictures, media and documents with media, made small for tests, and a recipe that emits them."""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.schema import DOCUMENT, document_batch

MARK = "\ufffc"
RECIPE = """name: pictures
seed: 1
tokenizer: bytes
datasets:
  docs:
    read: {parquet: "in/*.parquet"}
    domain: vision
  train:
    from: [docs]
    steps:
      - emit: {context: 256}
"""


def picture(width: int, height: int, seed: int = 0, form: str = "PNG") -> bytes:
    """A file of noise."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, form)
    return out.getvalue()


def medium(data: bytes | None, **more: Any) -> dict[str, Any]:
    """A medium of these bytes, without a size."""
    sha = None if data is None else hashlib.sha256(data).digest()
    return {"kind": "image", "sha256": sha, "mime": "image/png", "bytes": data, **more}


Document = tuple[str, list[dict[str, Any]]]


def batch_of(documents: Sequence[Document]) -> pa.RecordBatch:
    """Documents of (text, media); ids are those of their content."""
    texts = [text for text, _ in documents]
    shas = [b"".join((m["sha256"] or b"") for m in media) for _, media in documents]
    named = [hashlib.sha256(t.encode() + s).digest() for t, s in zip(texts, shas, strict=True)]
    return document_batch(
        {
            "id": pa.array([name.hex()[:32] for name in named], pa.string()),
            "content_hash": pa.array([name[:16] for name in named], pa.binary(16)),
            "source": pa.array(["s"] * len(texts), pa.string()),
            "text": pa.array(texts, pa.large_string()),
            "media": pa.array([media for _, media in documents], DOCUMENT.field("media").type),
        }
    )


def write_documents(folder: Path, documents: Sequence[Document], files: int = 1) -> None:
    """Parquet files of documents, for RECIPE."""
    (folder / "in").mkdir(parents=True, exist_ok=True)
    for number in range(files):
        part = documents[number::files]
        pq.write_table(pa.Table.from_batches([batch_of(part)]), folder / "in" / f"{number}.parquet", row_group_size=3)


def corpus() -> list[Document]:
    """Documents with none, one and several pictures, some shown twice, and one without bytes."""
    pictures = [picture(30 + 17 * i, 40 + 11 * i, i, "JPEG" if i % 2 else "PNG") for i in range(6)]
    some = [medium(data) for data in pictures]
    documents: list[Document] = [(f"text {i} alone", []) for i in range(5)]
    documents += [(f"one {i} {MARK} behind", [some[i]]) for i in range(6)]
    documents += [(f"{MARK}{MARK} two {i} {MARK}", [some[i], some[(i + 1) % 6], some[i]]) for i in range(4)]
    documents += [(MARK, [some[2]]), (f"gone {MARK} and there {MARK}", [medium(None, uri="x"), some[3]])]
    return documents


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """All rows of a dataset, by plain pyarrow."""
    return table_of(folder, "shards")


def table_of(folder: Path, file_list: str) -> list[dict[str, Any]]:
    """All rows of the files of one of a manifest's lists."""
    paths = [folder / entry["path"] for entry in read_manifest(folder)[file_list]]
    return [row for path in paths for row in pa.ipc.open_file(pa.memory_map(str(path))).read_all().to_pylist()]
