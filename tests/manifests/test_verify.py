"""Verification notices every flipped byte, every file gone or added, and books that do not balance."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gristmill.manifests.canonical import canonical_json, key_of, sealed
from gristmill.manifests.errors import InputError
from gristmill.manifests.manifest import FILE_LISTS, MANIFEST, RUN, read_manifest
from gristmill.manifests.manifest_model import (
    SCHEMA_FILE,
    ManifestModel,
    ReceiptModel,
    RunModel,
    schema_text,
    shape_fault,
)
from gristmill.manifests.receipt import RECEIPT
from gristmill.manifests.verify import FAULT_KINDS, VerifyReport, verify
from gristmill.manifests.verify_documents import Loaded, load_document
from gristmill.manifests.verify_files import Fault
from tests.manifests.small_run import forge_manifest

MODELS = {MANIFEST: ManifestModel, RUN: RunModel, RECEIPT: ReceiptModel}
UNCOVERED = {"events.jsonl", "inputs.json", ".lock"}
"""Beside the datasets: a log, a cache and a lock, which nothing reads for its content."""


def covered(out: Path) -> list[Path]:
    """Every file whose bytes count."""
    return [p for p in sorted(out.rglob("*")) if p.is_file() and p.name not in UNCOVERED]


def volatile_range(raw: bytes) -> range:
    """Where the volatile part of a document stands."""
    name = b'"volatile":'
    start = raw.index(name) + len(name)
    _, length = json.JSONDecoder().raw_decode(raw[start:].decode())
    return range(start, start + len(raw[start:].decode()[:length].encode()))


@contextmanager
def flipped(path: Path, offset: int, bit: int) -> Iterator[None]:
    """One bit of a file is another one for a while; hard links see it too."""
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ (1 << bit)]))
    try:
        yield
    finally:
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(byte)


def kinds(report: VerifyReport) -> set[str]:
    """The kinds of fault, all of them in the closed list."""
    found = {fault.kind for fault in report.faults}
    assert found <= FAULT_KINDS.keys()
    assert report.ok == (not found)
    return found


def test_a_finished_run_is_sound(finished: Path) -> None:
    for deep in (False, True):
        report = verify(finished, deep)
        assert report.faults == []
        assert report.ok
        assert report.datasets == ["a", "b", "corpus", "train", "holdout"]
        assert report.pending == []


def test_every_file_is_read_once(finished: Path) -> None:
    progress: list[tuple[int, int]] = []
    report = verify(finished, progress=lambda done, total: progress.append((done, total)))
    inodes = {p.stat().st_ino: p.stat().st_size for p in covered(finished)}
    assert report.checked == len(inodes)
    assert report.bytes == sum(inodes.values())
    assert progress[-1][0] == progress[-1][1] > 0


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_flipped_bit_anywhere_is_a_fault(out: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(covered(out)), label="file")
    size = path.stat().st_size
    # The ends of a file are its magic, where readers look least.
    offset = data.draw(st.one_of(st.integers(0, size - 1), st.sampled_from([0, size - 1])), label="offset")
    with flipped(path, offset, data.draw(st.integers(0, 7), label="bit")):
        report = verify(out)
    assert kinds(report)
    twins = {p for p in covered(out) if p.stat().st_ino == path.stat().st_ino}
    assert {out / fault.path for fault in report.faults} & twins


@pytest.mark.parametrize("stride", [13, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MODELS)
def test_every_byte_of_a_document_counts(out: Path, name: str, stride: int) -> None:
    path = max((p for p in covered(out) if p.name == name), key=lambda p: p.stat().st_size)
    raw = path.read_bytes()
    for offset in range(0, len(raw), stride):
        # 0x20 turns e into E and a space into NUL; 0x01 is another digit.
        for bit in (0, 5):
            path.write_bytes(raw[:offset] + bytes([raw[offset] ^ (1 << bit)]) + raw[offset + 1 :])
            found = load_document(path, name, MODELS[name])
            assert isinstance(found, Fault), (offset, raw[max(0, offset - 20) : offset + 20])
            assert found.kind == "seal"


@pytest.mark.parametrize("name", MODELS)
def test_the_volatile_part_counts(out: Path, name: str) -> None:
    path = next(p for p in covered(out) if p.name == name)
    raw = path.read_bytes()
    for offset in volatile_range(raw):
        path.write_bytes(raw[:offset] + bytes([raw[offset] ^ 1]) + raw[offset + 1 :])
        assert isinstance(load_document(path, name, MODELS[name]), Fault), offset


def test_each_file_that_is_gone_is_missed(out: Path) -> None:
    names = [p for p in covered(out) if p.name not in (RECEIPT, MANIFEST)]
    for path in names:
        aside = path.rename(path.parent / ".tmp-aside")
        report = verify(out)
        assert Fault(str(path.relative_to(out)), "missing", "no such file") in report.faults
        aside.rename(path)
    for path in (p for p in covered(out) if p.name in (RECEIPT, MANIFEST)):
        aside = path.rename(path.parent / ".tmp-aside")
        found = kinds(verify(out))
        aside.rename(path)
        # The receipt of work that no manifest stands on may be gone: it will be done again.
        assert "missing" in found or f'"{path.parent.name}"' not in named_objects(out)
    assert verify(out).ok


def named_objects(out: Path) -> str:
    """The keys that manifests name, as text."""
    return json.dumps([read_manifest(p.parent)["objects"] for p in out.glob(f"*/{MANIFEST}")])


@pytest.mark.parametrize("change", [b"", b"\x00", b"\n"])
def test_a_cut_or_longer_file_is_a_fault(out: Path, change: bytes) -> None:
    for path in covered(out):
        raw = path.read_bytes()
        path.write_bytes(raw + change if change else raw[:-1])
        assert kinds(verify(out)) & {"size", "seal"}
        path.write_bytes(raw)


def test_unnamed_files_are_faults_where_a_glob_finds_them(out: Path) -> None:
    (out / "a" / "part-00009.parquet").write_bytes(b"x")
    (out / "b" / "ledger" / "deeper").mkdir(parents=True)
    (out / "b" / "ledger" / "deeper" / "x").write_bytes(b"")
    faults = verify(out).faults
    assert [(f.path, f.kind) for f in faults] == [
        ("a/part-00009.parquet", "unnamed"),
        ("b/ledger/deeper/x", "unnamed"),
    ]


def test_what_a_killed_attempt_leaves_is_no_fault(out: Path) -> None:
    (out / "a" / ".tmp-123").write_bytes(b"half")
    (out / "objects" / ("0" * 32)).mkdir()
    (out / "objects" / ("0" * 32) / "data-00000.01234567.parquet").write_bytes(b"orphan")
    some = next((out / "objects").iterdir())
    (some / ".tmp-456").write_bytes(b"half")
    assert verify(out).ok


def test_a_dataset_that_is_not_made_yet_is_pending(out: Path) -> None:
    for path in sorted((out / "train").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    report = verify(out)
    assert report.ok
    assert report.pending == ["train"]
    (out / "train" / "part-00000.01234567.arrow").write_bytes(b"x")
    assert [(f.path, f.kind) for f in verify(out).faults] == [("train/manifest.json", "missing")]


def test_one_dataset_alone(out: Path) -> None:
    report = verify(out / "corpus", deep=True)
    assert report.ok
    assert report.datasets == ["corpus"]
    shard = next((out / "corpus").glob("part-*"))
    with flipped(shard, 100, 3):
        assert [(f.path, f.kind) for f in verify(out / "corpus").faults] == [(shard.name, "digest")]


@pytest.mark.parametrize("name", ["nowhere", "objects", "a/ledger"])
def test_what_is_no_output_is_an_input_error(out: Path, name: str) -> None:
    with pytest.raises(InputError, match="neither an output nor a dataset"):
        verify(out / name)


def add_kept(manifest: dict[str, Any]) -> None:
    manifest["steps"][-1]["kept"] += 1


def add_kept_of_source(manifest: dict[str, Any]) -> None:
    manifest["steps"][-1]["sources"]["a"]["kept"] += 1


def lose_between(manifest: dict[str, Any]) -> None:
    for tally in (manifest["steps"][0], manifest["steps"][0]["sources"]["a"]):
        tally["kept"] += 1
        tally["records_in"] += 1


def cut_chars(manifest: dict[str, Any]) -> None:
    for tally in (manifest["steps"][-1], manifest["steps"][-1]["sources"]["a"]):
        tally["chars_cut"]["nothing"] = 5


def total(name: str) -> Callable[[dict[str, Any]], None]:
    def edit(manifest: dict[str, Any]) -> None:
        manifest["totals"][name] += 1

    return edit


def rename_reason(manifest: dict[str, Any]) -> None:
    for tally in (manifest["steps"][-1], manifest["steps"][-1]["sources"]["a"]):
        tally["reasons"] = {"other": tally["dropped"]}


def drop_to_quarantine(manifest: dict[str, Any]) -> None:
    for tally in (manifest["steps"][-1], manifest["steps"][-1]["sources"]["a"]):
        tally["dropped"], tally["quarantined"] = tally["quarantined"], tally["dropped"]


def more_rows(manifest: dict[str, Any]) -> None:
    manifest["ledger"][0]["rows"] += 1


FORGED = [
    (add_kept, {"books"}),
    (add_kept_of_source, {"books"}),
    (lose_between, {"books"}),
    (cut_chars, {"books"}),
    (total("records"), {"books"}),
    (total("chars"), {"books"}),
    (rename_reason, {"ledger"}),
    (drop_to_quarantine, {"ledger"}),
    (more_rows, {"rows"}),
    (lambda m: m["ledger"].clear(), {"ledger", "unnamed"}),
    (lambda m: m.update(name="other"), {"format"}),
    (lambda m: m["steps"].clear(), {"format"}),
    (lambda m: m["shards"][0].update(bytes=-1), {"format"}),
    (lambda m: m["shards"][0].update(digest="md5:0"), {"format"}),
    (lambda m: m["shards"][0].update(path="../b/manifest.json"), {"path", "unnamed"}),
    (lambda m: m["shards"][0].update(path="/etc/passwd"), {"path", "unnamed"}),
    (lambda m: m["shards"][0].update(path="nul\0"), {"path", "unnamed"}),
    (lambda m: m["steps"][0]["sources"].update(a=3), {"format"}),
    (lambda m: m["steps"][0]["sources"]["a"].update(unknown=3), {"format"}),
    (lambda m: m["objects"].append("0" * 32), {"missing"}),
    (lambda m: m.pop("totals"), {"format"}),
]


@pytest.mark.parametrize(("edit", "expected"), FORGED, ids=lambda value: getattr(value, "__name__", "set"))
def test_a_sealed_manifest_that_is_wrong(out: Path, edit: Callable[[dict[str, Any]], None], expected: set[str]) -> None:
    forge_manifest(out / "a", edit)
    assert kinds(verify(out, deep=True)) == expected


@pytest.mark.parametrize("name", ["totals", "steps"])
def test_rows_are_counted(out: Path, name: str) -> None:
    def edit(manifest: dict[str, Any]) -> None:
        holder = manifest["totals"] if name == "totals" else manifest["steps"][-1]
        holder["rows"] += 1

    forge_manifest(out / "train", edit)
    assert kinds(verify(out)) == {"books"}


HOSTILE_DOCUMENTS = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"a":NaN}',
    b'{"a":1' + b"0" * 5000 + b"}",
    b'{"digest":1,"digest":2}',
    b'{"a":"\\ud800"}',
]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("raw", HOSTILE_DOCUMENTS, ids=lambda raw: raw[:12].hex() or "empty")
def test_a_hostile_document_is_a_seal_fault(out: Path, name: str, raw: bytes) -> None:
    path = next(p for p in covered(out) if p.name == name)
    path.write_bytes(raw)
    faults = [f for f in verify(out).faults if f.path == str(path.relative_to(out))]
    assert [f.kind for f in faults] == ["seal"]


def test_a_sealed_document_of_another_kind(out: Path) -> None:
    (out / RUN).write_bytes(canonical_json(sealed({"format": "gristmill-manifest", "volatile": {}})))
    faults = [f for f in verify(out).faults if f.path == RUN]
    assert [f.kind for f in faults] == ["format"]


def test_the_receipt_of_another_key(out: Path) -> None:
    path = next(p for p in covered(out) if p.name == RECEIPT)
    receipt = {k: v for k, v in json.loads(path.read_bytes()).items() if k != "digest"}
    assert receipt["key"] == key_of(receipt["what"])
    path.write_bytes(canonical_json(sealed({**receipt, "what": {**receipt["what"], "seed": 99}})))
    assert kinds(verify(out)) == {"format"}


def test_what_is_no_regular_file_does_not_hang(out: Path) -> None:
    shard = next((out / "a").glob("part-*"))
    shard.unlink()
    os.mkfifo(shard)
    (out / "b" / MANIFEST).unlink()
    (out / "b" / MANIFEST).mkdir()
    assert {(f.path, f.kind) for f in verify(out).faults} >= {
        (f"a/{shard.name}", "unreadable"),
        (f"b/{MANIFEST}", "unreadable"),
    }


def test_the_schema_file_is_that_of_the_types() -> None:
    assert SCHEMA_FILE.read_text() == schema_text(), (
        "python -m gristmill.manifests.manifest_model > manifests/manifest.schema.json"
    )


@pytest.mark.parametrize("name", MODELS)
def test_real_documents_have_the_shape(finished: Path, name: str) -> None:
    found = [p for p in covered(finished) if p.name == name]
    assert found
    for path in found:
        assert isinstance(load_document(path, name, MODELS[name]), Loaded)


def test_a_wrong_shape_is_told_by_its_place(finished: Path) -> None:
    manifest = read_manifest(finished / "a")
    manifest["steps"][0]["kept"] = "7"
    told = shape_fault(ManifestModel, manifest)
    assert told == "steps.0.kept: Input should be a valid integer"


def test_all_file_lists_are_in_the_schema() -> None:
    assert set(FILE_LISTS) <= ManifestModel.model_fields.keys()
