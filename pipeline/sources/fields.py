"""From JSON objects to the columns of a document: which fields are known, their types, and what becomes of the rest.

Known fields: the text field (option `text`, default "text"): string; `url`, `lang` (else `language`), `license`: string
or null, taken out of the object. The record's key is the field named by option `key`, else `id`, else `key`: string
or integer, kept in the object too. All that is left of an object becomes `meta`: `{"<dataset>": {...}}`, compact,
in the object's order; a nested field never overrides a top-level one. Null and "" count as absent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson

from gristmill.pipeline.sources.columns import Columns, identity
from gristmill.pipeline.sources.protocol import OptionValue, ReadOptions

Json = dict[str, Any]
DEFAULT_KEYS = ("id", "key")
FIELD_OPTIONS: dict[str, OptionValue] = {"text": "text"}
_STRING = frozenset({str})
_OPTIONAL = frozenset({str, type(None)})
_OPTIONAL_FIELDS = ("url", "lang", "language", "license")


@dataclass(frozen=True)
class Fields:
    """The names and constants by which objects are read; `of` makes them from the options."""

    text: str
    key: str | None
    dataset: str
    meta_head: bytes

    @staticmethod
    def of(options: ReadOptions) -> "Fields":
        """Raises no error: a name that no object has shows as a reason of each record."""
        text = str(options.extra.get("text") or FIELD_OPTIONS["text"])
        return Fields(text, options.key, options.dataset, b"{" + orjson.dumps(options.dataset) + b":")


def take_columns(docs: Sequence[Json], fields: Fields) -> tuple[list[str], Columns] | None:
    """Texts and columns of objects; None if any has a fault (`fault_of` tells which). Takes fields out of `docs`."""
    try:
        keys = key_texts(docs, fields)
        texts = cast(list[str], [doc.pop(fields.text) for doc in docs])
        urls, langs, licenses = _take(docs, "url"), _take(docs, "lang"), _take(docs, "license")
        languages = [None] if all(langs) else [doc.get("language") for doc in docs]
        typed = {*map(type, urls), *map(type, langs), *map(type, languages), *map(type, licenses)} <= _OPTIONAL
        if not all(langs):
            langs = [lang or doc.pop("language", None) for lang, doc in zip(langs, docs, strict=True)]
        metas = [meta_of(doc, fields) for doc in docs]
    except (KeyError, AttributeError, TypeError):
        return None
    if keys is None or not typed or not {*map(type, texts)} <= _STRING:
        return None
    return texts, Columns(with_urls(keys, urls), urls, langs, licenses, metas)


def fault_of(doc: object, fields: Fields) -> tuple[str, str] | None:
    """Reason and detail of the first fault of what a line holds; None if it can become a row."""
    if not isinstance(doc, dict):
        return "not_an_object", type(doc).__name__
    doc = cast(Json, doc)
    text = doc.get(fields.text)
    if text is None:
        return "missing_text", fields.text
    if not isinstance(text, str):
        return "bad_field", f"{fields.text} is {type(text).__name__}"
    for name in _OPTIONAL_FIELDS:
        if not isinstance(doc.get(name), str | None):
            return "bad_field", f"{name} is {type(doc[name]).__name__}"
    try:
        orjson.dumps(doc)
    except TypeError as error:
        return "bad_field", str(error)
    return _key_fault(doc, fields.key)


def key_texts(docs: Sequence[Json], fields: Fields) -> list[str | None] | None:
    """What each object's id is hashed from, None where it has no key; None in all if a key is at fault."""
    names = (fields.key,) if fields.key else DEFAULT_KEYS
    for name in names:
        values = [doc.get(name) for doc in docs]
        if {*map(type, values)} <= _STRING and "" not in values:
            prefix = identity("key", fields.dataset, "")
            return [prefix + cast(str, value) for value in values]
    found = [next((doc[name] for name in names if doc.get(name) not in (None, "")), None) for doc in docs]
    if not all(map(_is_key, found)) or (fields.key and None in found):
        return None
    return [None if value is None else identity("key", fields.dataset, str(value)) for value in found]


def with_urls(keys: list[str | None], urls: Sequence[str | None]) -> list[str | None]:
    """`keys`, with what an id is hashed from by URL where there is no key."""
    if None not in keys:
        return keys
    by_url = [identity("url", "", url) if url else None for url in urls]
    return [url if key is None else key for key, url in zip(keys, by_url, strict=True)]


def meta_of(doc: Json, fields: Fields, default: Callable[[Any], Any] | None = None) -> bytes | None:
    """What is left of an object as namespaced JSON; None if nothing is. TypeError beyond 254 levels."""
    return fields.meta_head + orjson.dumps(doc, default) + b"}" if doc else None


def _take(docs: Sequence[Json], name: str) -> list[Any]:
    return [doc.pop(name, None) for doc in docs]


def _is_key(value: object) -> bool:
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


def _key_fault(doc: Json, name: str | None) -> tuple[str, str] | None:
    value = next((doc[n] for n in ((name,) if name else DEFAULT_KEYS) if doc.get(n) not in (None, "")), None)
    if value is None and name:
        return "missing_key", name
    if not _is_key(value):
        return "bad_field", f"{name or 'id'} is {type(value).__name__}"
    return None
