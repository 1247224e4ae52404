"""datatrove's Documents as batches of DOCUMENT, and what a stage changed back into them.

A Document's metadata give columns by METADATA where they are texts, and all of it stands in `meta` under `datatrove`,
as far as JSON holds it. A text of None is shown as "". A Document's own `media` are not shown to stages. One whose
text is no string, no Unicode, or above MAX_DOC_BYTES is not judged.
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa

from gristmill.manifests.schema import DOCUMENT, MAX_DOC_BYTES, content_hashes, document_batch
from gristmill.pipeline.adapters.judged import BAD_FIELD, BAD_UTF8, TOO_LARGE, Gone
from gristmill.stages.datatrove.documents import METADATA, NAMESPACE, parsed_meta

PREFIX = "gristmill"
"""Of the metadata keys that are ours: `gristmill.STAGE.MEASURE`, and `scores.NAME`, `meta.NAME` behind a stage's."""


@dataclass(frozen=True)
class Held:
    """A Document, its text as UTF-8 (None: it has none), and why it cannot be judged, if it cannot."""

    document: Any
    text: bytes | None = None
    fault: Gone | None = None


def batches(documents: Iterable[Any], rows: int, size: int) -> Iterator[list[Held]]:
    """Documents in their order, up to `rows` and `size` bytes of text at once; a longer one alone."""
    held: list[Held] = []
    taken = 0
    for document in documents:
        one = _held(document)
        more = len(one.text or b"")
        if held and (len(held) == rows or taken + more > size):
            yield held
            held, taken = [], 0
        held.append(one)
        taken += more
    if held:
        yield held


def _held(document: Any) -> Held:
    text = document.text
    if text is None:
        return Held(document)
    if not isinstance(text, str):
        fault = Gone("quarantine", BAD_FIELD, detail=f"the text is of type {type(text).__name__}")
        return Held(document, fault=fault)
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        return Held(document, fault=Gone("quarantine", BAD_UTF8, detail=f"lone surrogate at character {error.start}"))
    if len(encoded) > MAX_DOC_BYTES:
        limit = float(MAX_DOC_BYTES)
        return Held(document, fault=Gone("quarantine", TOO_LARGE, "text_bytes", float(len(encoded)), limit))
    return Held(document, encoded)


def batch_of(held: Sequence[Held]) -> pa.RecordBatch:
    """Rows of DOCUMENT."""
    documents = [one.document for one in held]
    text = pa.array([one.text or b"" for one in held], pa.large_binary()).view(pa.large_string())
    columns = {
        "text": text,
        "id": pa.array([_text_or_none(str(d.id)) for d in documents], pa.string()),
        "content_hash": content_hashes(text, pa.nulls(len(text), DOCUMENT.field("media").type)),
        "meta": pa.array([_meta(d.metadata) for d in documents], pa.large_string()),
    }
    for key, name in METADATA.items():
        columns[name] = pa.array([_text_or_none(d.metadata.get(key)) for d in documents], pa.string())
    return document_batch(columns)


def _text_or_none(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return value.encode("utf-8", "replace").decode()


def _meta(metadata: dict[str, Any]) -> str | None:
    # What stages read of it are texts and numbers; a NaN would make the whole unreadable.
    shown = {k: v for k, v in metadata.items() if not isinstance(v, float) or math.isfinite(v)}
    try:
        made = json.dumps({NAMESPACE: shown}, default=str, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return None
    return made  # ASCII: a lone surrogate stands there escaped


def write_back(documents: Sequence[Any], before: pa.RecordBatch, after: pa.RecordBatch, stage: str) -> None:
    """What differs between the rows goes into their Documents."""
    for name in after.schema.names:
        old, new = before.column(name), after.column(name)
        if name in ("content_hash", "id") or old.equals(new):
            continue
        for row, document in enumerate(documents):
            is_, was = new[row].as_py(), old[row].as_py()
            if is_ != was:
                _write(document, name, was, is_, stage)


def _write(document: Any, name: str, was: Any, is_: Any, stage: str) -> None:
    key = next((key for key, column in METADATA.items() if column == name), f"{PREFIX}.{stage}.{name}")
    if name == "text":
        document.text = is_
    elif name == "media":
        document.media.extend(_medium(medium) for medium in is_ or ())
    elif name == "meta":
        _write_meta(document, parsed_meta(was), parsed_meta(is_), stage)
    elif name == "scores":
        document.metadata.update({f"{PREFIX}.{stage}.scores.{score}": value for score, value in is_})
    else:
        document.metadata[key] = is_


def _write_meta(document: Any, was: dict[str, Any], is_: dict[str, Any], stage: str) -> None:
    for space, found in is_.items():
        if space == NAMESPACE and isinstance(found, dict):
            old = cast(dict[str, Any], was.get(space, {}))
            changed = {k: v for k, v in cast(dict[str, Any], found).items() if k not in old or old[k] != v}
            document.metadata.update(changed)
        elif was.get(space) != found:
            document.metadata[f"{PREFIX}.{stage}.meta.{space}"] = found


def _medium(medium: dict[str, Any]) -> Any:
    from datatrove.data import Media, MediaType

    kind = MediaType.VIDEO if medium["kind"] == "video" else MediaType.IMAGE
    known = {name: medium[name] for name in ("mime", "width", "height", "frames", "fps") if medium[name] is not None}
    sha = medium["sha256"].hex() if medium["sha256"] else ""
    uri = medium["uri"] or ""
    return Media(sha or uri, kind, uri, media_bytes=medium["bytes"], metadata=known)


def rows_of(batch: pa.RecordBatch, rows: np.ndarray[Any, np.dtype[np.int64]]) -> pa.RecordBatch:
    """These rows, which are in order."""
    kept = np.zeros(batch.num_rows, np.bool_)
    kept[rows] = True
    return batch.filter(pa.array(kept))
