"""Finding records in the datasets of an output: by id, the beginning of one, URL or key, or words of the text.

A record can stand in the kept shards of documents, in a ledger, in the `docs` of trainer rows and, where a
step dropped it, among the samples. Shards are scanned by column; memory is bounded by a row group a thread.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.commit import OBJECTS
from gristmill.manifests.errors import InputError, VerifyError
from gristmill.manifests.ledger import CUTS, LEDGER
from gristmill.manifests.manifest import ALARMS, MANIFEST, RUN, Manifest, published, read_manifest
from gristmill.manifests.manifest_model import ManifestModel, shape_fault
from gristmill.manifests.receipt import read_receipt
from gristmill.manifests.samples import Sample, samples_from_bytes
from gristmill.manifests.scan import Bools, doc_ids, matching_rows, named_paths, read_columns, scan_files
from gristmill.manifests.schema import record_id, repeated_id
from gristmill.manifests.verify_files import is_inside

QueryKind = Literal["id", "prefix", "url", "text"]
MIN_PREFIX_CHARS = 4
KEY_KINDS = ("warc", "url", "key", "path")
REPEATS_SOUGHT = 9
"""So many further records of one key are found by the key."""

_KEPT_COLUMNS = ("id", "url", "source", "lang", "license", "parents", "derivation")
_LEDGER_COLUMNS = tuple(name for name in LEDGER.names if name != "content_hash")


@dataclass(frozen=True)
class Query:
    """What is looked for. `ids` are those that a record with the key `value` would have."""

    kind: QueryKind
    value: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """A dataset that is looked into."""

    name: str
    folder: Path
    manifest: Manifest

    @property
    def objects(self) -> Path:
        """The finished work of the output that holds it, be it a dataset of its own or an alarm's report."""
        above = [folder / OBJECTS for folder in self.folder.absolute().parents[:2]]
        return next((folder for folder in above if folder.is_dir()), above[0])

    def paths(self, file_list: str) -> list[Path]:
        """The files of one of the manifest's lists. Raises VerifyError on a path that leaves the folder."""
        return named_paths(self.folder, self.manifest, file_list)

    def samples(self) -> list[Sample]:
        """The samples of the dataset. Raises VerifyError on damage."""
        samples: list[Sample] = []
        for path in self.paths("samples"):
            try:
                samples += samples_from_bytes(path.read_bytes())
            except (OSError, ValueError) as error:
                raise VerifyError("samples cannot be read", str(path), error, "run `gristmill verify`") from error
        return samples


@dataclass
class Hits:
    """Where a dataset holds what is looked for. `kept`, `gone`, `cuts`: columns; `rows`: `id`, `row_id`, segments."""

    kept: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    gone: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    cuts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def ids(self) -> list[str]:
        """Distinct ids in the order found."""
        return list(dict.fromkeys(str(r["id"]) for part in (self.kept, self.gone, self.rows) for r in part))


def places(out: Path) -> list[Place]:
    """The finished datasets of an output in the recipe's order, or the one whose folder this is.

    Raises InputError when it is neither, VerifyError when a manifest is not whole.
    """
    refuse_stopped(out)
    if (out / MANIFEST).exists() and not (out / RUN).exists():
        manifest = read_manifest(out)
        found = [Place(str(manifest.get("name")), out, manifest)]
    else:
        found = [Place(name, out / name, manifest) for name, manifest in published(out)]
    for place in found:
        if wrong := shape_fault(ManifestModel, place.manifest):
            remedy = "see `gristmill verify`; do not use the dataset"
            raise VerifyError("a manifest that is none", str(place.folder / MANIFEST), wrong, remedy)
    return found


def refuse_stopped(out: Path) -> None:
    """Raise InputError on an output of which nothing is published, for an alarm stopped its first run."""
    if (out / RUN).exists() or (out / MANIFEST).exists():
        return
    stopped = sorted(path.parent for path in (out / ALARMS).glob(f"*/{MANIFEST}"))
    if stopped and next(out.glob(f"*/{MANIFEST}"), None) is None:
        what = "an alarm stopped the first run, nothing is published yet"
        raise InputError(what, str(out), stopped[0].name, f"look at what stopped: gristmill ls {stopped[0]}")


def queries_of(what: str, datasets: Sequence[Place]) -> list[Query]:
    """What a word of the command line can mean, the likeliest first.

    Keys of records may look like the beginning of an id (`12345`): a key in full comes before that.
    """
    word = what.lower()
    as_key = Query("url", what, _ids_of_key(what, datasets))
    if re.fullmatch("[0-9a-f]{32}", word):
        return [Query("id", word), as_key]
    if re.fullmatch(f"[0-9a-f]{{{MIN_PREFIX_CHARS},31}}", word):
        return [as_key, Query("prefix", word)]
    return [as_key]


def _ids_of_key(key: str, datasets: Sequence[Place]) -> tuple[str, ...]:
    """The ids that records with this key have, whatever kind of key it is and wherever they were read."""
    namespaces = {"", *(d.name for d in datasets)}
    for dataset in datasets:
        namespaces.update(map(str, dataset.manifest.get("origin", {}).get("datasets", [])))
    first = [record_id(kind, namespace, key) for kind in KEY_KINDS for namespace in namespaces]
    return tuple(sorted({*first, *(repeated_id(i, n) for i in first for n in range(1, REPEATS_SOUGHT + 1))}))


def find(place: Place, query: Query, most: int) -> Hits:
    """Where a dataset holds records that match, `most` of each sort at most."""
    hits = Hits()
    if place.manifest["kind"] == "documents":
        hits.kept = _rows_of(place.paths("shards"), _probe(query, "text"), query, _KEPT_COLUMNS, most)
    elif query.kind != "text":
        reader = partial(_placements, query=query)
        hits.rows = _collect(scan_files(place.paths("shards"), reader), most)
    hits.gone = _rows_of(place.paths("ledger"), _probe(query, "detail"), query, _LEDGER_COLUMNS, most)
    if query.kind == "id":
        hits.cuts = _rows_of(place.paths("cuts"), ("id",), query, CUTS.names, most)
    if query.kind == "text":
        hits.gone += _in_samples(place, query.value, most)
    return hits


def _probe(query: Query, text_column: str) -> tuple[str, ...]:
    """The columns in which a query is sought, the sought one first."""
    return {"text": (text_column,), "url": ("id", "url")}.get(query.kind, ("id",))


def find_in_earlier_work(place: Place, query: Query, most: int) -> Hits:
    """Records, by words of their text or id, in shards that a later step of the dataset dropped them from."""
    own = {entry["digest"] for entry in place.manifest["shards"]}
    paths: list[Path] = []
    for key in place.manifest["objects"]:
        receipt = read_receipt(place.objects / key) if is_inside(key) else None
        files = receipt.role("data") + receipt.role("heldout") if receipt else []
        files = [file for file in files if is_inside(file.path) and file.digest not in own]
        paths += [place.objects / key / file.path for file in files]
    existing = [path for path in paths if path.is_file()]
    return Hits(kept=_rows_of(existing, _probe(query, "text"), query, _KEPT_COLUMNS, most))


def _rows_of(
    paths: Sequence[Path], probe: Sequence[str], query: Query, wanted: Sequence[str], most: int
) -> list[dict[str, Any]]:
    def mask(batch: pa.RecordBatch) -> Bools:
        return _mask(batch, query, probe[0])

    def read(path: Path) -> list[dict[str, Any]]:
        return matching_rows(path, probe, mask, wanted, most)

    return _collect(scan_files(paths, read), most)


def _collect(parts: Iterator[list[dict[str, Any]]], most: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for part in parts:
        rows += part
        if len(rows) >= most:
            break
    return rows[:most]


def _mask(batch: pa.RecordBatch, query: Query, sought: str) -> Bools:
    """Which rows match; `sought` is the column of ids, or the one in which text is sought."""
    column = batch.column(sought)
    match query.kind:
        case "id":
            found = pc.equal(column, query.value)
        case "prefix":
            found = pc.starts_with(column, query.value)
        case "text":
            found = pc.match_substring(column, query.value)
        case "url":
            known = pc.is_in(column, pa.array(query.ids, pa.string()))
            found = pc.or_kleene(known, pc.equal(batch.column("url"), query.value))
    return pc.fill_null(found, False).to_numpy(zero_copy_only=False)


def _names(query: Query, record: str) -> bool:
    """Whether a query other than for text means the record with this id."""
    if query.kind == "url":
        return record in query.ids
    return record == query.value if query.kind == "id" else record.startswith(query.value)


def _placements(path: Path, query: Query) -> list[dict[str, Any]]:
    """The documents in rows that are meant: `id`, `source`, `row_id` and `segments` of each row."""
    found: list[dict[str, Any]] = []
    for batch in read_columns(path, ("row_id", "segments", "docs")):
        docs = batch.column("docs")
        meant = {i for i in pc.unique(doc_ids(docs)).to_pylist() if _names(query, i)}
        if meant:
            lists = pc.list_parent_indices(docs).to_numpy(zero_copy_only=False)
            at = pc.is_in(doc_ids(docs), pa.array(sorted(meant), pa.string()))
            for row in np.unique(lists[at.to_numpy(zero_copy_only=False)]).tolist():
                found += _placement(batch.slice(row, 1).to_pylist()[0], meant)
    return found


def _placement(row: dict[str, Any], meant: set[str]) -> Iterator[dict[str, Any]]:
    for index, doc in enumerate(row["docs"]):
        if doc["id"] in meant:
            own = [s for s in row["segments"] if s["doc_idx"] == index and s["kind"] != "separator"]
            segments = [{name: s[name] for name in ("start", "end", "doc_offset")} for s in own]
            shown = {"id": doc["id"], "source": doc["source"], "row_id": row["row_id"].hex()}
            yield {**shown, "segments": segments}


def _in_samples(place: Place, text: str, most: int) -> list[Sample]:
    gone = (s for s in place.samples() if s["verdict"] != "keep")
    return list(islice((s for s in gone if text in (s.get("text") or "")), most))
