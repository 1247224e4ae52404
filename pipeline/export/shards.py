"""One shard of an export, and the receipt that lets a later run take it as done.

`receipt-00007.json` stands beside a shard's files from the moment that they are on the disk, and goes before the export
is put in place. It names the export's key, so that no shard of another export is taken.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from gristmill.manifests.canonical import canonical_json, is_sealed, sealed
from gristmill.manifests.commit import replace_file
from gristmill.manifests.receipt import FileEntry
from gristmill.pipeline.export.formats import FORMATS
from gristmill.pipeline.export.shape import Shard, Source, Written

RECEIPTS = "receipt-*.json"


@dataclass(frozen=True)
class Cut:
    """The places where shards begin, with the end of the last, and the key of the export that they are of."""

    key: str
    bounds: Sequence[int]

    @property
    def shards(self) -> int:
        """How many."""
        return len(self.bounds) - 1


def write_shard(source: Source, form: str, cut: Cut, folder: Path, number: int) -> Written:
    """Write a shard and its receipt; what a killed attempt left of it must be gone."""
    first, stop = cut.bounds[number], cut.bounds[number + 1]
    shard = Shard(folder, number, cut.shards, first, stop, source)
    written = FORMATS[form].write(shard, source.read(first, stop))
    receipt = {"key": cut.key, "number": number, "samples": written.samples, "tokens": written.tokens}
    files = [asdict(file) for file in written.files]
    replace_file(folder / receipt_name(number), canonical_json(sealed({**receipt, "files": files})))
    return written


def found_shard(cut: Cut, folder: Path, number: int) -> Written | None:
    """What an earlier run wrote of a shard; None where its receipt or its files are not whole."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        receipt = json.loads((folder / receipt_name(number)).read_bytes())
        files = [FileEntry.from_json(file) for file in receipt["files"]]
        whole = all((folder / file.path).stat().st_size == file.bytes for file in files)
        if is_sealed(receipt) and receipt["key"] == cut.key and receipt["number"] == number and whole:
            return Written(files, receipt["samples"], receipt["tokens"])
    return None


def receipt_name(number: int) -> str:
    """The name of a shard's receipt."""
    return f"receipt-{number:05d}.json"
