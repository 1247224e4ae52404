"""A model in one file, `NAME.gmq`: a ZIP archive without compression whose bytes depend on its content alone.

Members: `model.json`, and what the scorer needs (`model.ftz`; `model.onnx` and `tokenizer.json`; none for a user's
own code). `model.json` is canonical JSON with

* `format` "gristmill-quality-model", `format_version`, `kind`, `settings` (the scorer's own),
* `windows` {window_bytes, max_windows}, `calibration` (see `calibration`), `threshold` in [0, 1],
* `members`: name -> "blake3:<hex>" of each other member, checked before anything is loaded,
* `card`: where the model comes from (see `gristmill classifier train`).

The loaders of fastText and ONNX are not made for hostile files: use models of people whom you trust.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blake3 import blake3

from gristmill.manifests.canonical import canonical_json
from gristmill.manifests.errors import InputError
from gristmill.stages.quality.calibration import is_calibration, is_number

SUFFIX = ".gmq"
FORMAT = "gristmill-quality-model"
FORMAT_VERSION = 1
DESCRIPTION = "model.json"

_WINDOWS = {"window_bytes", "max_windows"}
_EPOCH = (1980, 1, 1, 0, 0, 0)
_REMEDY = "make one with `gristmill classifier train`"


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds; `digest` is "blake3:<hex>" of the file."""

    kind: str
    settings: Mapping[str, Any]
    windows: Mapping[str, int]
    calibration: Mapping[str, Any]
    threshold: float
    card: Mapping[str, Any]
    members: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    digest: str = ""


def packed(model: ModelFile) -> bytes:
    """The bytes of the file."""
    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": model.kind,
        "settings": dict(model.settings),
        "windows": dict(model.windows),
        "calibration": dict(model.calibration),
        "threshold": model.threshold,
        "members": {name: _digest(content) for name, content in model.members.items()},
        "card": dict(model.card),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted({**model.members, DESCRIPTION: canonical_json(description)}.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()


def read_model(path: Path) -> ModelFile:
    """The model in a file. Raises InputError when it cannot be read, is none, or is damaged."""
    where = str(path)
    try:
        data = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # Stored members that do not overlap are no larger than the file: nothing can swell.
            if any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist()):
                raise InputError("not a quality model (compressed)", where, remedy=_REMEDY)
            names = archive.namelist()
            if len(set(names)) < len(names) or sum(info.file_size for info in archive.infolist()) > len(data):
                raise InputError("not a quality model (members that overlap)", where, remedy=_REMEDY)
            members = {name: archive.read(name) for name in names}
        description = json.loads(members.pop(DESCRIPTION), parse_constant=_refused)
    except OSError as error:
        raise InputError("cannot be read", where, error.strerror, "name a file that you may read") from error
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, RuntimeError) as error:  # encryption, deep nesting
        raise InputError("not a quality model, or damaged", where, error, _REMEDY) from error
    return _checked(description, members, f"blake3:{blake3(data).hexdigest()}", where)


def _checked(description: Any, members: dict[str, bytes], digest: str, where: str) -> ModelFile:
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise InputError("not a quality model", where, remedy=_REMEDY)
    if description.get("format_version") != FORMAT_VERSION:
        found = description.get("format_version")
        raise InputError("unknown format_version", where, found, f"this version reads {FORMAT_VERSION}")
    fault = _fault(description)
    if fault:
        raise InputError(f"not a quality model ({fault} is missing, or not what it should be)", where, remedy=_REMEDY)
    if {name: _digest(content) for name, content in members.items()} != description["members"]:
        raise InputError("a member's digest does not match", where, remedy="the file is damaged: get it again")
    return ModelFile(
        kind=description["kind"],
        settings=description["settings"],
        windows=description["windows"],
        calibration=description["calibration"],
        threshold=description["threshold"],
        card=description["card"],
        members=members,
        digest=digest,
    )


def _fault(description: Mapping[str, Any]) -> str:
    """The first part of a description that is not what the module's text says; "" where all is well."""
    if not isinstance(description.get("kind"), str):
        return "kind"
    for name in ("settings", "card", "members"):
        if not isinstance(description.get(name), dict):
            return name
    windows, threshold = description.get("windows"), description.get("threshold")
    if not isinstance(windows, dict) or set(windows) != _WINDOWS or not all(map(_is_size, windows.values())):
        return "windows"
    if not is_number(threshold) or not 0 <= threshold <= 1:
        return "threshold"
    return "" if is_calibration(description.get("calibration")) else "calibration"


def _is_size(value: object) -> bool:
    return type(value) is int and 0 < value < 1 << 31


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _digest(content: bytes) -> str:
    return f"blake3:{blake3(content).hexdigest()}"
