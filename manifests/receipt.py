"""The receipt of a finished piece of work, and the files that it names.

`objects/<key>/receipt.json` is canonical JSON with its digest over all but `volatile`. One that is torn, damaged or of
another form does not exist: the work is made anew.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import VOLATILE, is_sealed

RECEIPT = "receipt.json"


@dataclass(frozen=True)
class FileEntry:
    """A committed file: `path` relative to the folder of the receipt or manifest that names it."""

    path: str
    role: str
    rows: int
    bytes: int
    digest: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "FileEntry":
        """Inverse of `asdict`."""
        return FileEntry(
            value["path"],
            value["role"],
            value["rows"],
            value["bytes"],
            value["digest"],
            value.get("extra", {}),
        )


@dataclass(frozen=True)
class Receipt:
    """What a finished piece of work left: files and, in `facts`, its account (tallies and the like)."""

    key: str
    what: Mapping[str, Any]
    files: tuple[FileEntry, ...]
    facts: Mapping[str, Any]
    digest: str
    volatile: Mapping[str, Any]

    def role(self, role: str) -> list[FileEntry]:
        """The files of one role, in order."""
        return [f for f in self.files if f.role == role]


def read_receipt(folder: Path) -> Receipt | None:
    """The receipt of a finished piece of work; None when there is none or it is torn."""
    try:
        return parse_receipt((folder / RECEIPT).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None


def parse_receipt(data: bytes) -> Receipt | None:
    """A receipt from its bytes; None where they are not whole, or not of this form."""
    try:
        document = json.loads(data)
        if not isinstance(document, dict) or not is_sealed(document):
            return None
        files = tuple(FileEntry.from_json(f) for f in document["files"])
        named = all(isinstance(file["path"], str) for file in document["files"])
        facts, volatile = document["facts"], document[VOLATILE]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not named or not isinstance(facts, dict) or not isinstance(volatile, dict):
        return None
    return Receipt(document.get("key", ""), document.get("what", {}), files, facts, document["digest"], volatile)
