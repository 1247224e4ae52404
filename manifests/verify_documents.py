"""A JSON document of a run, read with suspicion: every byte of it must be what was written.

The seal covers all but the `volatile` part, which holds a digest of its own; the text must be canonical, since
`1e-5` and `1E-5` have the same value and so the same seal.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gristmill.manifests.canonical import VOLATILE, canonical_json, digest_bytes, is_sealed
from gristmill.manifests.manifest_model import shape_fault
from gristmill.manifests.verify_files import Fault, file_status


@dataclass(frozen=True)
class Loaded:
    """A sound document and the length of its file."""

    value: dict[str, Any]
    bytes: int


def load_document(path: Path, shown: str, model: type[BaseModel]) -> Loaded | Fault:
    """Read a document; a Fault when it is absent, changed or of another shape."""
    status = file_status(path)
    if isinstance(status, str):
        return Fault(shown, "missing" if status == "no such file" else "unreadable", status)
    try:
        raw = path.read_bytes()
    except OSError as error:
        return Fault(shown, "unreadable", f"{error.strerror}")
    try:
        value = json.loads(raw)
        same = isinstance(value, dict) and canonical_json(value) == raw
    except (ValueError, RecursionError) as error:
        return Fault(shown, "seal", f"not JSON: {type(error).__name__}: {error}"[:200])
    if not same:
        return Fault(shown, "seal", "not canonical JSON of one object")
    if not is_sealed(value):
        return Fault(shown, "seal", "the digest in the document is not that of its content")
    if not _volatile_is_sealed(value):
        return Fault(shown, "seal", f"the digest in its `{VOLATILE}` part is not that of the part")
    wrong = shape_fault(model, value)
    return Fault(shown, "format", wrong) if wrong else Loaded(value, len(raw))


def _volatile_is_sealed(document: dict[str, Any]) -> bool:
    volatile = document.get(VOLATILE)
    if not isinstance(volatile, dict):
        return False
    rest = {key: value for key, value in volatile.items() if key != "digest"}
    return volatile.get("digest") == digest_bytes(canonical_json(rest))
