"""Indexes of deduplicated documents: what a later run compares its own with.

A folder (`OUT/indexes/<name>/`, or where a recipe says) with `index.json`, canonical JSON sealed by `digest` and
written last: `format` "gristmill-index", `config` (what its keys and sets depend on; a query must agree), `dataset` and
`recipe` that it was saved by, `sample`, `key` (of the hashes in its sets), `documents`, and `shards`: each with `rows`
(of its addresses) and `files` (path, role, rows, bytes, digest) of the roles `keys`, `copies` and `sets`. Removals name
documents by id, never by position.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import canonical_json, is_sealed, sealed
from gristmill.manifests.commit import replace_file
from gristmill.manifests.errors import InputError, VerifyError
from gristmill.manifests.receipt import FileEntry

INDEXES = "indexes"
INDEX = "index.json"
INDEX_FORMAT = "gristmill-index"
INDEX_VERSION = 1

Index = dict[str, Any]


def write_index(folder: Path, index: Mapping[str, Any]) -> None:
    """Seal an index and put it in place; its files must be there already."""
    document = sealed({"format": INDEX_FORMAT, "format_version": INDEX_VERSION, **index})
    replace_file(folder / INDEX, canonical_json(document))


def read_index(folder: Path) -> Index:
    """The index in a folder. InputError when there is none, VerifyError when it is not whole."""
    path = folder / INDEX
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(
            "no such index", str(path), None, "save one first: minhash_dedup: {index: {save: NAME}}"
        ) from None
    except (OSError, ValueError) as error:
        raise VerifyError("cannot be read as JSON", str(path), error, "save the index again") from error
    if not isinstance(document, dict) or document.get("format") != INDEX_FORMAT or not is_sealed(document):
        raise VerifyError("not a whole index", str(path), None, "save the index again")
    if document.get("format_version") != INDEX_VERSION:
        raise VerifyError("unknown format_version", str(path), document.get("format_version"), "save the index again")
    try:
        whole = isinstance(document["config"]["params"], dict) and "sample" in document
        whole = whole and all(Path(file.path).name == file.path for file in index_files(document))
    except (KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise VerifyError(
            "not a whole index, or one that names files elsewhere", str(path), None, "save the index again"
        )
    return document


def index_files(index: Mapping[str, Any]) -> Iterator[FileEntry]:
    """Every file that an index names."""
    for shard in index["shards"]:
        for entry in shard["files"]:
            yield FileEntry.from_json(entry)
