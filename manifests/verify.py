"""Whether an output is what its documents say, down to the byte.

`verify` takes the folder that a run wrote (`run.json`, a folder for each dataset, `objects/`) or the folder of one
dataset. It never raises on damage: whatever is wrong is a Fault. Covered, byte for byte: `run.json`, each
`manifest.json`, `objects/*/receipt.json` and `indexes/*/index.json`, and every file that they name. What a killed
attempt left (temporary names, files of an object that no receipt names) is no fault, since no reader opens it; a file
in a dataset's folder that the manifest does not name is one, since a glob would find it.

A dataset of the run without a folder, or whose publishing was cut short before its manifest, is `pending`, not a
fault: the run has not got that far.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import key_of
from gristmill.manifests.commit import OBJECTS, TMP_PREFIX
from gristmill.manifests.errors import InputError
from gristmill.manifests.find import refuse_stopped
from gristmill.manifests.indexes import INDEX, INDEXES, index_files
from gristmill.manifests.manifest import MANIFEST, PUBLISHING, RUN, file_entries
from gristmill.manifests.manifest_model import IndexModel, ManifestModel, ReceiptModel, RunModel
from gristmill.manifests.receipt import RECEIPT, FileEntry
from gristmill.manifests.verify_books import Dataset, books_faults
from gristmill.manifests.verify_documents import load_document
from gristmill.manifests.verify_files import (
    LOCAL_FILES,
    Fault,
    Files,
    Named,
    Progress,
    is_inside,
    name_files,
)

FAULT_KINDS = {
    "missing": "a file that is named is not there",
    "size": "a file is shorter or longer than is written",
    "digest": "bytes of a file changed",
    "seal": "bytes of a JSON document changed",
    "format": "a JSON document is not of the shape that this version knows",
    "path": "a document names a path outside its folder",
    "unnamed": "a dataset's folder holds a file that its manifest does not name",
    "unreadable": "a file cannot be read",
    "rows": "a file holds another number of rows than is written",
    "books": "the counts of a manifest do not balance",
    "ledger": "the ledger and the tallies disagree",
    "schema": "a shard has another schema, or values that its types forbid",
    "id": "an id is malformed or stands twice",
    "both_sides": "a record is kept and also in the ledger of the same dataset",
    "content_hash": "a text or medium does not have the hash that stands beside it",
    "media": "media and their places in a text or row do not belong together, or a media shard is not what it must be",
    "row": "a trainer row breaks a rule of its schema",
    "render": "a record of render pairs is not what its code makes",
    "gate": "a short cut answers the tasks of sequences better or worse than chance, or they do not stand as planned",
}
"""The closed list of kinds; those from `schema` on are found by a deep verification only."""


@dataclass(frozen=True)
class VerifyReport:
    """`ok` when there is no fault. `checked` counts files whose every byte was read, `bytes` their bytes.

    `datasets` were found and looked at; `pending` are named by the run and not made yet.
    """

    ok: bool
    checked: int
    faults: list[Fault]
    bytes: int
    datasets: list[str]
    pending: list[str]
    deep: bool


@dataclass
class _State:
    """What one verification gathers."""

    root: Path
    faults: list[Fault] = field(default_factory=list[Fault])
    named: list[Named] = field(default_factory=list[Named])
    datasets: list[Dataset] = field(default_factory=list[Dataset])
    pending: list[str] = field(default_factory=list[str])
    documents: int = 0
    document_bytes: int = 0

    def document(self, path: Path, shown: str, model: type[Any]) -> dict[str, Any] | None:
        """A sound JSON document; else None, and a fault."""
        loaded = load_document(path, shown, model)
        if isinstance(loaded, Fault):
            self.faults.append(loaded)
            return None
        self.documents += 1
        self.document_bytes += loaded.bytes
        return loaded.value

    def entries(self, folder: Path, shown: str, entries: Iterator[FileEntry]) -> list[Named]:
        """Take up the files that a document names."""
        named, faults = name_files(folder, shown, entries)
        self.named.extend(named)
        self.faults.extend(faults)
        return named


def verify(out: Path, deep: bool = False, progress: Progress | None = None, files: Files = LOCAL_FILES) -> VerifyReport:
    """Verify an output or a dataset; with `deep` also what stands inside the shards. `files`: where they lie, if `out`
    is a view of documents alone.

    Raises InputError when `out` is neither, and nothing on damage. `progress` hears of hashing alone.
    """
    state = _State(out)
    refuse_stopped(out)
    if (out / RUN).exists() or (out / OBJECTS).is_dir():
        _take_run(state)
    elif (out / MANIFEST).exists():
        _take_dataset(state, out, "")
    else:
        raise InputError(
            "neither an output nor a dataset",
            where=str(out),
            remedy=f"give a folder that holds {RUN} or {MANIFEST}",
        )
    hashed = files.hash(state.named, progress)
    state.faults.extend(hashed.faults)
    for dataset in state.datasets:
        with files.here([named for named in dataset.files if named.shown in hashed.whole]):
            found = list(books_faults(dataset, hashed.whole))
            state.faults.extend(found)
            if deep:
                from gristmill.manifests.verify_deep import deep_faults

                miscounted = {fault.path for fault in found if fault.kind == "rows"}
                state.faults.extend(deep_faults(dataset, hashed.whole - miscounted))
    return VerifyReport(
        ok=not state.faults,
        checked=state.documents + hashed.files,
        faults=sorted(state.faults, key=lambda f: (f.path, f.kind, f.detail)),
        bytes=state.document_bytes + hashed.bytes,
        datasets=[d.shown or d.manifest["name"] for d in state.datasets],
        pending=state.pending,
        deep=deep,
    )


def _take_run(state: _State) -> None:
    run = state.document(state.root / RUN, RUN, RunModel)
    _take_receipts(state)
    _take_indexes(state)
    names = [name for name in run["datasets"] if is_inside(name)] if run else []
    for name in dict.fromkeys([*names, *_other_datasets(state, names)]):
        if _is_folder(state.root / name):
            _take_dataset(state, state.root / name, name)
        else:
            state.pending.append(name)


def _other_datasets(state: _State, names: list[str]) -> list[str]:
    """Datasets of earlier recipes, which `run.json` does not name any more."""
    found = sorted(_folders(state, state.root))
    return [name for name in found if name not in names and (state.root / name / MANIFEST).is_file()]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that no file system takes
        return False


def _folders(state: _State, folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if entry.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        state.faults.append(Fault(folder.name, "unreadable", f"{error.strerror}"))
        return []


def _take_receipts(state: _State) -> None:
    for key in sorted(_folders(state, state.root / OBJECTS)):
        folder, shown = state.root / OBJECTS / key, f"{OBJECTS}/{key}"
        if not (folder / RECEIPT).exists():
            continue
        receipt = state.document(folder / RECEIPT, f"{shown}/{RECEIPT}", ReceiptModel)
        if receipt is None:
            continue
        if not receipt["key"] == key == key_of(receipt["what"]):
            state.faults.append(Fault(f"{shown}/{RECEIPT}", "format", f"the receipt of {receipt['key']}"))
        state.entries(folder, shown, (FileEntry.from_json(f) for f in receipt["files"]))


def _take_indexes(state: _State) -> None:
    for name in sorted(_folders(state, state.root / INDEXES)):
        folder, shown = state.root / INDEXES / name, f"{INDEXES}/{name}"
        if not (folder / INDEX).exists():
            continue
        index = state.document(folder / INDEX, f"{shown}/{INDEX}", IndexModel)
        if index is not None:
            state.entries(folder, shown, index_files(index))


def _miss_indexes(state: _State, manifest: Mapping[str, Any], shown: str) -> None:
    """A fault for each index that the dataset's steps saved under a bare name, and that is not there."""
    for step in manifest["steps"]:
        given = step.get("params", {}).get("index") if step.get("stage") == "minhash_dedup" else None
        name = given.get("save") if isinstance(given, Mapping) else None
        if not isinstance(name, str) or "/" in name or not is_inside(name):
            continue
        if not (state.root / INDEXES / name / INDEX).exists():
            state.faults.append(Fault(f"{INDEXES}/{name}/{INDEX}", "missing", f"the index that {shown} saves"))


def _take_dataset(state: _State, folder: Path, shown: str) -> None:
    prefix = f"{shown}/" if shown else ""
    present = _present_files(state, folder)
    publishing = (folder / PUBLISHING).exists()
    if shown and not (folder / MANIFEST).exists() and (publishing or not present):
        state.pending.append(shown)
        return
    manifest = state.document(folder / MANIFEST, f"{prefix}{MANIFEST}", ManifestModel)
    if manifest is None:
        return
    if shown and manifest["name"] != shown:
        state.faults.append(Fault(f"{prefix}{MANIFEST}", "format", f"the manifest of {manifest['name']}"))
    files = state.entries(folder, shown, file_entries(manifest))
    named = {n.entry.path for n in files} | {MANIFEST}
    for path in sorted(present - named if not publishing else ()):
        state.faults.append(Fault(f"{prefix}{path}", "unnamed", FAULT_KINDS["unnamed"]))
    state.datasets.append(Dataset(folder, shown, manifest, files))
    if shown:
        _miss_indexes(state, manifest, shown)
    if shown and (state.root / OBJECTS).is_dir():
        for key in manifest["objects"]:
            if not (state.root / OBJECTS / key / RECEIPT).exists():
                name = f"{OBJECTS}/{key}/{RECEIPT}"
                state.faults.append(Fault(name, "missing", f"the dataset {shown} stands on it"))


def _present_files(state: _State, folder: Path) -> set[str]:
    """Files in a dataset's folder, as a glob would find them."""

    def unreadable(error: OSError) -> None:
        state.faults.append(Fault(str(error.filename), "unreadable", f"{error.strerror}"))

    found: set[str] = set()
    for place, _, names in os.walk(folder, onerror=unreadable):
        for name in names:
            if not name.startswith(TMP_PREFIX):
                found.add((Path(place) / name).relative_to(folder).as_posix())
    return found
