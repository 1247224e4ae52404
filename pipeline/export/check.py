"""The manifest of an export (`run` has its fields), read, and its files held against it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import is_sealed
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.receipt import FileEntry
from gristmill.manifests.verify import VerifyReport
from gristmill.manifests.verify_files import Fault, Progress, hash_files, name_files

EXPORT = "gristmill_export.json"
FORMAT = "gristmill-export"
FORMAT_VERSION = 1


def is_export(folder: Path) -> bool:
    """Whether a folder says that it is one."""
    return (folder / EXPORT).is_file()


def read_export(folder: Path) -> dict[str, Any]:
    """The manifest. Raises VerifyError where it is not whole."""
    where = str(folder / EXPORT)
    try:
        document = json.loads((folder / EXPORT).read_bytes())
    except (OSError, ValueError) as error:
        raise VerifyError("cannot be read as JSON", where, error, "export again") from None
    if not isinstance(document, Mapping) or document.get("format") != FORMAT or not is_sealed(document):
        raise VerifyError("is not what was written", where, None, "export again")
    if document.get("format_version") != FORMAT_VERSION:
        value, remedy = document.get("format_version"), f"this version reads {FORMAT_VERSION}"
        raise VerifyError("unknown format_version", where, value, remedy)
    try:
        entries_of(document)
    except (KeyError, TypeError, AttributeError) as error:
        raise VerifyError("names its files in another form", where, error, "export again") from None
    return dict(document)


def entries_of(document: Mapping[str, Any]) -> list[FileEntry]:
    """The files that a manifest names."""
    return [FileEntry.from_json(entry) for entry in document["files"]]


def verify_export(folder: Path, progress: Progress | None = None) -> VerifyReport:
    """Hold every byte of an export against its manifest; a file that it does not name is a fault, too."""
    try:
        document = read_export(folder)
    except VerifyError as error:
        fault = Fault(EXPORT, "seal", error.what)
        return VerifyReport(False, 0, [fault], 0, [folder.resolve().name], [], False)
    entries = entries_of(document)
    named, faults = name_files(folder, "", entries)
    hashed = hash_files(named, progress)
    known = {EXPORT, *(entry.path for entry in entries)}
    others = sorted(path.name for path in folder.iterdir() if path.name not in known)
    faults += [*hashed.faults, *(Fault(name, "unnamed", "the export does not name it") for name in others)]
    size = hashed.bytes + (folder / EXPORT).stat().st_size
    return VerifyReport(not faults, hashed.files + 1, faults, size, [folder.resolve().name], [], False)
