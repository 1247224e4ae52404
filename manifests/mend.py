"""What to take away so that the next run of the same recipe makes damaged work anew.

In: an output and the paths of faults (relative to it, as `verify` gives them). Out: paths relative to the output.
Work is found by its receipt, so the folder of an object goes whole; files of a dataset are links to those of objects.
A dataset's own small files (manifest, stats, merged samples) are written by every run and need no removal.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gristmill.manifests.commit import OBJECTS
from gristmill.manifests.manifest import FILE_LISTS, MANIFEST
from gristmill.manifests.receipt import RECEIPT


def places_to_remove(out: Path, fault_paths: Iterable[str]) -> list[str]:
    """Folders of objects that the faults concern, sorted; [] when running again is enough."""
    paths = set(fault_paths)
    keys = {Path(p).parts[1] for p in paths if p.startswith(f"{OBJECTS}/") and len(Path(p).parts) > 1}
    digests = {digest for path in paths for digest in _digests_of(out, path)}
    if digests:
        keys |= {key for key, digest in _object_digests(out) if digest in digests}
    return sorted(f"{OBJECTS}/{key}" for key in keys)


def _load(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _digests_of(out: Path, path: str) -> list[str]:
    """The digest that a dataset's manifest gives for a file of its folder."""
    dataset, _, inside = path.partition("/")
    manifest = _load(out / dataset / MANIFEST) if inside else {}
    entries = [e for name in FILE_LISTS for e in manifest.get(name, []) if isinstance(e, dict)]
    return [str(e.get("digest")) for e in entries if e.get("path") == inside]


def _object_digests(out: Path) -> Iterable[tuple[str, str]]:
    for path in sorted((out / OBJECTS).glob(f"*/{RECEIPT}")):
        for entry in _load(path).get("files", []):
            if isinstance(entry, dict):
                yield path.parent.name, str(entry.get("digest"))
