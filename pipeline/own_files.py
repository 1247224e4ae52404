"""Which files of an output are a run's own: what it may replace and take away, and never reads as input.

Own are the files right below the output that a run writes, `objects/`, `indexes/`, `alarms/`, `.jobs/`, and in the
folder of each dataset the names that publishing gives. Everything else belongs to somebody else and is left alone: a
dataset whose folder holds other files is refused before anything is done.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from gristmill.manifests.commit import OBJECTS, TMP_PREFIX
from gristmill.manifests.errors import UsageError
from gristmill.manifests.indexes import INDEXES
from gristmill.manifests.manifest import ALARMS, FORMAT, MANIFEST, RUN
from gristmill.pipeline.lock import LOCK
from gristmill.pipeline.progress import EVENTS

JOBS = ".jobs"
"""What executors of clusters are given to do, and what they say of it: no dataset has such a name."""
INPUTS = "inputs.json"
"""The cache of input digests."""

ROLE_FOLDERS = {
    name: name
    for name in ("ledger", "measures", "cuts", "samples", "tokenised", "row_indexes", "media_shards", "media_indexes")
}
"""Role of a file -> its folder in the dataset's; other roles lie in the dataset's itself."""

_PUBLISHED = re.compile(
    r"(part|tokens|media|ledger|measures|cuts|samples|stats)(-\d{5,})?\.[0-9a-f]{8}\.[a-z]+", re.ASCII
)
_RIGHT_BELOW = (LOCK, EVENTS, RUN)
_TMP = re.compile(re.escape(TMP_PREFIX) + "[0-9a-f]{32}", re.ASCII)


def is_published_name(name: str) -> bool:
    """Whether publishing gives such names (the manifest's own apart)."""
    return bool(_PUBLISHED.fullmatch(name) or _TMP.fullmatch(name))


def stray_files(folder: Path, named: Iterable[str]) -> list[Path]:
    """Files in a dataset's folder under names of ours that are not among `named` (relative paths)."""
    keep = set(named)
    places = [folder, *(folder / name for name in ROLE_FOLDERS.values())]
    files = [path for place in places if place.is_dir() for path in sorted(place.iterdir())]
    return [p for p in files if is_published_name(p.name) and str(p.relative_to(folder)) not in keep]


def refuse_foreign_folders(out: Path, datasets: Iterable[str]) -> None:
    """Raise UsageError when a dataset's folder is somebody else's: it is no folder, or holds files that no run wrote.

    Files that were put beside a finished dataset are no reason to refuse; they stay.
    """
    for name in datasets:
        folder = out / name
        if folder.exists() and (not folder.is_dir() or not _is_finished(folder)):
            entries = [folder] if not folder.is_dir() else sorted(folder.iterdir())
            foreign = [e.name for e in entries if not _is_own(e)]
            if foreign:
                raise UsageError(
                    f"the folder of dataset {name} holds files that no run wrote",
                    where=str(folder),
                    value=foreign[0],
                    remedy="choose another --out, or move them away",
                )


def own_input(out: Path, datasets: Iterable[str]) -> Callable[[str], bool]:
    """Whether a local path names what runs wrote into `out` (an absolute path without links): no run reads that.

    An output may lie among the inputs of a pattern like `**`; what the run before left there is no input.
    Raises UsageError on a folder (`/` at the end) that is read as a whole and holds the output.
    """
    unfinished = {OBJECTS, INDEXES, ALARMS, JOBS, *datasets}

    @cache
    def real_folder(folder: str) -> str:
        return os.path.realpath(folder)

    @cache
    def is_own_place(first: str) -> bool:
        return first in unfinished or _is_finished(out / first)

    def is_own(path: str) -> bool:
        folder, name = os.path.split(path)
        real = real_folder(folder)
        if not name and out.is_relative_to(real):
            remedy = "choose an --out elsewhere"
            raise UsageError("the output lies in a folder that is read as a whole", str(out), path, remedy)
        if real == str(out):
            return name in _RIGHT_BELOW or name.startswith((INPUTS, TMP_PREFIX))
        inside = real.startswith(os.path.join(out, ""))
        return inside and is_own_place(Path(real).relative_to(out).parts[0])

    return is_own


def _is_own(entry: Path) -> bool:
    if entry.name == MANIFEST:
        return not _is_other_document(entry)  # an unreadable one is a damaged one of ours
    return entry.name in ROLE_FOLDERS.values() or is_published_name(entry.name)


def _is_finished(folder: Path) -> bool:
    try:
        document = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def _is_other_document(path: Path) -> bool:
    try:
        json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return not _is_finished(path.parent)
