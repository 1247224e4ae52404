"""Documents for the laws of single stages; loads no stage, so that a fresh process has nothing else in it."""

import pyarrow as pa

from gristmill.manifests.schema import DOCUMENT, content_hashes, document_batch


def make_batch(texts: list[str | None]) -> pa.RecordBatch:
    """Documents with distinct ids and right hashes; every third bears a language."""
    text = pa.array(texts, pa.large_string())
    hashes = content_hashes(text.fill_null(""), pa.nulls(len(texts), DOCUMENT.field("media").type))
    columns = {
        "text": text,
        "id": pa.array([f"{i:032x}" for i in range(len(texts))], pa.string()),
        "content_hash": hashes,
        "source": pa.array(["s"] * len(texts), pa.string()),
        "domain": pa.array(["web"] * len(texts), pa.string()),
        "lang": pa.array([("en" if i % 3 == 0 else None) for i in range(len(texts))], pa.string()),
    }
    return document_batch(columns)


def sentence_of(name: str) -> str:
    """What a long document of a stage repeats."""
    plain = "The people of that place have been with us, to see what it can be and do. "
    return f"<p>{plain}</p>\n" if name == "extract_html" else plain
