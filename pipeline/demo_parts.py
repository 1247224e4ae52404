"""How a part of the demo corpus reaches its place: staged, renamed file by file, its state written last.

State of a part: OUT/.parts/<name>.json, the fields of `PartState`. A state counts only while each file
that it names is there with its size; otherwise the part is gathered again.
"""

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.pipeline.demo_sources import Part, Source, regular_files

FORMAT = 1
STATE_FOLDER = ".parts"
NOTICE_FOLDER = "licences"
_STAGING = "staging"


@dataclass(frozen=True)
class DemoFile:
    """A file of the corpus: path below the output folder with slashes, size, BLAKE3-256 in hex."""

    path: str
    bytes: int
    blake3: str


@dataclass(frozen=True)
class PartState:
    """A finished part. `notice` is the path of the copyright file below the output folder, or "".

    `raw_bytes` counts text and markup before compression.
    """

    format: int
    origin: str
    licence: str
    notice: str
    raw_bytes: int
    notes: tuple[str, ...]
    files: tuple[DemoFile, ...]


def read_state(out: Path, part: Part) -> PartState | None:
    """The state of a finished part, or None when it is to be gathered (again)."""
    try:
        state = _parse_state(json.loads(_state_path(out, part).read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None  # absent, or of another format: gathering again is always right
    if state.format != FORMAT or not state.files or not all(_is_there(out, file) for file in state.files):
        return None
    return state if not state.notice or (out / state.notice).is_file() else None


def make_part(out: Path, part: Part, source: Source) -> PartState:
    """Gathers the part from `source` and puts its files in place, replacing what an older one left.

    Raises InputError when the source lacks what the part needs; then nothing in place has changed.
    """
    staging = out / STATE_FOLDER / _STAGING
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    gathered = part.gather(source, staging)
    files = tuple(_described(inside, path) for inside, path in regular_files(staging))
    strangers = [file.path for file in files if not file.path.startswith(part.prefix)]
    if strangers or not files:
        raise InputError(f"part {part.name} wrote files outside its prefix, or none", value=strangers)
    _state_path(out, part).unlink(missing_ok=True)
    _move(staging, out, part, files)
    state = PartState(
        format=FORMAT,
        origin=source.origin,
        licence=source.licence,
        notice=_put_notice(out, source),
        raw_bytes=gathered.raw_bytes,
        notes=gathered.notes,
        files=files,
    )
    write_atomic(_state_path(out, part), json.dumps(asdict(state), ensure_ascii=False))
    shutil.rmtree(staging)
    return state


def write_atomic(path: Path, text: str | bytes) -> None:
    """Writes a small file under another name, fsyncs it and renames it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    with unfinished.open("wb") as file:
        file.write(text.encode("utf-8") if isinstance(text, str) else text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def _parse_state(fields: dict[str, Any]) -> PartState:
    return PartState(
        format=fields["format"],
        origin=fields["origin"],
        licence=fields["licence"],
        notice=fields["notice"],
        raw_bytes=fields["raw_bytes"],
        notes=tuple(fields["notes"]),
        files=tuple(DemoFile(file["path"], file["bytes"], file["blake3"]) for file in fields["files"]),
    )


def _state_path(out: Path, part: Part) -> Path:
    return out / STATE_FOLDER / f"{part.name}.json"


def _is_there(out: Path, file: DemoFile) -> bool:
    try:
        return (out / file.path).stat().st_size == file.bytes
    except OSError:
        return False


def _described(inside: str, path: Path) -> DemoFile:
    content = path.read_bytes()
    return DemoFile(inside, len(content), blake3(content).hexdigest())


def _move(staging: Path, out: Path, part: Part, files: tuple[DemoFile, ...]) -> None:
    """Renames the files into place, then removes files of the prefix that are no longer made."""
    for file in files:
        target = out / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        (staging / file.path).replace(target)
    current = {file.path for file in files}
    folder = part.prefix.rpartition("/")[0]
    for inside, path in list(regular_files(out / folder)):
        placed = f"{folder}/{inside}"
        if placed.startswith(part.prefix) and placed not in current:
            path.unlink()


def _put_notice(out: Path, source: Source) -> str:
    if source.notice is None:
        return ""
    inside = f"{NOTICE_FOLDER}/{source.package}.txt"
    write_atomic(out / inside, source.notice.read_bytes())
    return inside
