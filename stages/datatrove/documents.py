"""Rows of a batch as datatrove's Documents, and what a filter wrote into a Document back into the row.

A Document's `text` is the row's ("" for null), its `id` the row's, its `metadata` the keys of `meta` (those inside each
namespace, the later of two with one name) and, above them, METADATA: `url`, `language` (of `lang`), `license`,
`source`, `domain`, each where the row has one. Its `media` are the row's.

What a filter writes into `metadata` goes to `meta` under NAMESPACE, a text under `language` to `lang` as well; what it
takes out of `metadata` stays. A filter that touches `id` or `media`, or cuts or writes U+FFFC (which stands for a
medium), has not done what a filter may do.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pyarrow as pa

from gristmill.manifests.schema import MEDIUM_CHAR

METADATA: Mapping[str, str] = {
    "url": "url",
    "language": "lang",
    "license": "license",
    "source": "source",
    "domain": "domain",
}
"""Key of a Document's metadata -> column."""

NAMESPACE = "datatrove"


class NotAFiltersWork(ValueError):
    """A filter changed what no filter may change."""


def documents_of(batch: pa.RecordBatch) -> Iterator[Any]:
    """A Document for each row, made when it is asked for."""
    from datatrove.data import Document

    ids, metas, media = (batch.column(name) for name in ("id", "meta", "media"))
    texts, named = batch.column("text"), {key: batch.column(name) for key, name in METADATA.items()}
    for row in range(batch.num_rows):
        metadata = _flat(metas[row].as_py())
        metadata |= {key: found for key, column in named.items() if (found := column[row].as_py()) is not None}
        own = [_medium(number, medium) for number, medium in enumerate(media[row].as_py() or ())]
        text = texts[row].as_py()
        yield Document("" if text is None else text, ids[row].as_py() or "", own, metadata)


def _flat(meta: str | None) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in parsed_meta(meta).items():
        flat |= cast(dict[str, Any], value) if isinstance(value, dict) else {key: value}
    return flat


def parsed_meta(meta: str | None) -> dict[str, Any]:
    """The object that a row's `meta` holds; nothing where it holds none."""
    try:
        found = json.loads(meta or "{}")
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _medium(number: int, medium: Mapping[str, Any]) -> Any:
    from datatrove.data import Media, MediaType

    kind = MediaType.VIDEO if medium["kind"] == "video" else MediaType.IMAGE
    sha = medium["sha256"].hex() if medium["sha256"] else str(number)
    return Media(sha, kind, medium["uri"] or "", media_bytes=medium["bytes"])


def written(before: Mapping[str, Any], document: Any) -> dict[str, Any]:
    """What a filter wrote into the metadata, as plain data. Raises ValueError on what JSON does not hold."""
    changed = {k: v for k, v in document.metadata.items() if k not in before or _differs(before[k], v)}
    plain: dict[str, Any] = {str(key): _plain(value) for key, value in changed.items()}
    return plain


def _differs(before: object, after: object) -> bool:
    return before is not after and (type(before) is not type(after) or before != after)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in cast(dict[object, object], value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast(list[object], value)]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "item"):  # a number of numpy's
        return value.item()
    raise NotAFiltersWork(f"metadata of type {type(value).__name__}")


def with_written(meta: str | None, changes: Mapping[str, Any]) -> str:
    """The row's `meta` with these entries in NAMESPACE. Raises NotAFiltersWork where it holds something else."""
    found = parsed_meta(meta)
    own: Any = found.get(NAMESPACE, {})
    if (meta and not found and meta.strip() != "{}") or not isinstance(own, dict):
        raise NotAFiltersWork("the record's meta is no object to write into")
    made = {**found, NAMESPACE: {**cast(dict[str, Any], own), **changes}}
    return json.dumps(made, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def checked_text(before: str, document: Any) -> str:
    """The text that a filter left. Raises NotAFiltersWork where it is none, or lost or gained the mark of a medium."""
    text = document.text
    if not isinstance(text, str):
        raise NotAFiltersWork(f"the text became {type(text).__name__}")
    if text is not before and text.count(MEDIUM_CHAR) != before.count(MEDIUM_CHAR):
        raise NotAFiltersWork("the text lost or gained the mark of a medium")
    return text
