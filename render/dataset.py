"""Reading the records of render pairs out of a finished dataset, and what became of the other attempts.

In: the folder of a dataset. Out: its records in order, with `meta.render` parsed; only those that a generator or a
file made themselves (`derivation` null), not the forms that later steps derived from them.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import UsageError
from gristmill.manifests.manifest import MANIFEST, Manifest, published, read_manifest
from gristmill.manifests.shard import read_shard
from gristmill.render.make import EXISTING
from gristmill.render.record import SOURCE
from gristmill.stages.vision.scene import META

ORIGIN = "render"
ACCEPTED = "render_accepted"
"""Of a manifest's facts: samples by source and family at the origin."""
_COLUMNS = ("id", "source", "text", "media", "derivation", "meta")


@dataclass(frozen=True)
class Record:
    """A record of render pairs: `render` is `meta.render`, `medium` the picture with its annotations."""

    id: str
    source: str
    text: str
    render: dict[str, Any]
    medium: dict[str, Any]

    @property
    def code(self) -> str:
        """The code as it stands in the text."""
        start, stop = self.render["code_chars"]
        return self.text[start:stop]


def rendered_datasets(folder: Path) -> list[tuple[str, Path, Manifest]]:
    """Name, folder and manifest: of a dataset's own folder that one, of an output those whose origin is `render`.

    Raises UsageError where there is none.
    """
    if (folder / MANIFEST).exists():
        manifest = read_manifest(folder)
        return [(manifest["name"], folder, manifest)]
    found = [(n, folder / n, m) for n, m in published(folder) if m["steps"][0]["step"] == ORIGIN]
    if not found:
        raise UsageError("no finished dataset in it was rendered", "DIR", folder, "see gristmill ls DIR")
    return found


def records(folder: Path, manifest: Manifest, with_pictures: bool = True) -> Iterator[Record]:
    """The records of render pairs of a dataset, in order. Raises VerifyError where a shard cannot be read."""
    columns: Sequence[str] = _COLUMNS
    if not with_pictures:
        inner = ("width", "height", "annotations.list.element.visible_frac")
        columns = [c for c in _COLUMNS if c != "media"] + [f"media.list.element.{name}" for name in inner]
    for entry in manifest["shards"]:
        for batch in read_shard(folder / entry["path"], columns):
            for row in batch.to_pylist():
                if is_render_pair(row):
                    yield record_of(row)


def is_render_pair(row: Mapping[str, Any]) -> bool:
    """Whether a row of a dataset is a record of render pairs, and not a form that was derived from one."""
    return (row["source"] or "").startswith(f"{SOURCE}/") and row["derivation"] is None and bool(row["media"])


def record_of(row: Mapping[str, Any]) -> Record:
    """The record of such a row. Raises ValueError, KeyError or TypeError where its meta is of another form."""
    return Record(row["id"], row["source"], row["text"], json.loads(row["meta"])[META], row["media"][0])


def accepted(manifest: Manifest) -> dict[tuple[str, str], int]:
    """Samples by (source, family) of a dataset whose origin is `render`, those counted that later steps dropped."""
    return {(source, family): n for source, told in manifest["facts"][ACCEPTED].items() for family, n in told.items()}


def rejected(folder: Path, manifest: Manifest) -> dict[tuple[str, str], Counter[str]]:
    """The other attempts of such a dataset by (source, family): how many for which reason."""
    existing = {f"{SOURCE}/{params['domain']}" for params in manifest["origin"].values() if "from" in params}
    found: dict[tuple[str, str], Counter[str]] = {}
    for entry in manifest["ledger"]:
        for batch in read_shard(folder / entry["path"], ("step", "source", "file", "reason")):
            for row in batch.to_pylist():
                if row["step"] == ORIGIN:
                    key = (row["source"], EXISTING if row["source"] in existing else row["file"])
                    found.setdefault(key, Counter())[row["reason"]] += 1
    return found
