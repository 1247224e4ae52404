"""What stands inside the shards of a dataset, row by row.

Documents: schema and valid values; ids well formed, unique, and not in the ledger of the same dataset as
well; `content_hash` and the hashes of media computed anew; as many U+FFFC as media; records and characters
of each source as in the books. Trainer rows: see `manifests.verify_rows`. Only files that are whole are
read. Equal faults of one file are told once, with their number and the first row.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.fates import Fates, read_fates, same_as_before
from gristmill.manifests.file_faults import FileFaults, is_valid, schema_difference
from gristmill.manifests.scan import parts_for, valid_ids, words_to_id
from gristmill.manifests.schema import DOCUMENT, MEDIUM_CHAR, content_hashes
from gristmill.manifests.shard import read_shard
from gristmill.manifests.verify_books import Dataset
from gristmill.manifests.verify_files import Fault
from gristmill.manifests.verify_rows import rows_faults

Bools = npt.NDArray[np.bool_]


@dataclass
class _Books:
    """Records and characters of each source, as counted in the shards."""

    records: Counter[str] = field(default_factory=Counter[str])
    chars: Counter[str] = field(default_factory=Counter[str])

    def add(self, batch: pa.RecordBatch) -> None:
        source = pc.fill_null(batch.column("source"), "")
        chars = pc.fill_null(pc.utf8_length(batch.column("text")), 0)
        table = pa.table({"source": source, "chars": chars.cast(pa.int64())})
        for group in table.group_by("source").aggregate([("chars", "sum"), ([], "count_all")]).to_pylist():
            self.records[group["source"]] += group["count_all"]
            self.chars[group["source"]] += group["chars_sum"]


def deep_faults(dataset: Dataset, whole: set[str]) -> Iterator[Fault]:
    """Everything that is wrong inside the whole files of a dataset."""
    if dataset.manifest["kind"] == "rows":
        yield from rows_faults(dataset, whole)
    else:
        yield from _documents(dataset, whole)
    if dataset.is_whole(whole):
        yield from _identity(dataset)


def _documents(dataset: Dataset, whole: set[str]) -> Iterator[Fault]:
    shards = dataset.sound("shards", whole)
    books = _Books()
    unread = len(dataset.manifest["shards"]) - len(shards)
    for named in shards:
        found = FileFaults(named)
        try:
            for batch in read_shard(named.path):
                if _document_batch(batch, found):
                    books.add(batch)
                else:
                    unread += 1
                found.first += batch.num_rows
        except VerifyError as error:
            yield Fault(named.shown, "unreadable", str(error))
            unread += 1
        yield from found.faults()
    if not unread:
        yield from _book_faults(dataset, books)


def _document_batch(batch: pa.RecordBatch, found: FileFaults) -> bool:
    """Check one batch; whether its columns could be looked at."""
    if not batch.schema.equals(DOCUMENT, check_metadata=False):
        found.whole("schema", f"not the schema of documents: {schema_difference(batch.schema, DOCUMENT)}")
        return False
    if not is_valid(batch, found):
        return False
    found.rows("id", ~valid_ids(batch.column("id")), "an id is not 32 hex digits")
    text, media = batch.column("text"), batch.column("media")
    hashes = content_hashes(text, media)
    same = pc.fill_null(pc.equal(hashes, batch.column("content_hash")), False)
    found.rows("content_hash", ~_bools(same), "the content hash is another")
    marks = pc.fill_null(pc.count_substring(text, MEDIUM_CHAR), 0)
    of_media = pc.fill_null(pc.list_value_length(media), 0)
    found.rows("media", ~_bools(pc.equal(marks, of_media)), "U+FFFC and media differ in number")
    if media.null_count < len(media):
        found.rows("content_hash", _wrong_media(media), "the sha256 of a medium is another")
    return True


def _bools(values: pa.Array) -> Bools:
    return values.to_numpy(zero_copy_only=False)


def _wrong_media(media: pa.ListArray) -> Bools:
    def wrong(medium: dict[str, Any]) -> bool:
        data = medium["bytes"]
        return data is not None and hashlib.sha256(data).digest() != medium["sha256"]

    return np.array([any(wrong(m) for m in row or ()) for row in media.to_pylist()], dtype=np.bool_)


def _book_faults(dataset: Dataset, books: _Books) -> Iterator[Fault]:
    sources = dataset.manifest["steps"][-1]["sources"]
    for source in sorted(sources.keys() | books.records.keys()):
        said = sources.get(source, {"kept": 0, "chars_kept": 0})
        held = (books.records[source], books.chars[source])
        if held != (said["kept"], said["chars_kept"]):
            told = f"{said['kept']} records and {said['chars_kept']} characters"
            detail = f"source {source}: {told} by the books, {held[0]} and {held[1]} in the shards"
            yield Fault(dataset.name, "books", detail)


def _identity(dataset: Dataset) -> Iterator[Fault]:
    """Ids that stand twice, in bounded memory."""
    manifest = dataset.manifest
    entries = [*manifest["shards"], *manifest["tokenised"], *manifest["ledger"]]
    for part in parts_for(sum(entry["rows"] for entry in entries)):
        try:
            fates = read_fates(dataset.folder, manifest, part)
        except VerifyError as error:
            yield Fault(dataset.name, "unreadable", str(error))
            return
        yield from _repeated(dataset, fates)


def _repeated(dataset: Dataset, fates: Fates) -> Iterator[Fault]:
    same = same_as_before(fates)
    gone = fates.cell > 0
    gone_before = np.concatenate(([False], gone[:-1]))
    for kind, chosen, what in (
        ("id", same & ~gone & ~gone_before, "kept more than once"),
        ("id", same & gone & gone_before, "in the ledger more than once"),
        ("both_sides", same & (gone != gone_before), "kept, and in the ledger"),
    ):
        at = np.flatnonzero(chosen)
        if len(at):
            example = words_to_id(int(fates.first[at[0]]), int(fates.second[at[0]]))
            yield Fault(dataset.name, kind, f"{len(at)} records are {what}, for instance {example}")
