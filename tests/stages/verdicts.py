"""What a stage says of one text, for tests of filters."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import content_hashes, document_batch
from gristmill.stages import catalogue
from gristmill.stages.chain import run_chain


def reason_of(stage: Any, text: str, **columns: str) -> str | None:
    """The reason for which a stage (or the built-in one of that name) drops a text; None where it keeps it."""
    loaded = catalogue.load(stage, {}, Path()) if isinstance(stage, str) else stage
    texts = pa.array([text], pa.large_string())
    given = {name: pa.array([value]) for name, value in columns.items()}
    hashes = content_hashes(texts, pa.nulls(1, pa.list_(pa.null())))
    batch = document_batch({"text": texts, "content_hash": hashes, **given})
    fates = run_chain([loaded], batch).fates
    return fates[0].reason if fates else None
