"""What stands inside media shards, and whether rows and shards speak of the same media.

Each shard: schema, valid values; sha256 in strictly rising order through all shards; bytes that hash to it; sizes that
can be; the `first` of its entry, and the index that follows from it. All together: each medium of a row stands in the
shards, and each medium of the shards in a row, looked for in parts of bounded memory. Places in rows:
`verify_row_media`.
"""

import hashlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.file_faults import FileFaults, is_valid, schema_difference
from gristmill.manifests.image_tokens import is_size
from gristmill.manifests.media_index import binary_bounds, index_of_shard
from gristmill.manifests.media_shard import MEDIA
from gristmill.manifests.scan import Part, parts_for, read_columns
from gristmill.manifests.verify_books import Dataset
from gristmill.manifests.verify_files import Fault, Named
from gristmill.manifests.verify_indexes import index_faults, indexes_of

_KINDS = ("image", "video")


def media_faults(dataset: Dataset, whole: set[str], rows_are_sound: bool) -> Iterator[Fault]:
    """Everything that is wrong in the whole media shards of a dataset of rows, and, where these and the rows are sound,
    between the two."""
    manifest = dataset.manifest
    shards = manifest["media_shards"]
    if len(manifest.get("media_indexes", [])) != len(shards):
        yield Fault(dataset.name, "index", "not every media shard has one")
    indexes = indexes_of(dataset, whole, "media_shards", "media_indexes")
    last, sound = b"", rows_are_sound
    for named in dataset.sound("media_shards", whole):
        found = FileFaults(named)
        last = _shard(named, found, last)
        mine = list(found.faults()) or list(index_faults(named, indexes.get(named.entry.path), index_of_shard))
        yield from mine
        sound = sound and not mine
    said = manifest["totals"].get("media")
    held = sum(entry["rows"] for entry in shards)
    if said is not None and said != held:
        yield Fault(dataset.name, "books", f"totals.media is {said}, the media shards hold {held}")
    if sound and dataset.is_whole(whole):
        yield from _both_sides(dataset)


def _shard(named: Named, found: FileFaults, last: bytes) -> bytes:
    """Check a shard whose first medium comes behind `last`; its last sha256."""
    try:
        with pa.memory_map(str(named.path)) as source, pa.ipc.open_file(source) as reader:
            if not reader.schema.equals(MEDIA, check_metadata=False):
                found.whole("schema", schema_difference(reader.schema, MEDIA))
                return last
            first = last
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                if not is_valid(batch, found) or not _has_values(batch, found):
                    return last
                shas = batch.column("sha256").to_pylist()
                if not number and shas and named.entry.extra.get("first") != shas[0].hex():
                    found.whole("media", "its entry names another first medium")
                _sorted(shas, first, found)
                _media(batch, shas, found)
                first = shas[-1] if shas else first
                found.first += batch.num_rows
            return first
    except (pa.ArrowException, OSError) as error:
        found.whole("unreadable", " ".join(str(error).split())[:200])
        return last


def _has_values(batch: pa.RecordBatch, found: FileFaults) -> bool:
    nulls = sum(batch.column(f.name).null_count for f in MEDIA if not f.nullable)
    if nulls:
        found.whole("media", "null where there must be a value")
    return not nulls


def _sorted(shas: list[bytes], before: bytes, found: FileFaults) -> None:
    wrong = [a >= b for a, b in zip([before, *shas], shas, strict=False)]
    found.rows("media", np.array(wrong, dtype=np.bool_), "media are not in rising order of sha256")


def _media(batch: pa.RecordBatch, shas: list[bytes], found: FileFaults) -> None:
    column = batch.column("bytes")
    body, bounds = memoryview(column.buffers()[2] or b""), binary_bounds(column)
    other = [hashlib.sha256(body[bounds[i] : bounds[i + 1]]).digest() != sha for i, sha in enumerate(shas)]
    found.rows("media", np.array(other, dtype=np.bool_), "the sha256 of a medium is another")
    sizes = zip(batch.column("width").to_pylist(), batch.column("height").to_pylist(), strict=True)
    kinds = batch.column("kind").to_pylist()
    none = [not is_size(*size) or kind not in _KINDS for size, kind in zip(sizes, kinds, strict=True)]
    found.rows("media", np.array(none, dtype=np.bool_), "a medium of no size, or of no known kind")


def _both_sides(dataset: Dataset) -> Iterator[Fault]:
    """Media of rows that no shard holds, and of shards that no row shows; places that are not as many as is written."""
    manifest = dataset.manifest
    said = manifest["totals"].get("media_tokens")
    held = sum(int(pc.sum(media.field("token_len")).as_py() or 0) for media in _shown(dataset))
    if said is not None and said != held:
        yield Fault(dataset.name, "books", f"totals.media_tokens is {said}, the rows hold {held}")
    for part in parts_for(2 * sum(entry["rows"] for entry in manifest["media_shards"])):
        shown = _hashes((media.field("sha256") for media in _shown(dataset)), part)
        stored = _hashes((batch.column("sha256") for batch in _columns(dataset, "media_shards", "sha256")), part)
        for missing, what in (
            (shown - stored, "media of rows do not stand in the media shards"),
            (stored - shown, "media of the media shards stand in no row"),
        ):
            if missing:
                yield Fault(dataset.name, "media", f"{len(missing)} {what}, for instance {min(missing).hex()}")


def _columns(dataset: Dataset, file_list: str, column: str) -> Iterator[pa.RecordBatch]:
    for entry in dataset.manifest[file_list]:
        yield from read_columns(dataset.folder / entry["path"], (column,))


def _shown(dataset: Dataset) -> Iterator[pa.StructArray]:
    """The media of rows."""
    return (batch.column("media").flatten() for batch in _columns(dataset, "shards", "media"))


def _hashes(columns: Iterator[pa.FixedSizeBinaryArray], part: Part) -> set[bytes]:
    """Those of a part, each once."""
    found: set[bytes] = set()
    for column in columns:
        mine = set(column.drop_null().to_pylist()) - found
        first = np.array([int.from_bytes(sha[:8], "big") for sha in mine], dtype=np.uint64)
        found.update(sha for sha, is_mine in zip(mine, part.holds(first).tolist(), strict=True) if is_mine)
    return found
