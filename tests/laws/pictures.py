"""Documents with pictures for the laws: the same pixels in several files, pairs with code, broken files."""

import io
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from gristmill.manifests.schema import MEDIUM_CHAR, record_id
from gristmill.stages.columns import with_column
from tests.pipeline.pictures import Document, batch_of, medium, picture
from tests.stages.vision import scenes

PAIRS = 5
FORMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("PNG", {"compress_level": 0}),
    ("PNG", {"compress_level": 9}),
    ("WEBP", {"lossless": True}),
    ("BMP", {}),
)
"""Ways to write the same pixels."""


def encoded(seed: int, form: int) -> bytes:
    """A picture of noise, written in one of the ways."""
    out = io.BytesIO()
    name, options = FORMS[form % len(FORMS)]
    Image.open(io.BytesIO(picture(9 + seed, 7, seed))).save(out, name, **options)
    return out.getvalue()


def pictured_documents() -> list[Document]:
    """One and several pictures, equal ones in other files and in another order, without bytes, broken, none."""
    documents: list[Document] = [(f"one {n} {MEDIUM_CHAR}", [medium(encoded(n % 4, n))]) for n in range(11)]
    for n in range(4):
        two = [medium(encoded(n % 2, n)), medium(encoded(7, n + 1))]
        documents.append((f"two {n} {MEDIUM_CHAR}{MEDIUM_CHAR}", two if n < 3 else two[::-1]))
    documents += [(f"gone {n} {MEDIUM_CHAR}", [medium(None, uri="x")]) for n in range(2)]
    documents += [(f"broken {n} {MEDIUM_CHAR}", [medium(encoded(0, 0)[:40])]) for n in range(2)]
    documents += [(f"film {n} {MEDIUM_CHAR}", [medium(encoded(0, 0)) | {"kind": "video"}]) for n in range(2)]
    return [*documents, ("no picture", []), ("no picture either", [])]


def pictured() -> pa.RecordBatch:
    """These documents."""
    return batch_of(pictured_documents())


def render_pairs(count: int = PAIRS) -> pa.RecordBatch:
    """Pairs of code and picture."""
    return scenes.batch_of([scenes.pair(seed) for seed in range(count)])


def write_pictures(folder: Path, files: int, seed: int | None, documents: int | None = None) -> None:
    """The documents (or the first so many) in so many files, shuffled where there is a seed."""
    chosen = pictured_documents()[:documents]
    if seed is not None:
        random.Random(seed).shuffle(chosen)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        part = chosen[number::files]
        batch = batch_of(part)
        ids = pa.array([record_id("key", "pictures", text) for text, _ in part], pa.string())
        pq.write_table(pa.Table.from_batches([with_column(batch, "id", ids)]), folder / f"p{number}.parquet")


def write_pairs(folder: Path) -> None:
    """Pairs, one of them twice, as a dataset of ours that is read again."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_batches([render_pairs(12)]), folder / "a.parquet")
    pq.write_table(pa.Table.from_batches([render_pairs(2)]), folder / "b.parquet")
