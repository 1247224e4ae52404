"""An export is there whole or not at all, with the same bytes each time, whoever is killed, damaged or full."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from gristmill.manifests.canonical import canonical_json, sealed
from gristmill.manifests.errors import EXIT_DONE, EXIT_ENGINE, EXIT_USAGE, EXIT_VERIFY, EngineLostError, UsageError
from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.export.run import export
from gristmill.pipeline.export.shape import Request
from gristmill.pipeline.lock import driver_lock
from tests.laws.running import command
from tests.manifests.small_run import copy_run, forge_manifest, forge_table
from tests.pipeline.export_data import make_output, rows_of
from tests.processes import matching, wait_until

FORMATS = ("hf", "mds", "webdataset", "megatron")
EXPORT = "gristmill_export.json"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_output(tmp_path_factory.mktemp("exported"))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def asked(out: Path, form: str, **options: Any) -> Request:
    return Request(out / "rows", form, **{"shard_bytes": 8000, **options})


@pytest.mark.parametrize(("form", "workers"), [*((form, 1) for form in FORMATS), ("mds", 2)])
def test_the_bytes_are_the_same_each_time(out: Path, tmp_path: Path, form: str, workers: int) -> None:
    export(asked(out, form), tmp_path / "one")
    document = export(asked(out, form), tmp_path / "two", workers)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert not document["reused"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
    named = {EXPORT, *(file["path"] for file in document["files"])}
    assert content(tmp_path / "one").keys() == named


def test_an_export_that_stands_there_is_not_made_again(out: Path, tmp_path: Path) -> None:
    export(asked(out, "hf"), tmp_path / "x")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "x").iterdir()}
    assert export(asked(out, "hf"), tmp_path / "x")["reused"]
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "x").iterdir()} == before


@pytest.mark.parametrize("other", [{"order": "shuffled"}, {"first": 1}, {"unit": "document"}, {"shard_bytes": 9000}])
def test_another_export_is_not_written_over(out: Path, tmp_path: Path, other: dict[str, Any]) -> None:
    export(asked(out, "hf"), tmp_path / "x")
    with pytest.raises(UsageError, match="holds another export"):
        export(asked(out, "hf", **other), tmp_path / "x")


def test_what_is_no_export_is_not_written_over(out: Path, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "thesis.tex").write_text("the only copy")
    with pytest.raises(UsageError, match="no export"):
        export(asked(out, "hf"), tmp_path / "x")
    with pytest.raises(UsageError, match="no export"):
        export(asked(out, "hf"), tmp_path / "x" / "thesis.tex")
    assert content(tmp_path / "x") == {"thesis.tex": b"the only copy"}


def test_an_empty_folder_is_filled(out: Path, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    export(asked(out, "hf"), tmp_path / "x")
    assert (tmp_path / "x" / EXPORT).exists()


def test_two_exports_do_not_share_a_place(out: Path, tmp_path: Path) -> None:
    with driver_lock(tmp_path / ".x.export"), pytest.raises(UsageError, match="another run"):
        export(asked(out, "hf"), tmp_path / "x")
    assert (tmp_path / ".x.export").is_dir()


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_killed_export_shows_nothing_and_goes_on(out: Path, tmp_path: Path, workers: str) -> None:
    words = ("export", "webdataset", out / "rows", "--out", tmp_path / "x", "--shard-bytes", "300", "--quiet")
    running = subprocess.Popen(command(*words, "--workers", workers))
    hidden = tmp_path / ".x.export"
    wait_until(lambda: len(list(hidden.glob("receipt-*.json"))) > 3, 60, "receipts")
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    wait_until(lambda: not matching(str(tmp_path)), 20, "workers to end")
    assert not (tmp_path / "x").exists()
    assert not (hidden / EXPORT).exists()
    numbers = [path.name[8:13] for path in hidden.glob("receipt-*.json")]
    finished = {f"shard-{n}.tar": (hidden / f"shard-{n}.tar").stat().st_ino for n in numbers}
    (hidden / "shard-99999.tar").write_bytes(b"half of one")
    assert main([str(word) for word in words]) == EXIT_DONE
    export(asked(out, "webdataset", shard_bytes=300), tmp_path / "calm")
    assert content(tmp_path / "x") == content(tmp_path / "calm")
    assert {name: (tmp_path / "x" / name).stat().st_ino for name in finished} == finished


def test_what_another_export_left_is_swept(out: Path, tmp_path: Path) -> None:
    words = ["export", "webdataset", str(out / "rows"), "--out", str(tmp_path / "x"), "--shard-bytes", "300"]
    running = subprocess.Popen(command(*words, "--quiet"))
    wait_until(lambda: len(list((tmp_path / ".x.export").glob("receipt-*"))) > 3, 60, "receipts")
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    export(asked(out, "webdataset", order="shuffled"), tmp_path / "x")
    export(asked(out, "webdataset", order="shuffled"), tmp_path / "calm")
    assert content(tmp_path / "x") == content(tmp_path / "calm")


def test_a_full_disk_leaves_nothing(out: Path, small_disk: Path) -> None:
    (small_disk / "in the way").write_bytes(bytes((1 << 20) + (900 << 10)))
    with pytest.raises(EngineLostError, match=r"no space left on the device.*make room"):
        export(asked(out, "webdataset"), small_disk / "x")
    assert [path.name for path in small_disk.iterdir()] == ["in the way"]
    (small_disk / "in the way").unlink()
    export(asked(out, "webdataset"), small_disk / "x")
    assert [path.name for path in small_disk.iterdir()] == ["x"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that holds 2 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def damaged(out: Path, target: Path, file_list: str) -> Path:
    """A copy of an output in which a byte in the middle of a file is another."""
    copy_run(out, target)
    entry = read_manifest(target / "rows")[file_list][0]
    path = target / "rows" / entry["path"]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()
    path.write_bytes(data)
    return target


@pytest.mark.parametrize(
    ("form", "file_list", "workers"),
    [*((form, "shards", "1") for form in FORMATS), ("megatron", "tokenised", "1"), ("hf", "shards", "2")],
)
def test_damage_stops_the_export_and_leaves_nothing(
    out: Path, tmp_path: Path, form: str, file_list: str, workers: str, capfd: pytest.CaptureFixture[str]
) -> None:
    copy = damaged(out, tmp_path / "copy", file_list)
    unit = "document" if file_list == "tokenised" else "row"
    words = ["export", form, str(copy / "rows"), "--out", str(tmp_path / "x"), "--unit", unit, "--workers", workers]
    assert main([*words, "--shard-bytes", "8000"]) == EXIT_VERIFY
    assert "damaged" in capfd.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy"]


def test_damaged_documents_of_a_row_are_seen(out: Path, tmp_path: Path) -> None:
    """Licences and sources stand in no hash of a row, but in that of its record batch."""
    copy_run(out, tmp_path / "copy")
    path = tmp_path / "copy" / "rows" / read_manifest(out / "rows")["shards"][0]["path"]
    data = path.read_bytes()
    at = data.index(b"texts" * 3)
    path.unlink()
    path.write_bytes(data[:at] + b"liars" + data[at + 5 :])
    words = ["export", "hf", str(tmp_path / "copy" / "rows"), "--out", str(tmp_path / "x")]
    assert main(words) == EXIT_VERIFY


@pytest.mark.parametrize("form", FORMATS)
def test_one_row_is_exported_and_none_is_refused(out: Path, tmp_path: Path, form: str) -> None:
    copy_run(out, tmp_path / "copy")
    folder = tmp_path / "copy" / "rows"
    forge_table(folder, "shards", lambda table: table.slice(0, 1))

    def keep(rows: int) -> None:
        def edit(manifest: dict[str, Any]) -> None:
            manifest["shards"], manifest["row_indexes"] = manifest["shards"][:rows], manifest["row_indexes"][:rows]
            manifest["totals"]["rows"] = rows
            for index in manifest["row_indexes"]:
                index["rows"] = rows

        forge_manifest(folder, edit)

    keep(1)
    document = export(Request(folder, form, "row"), tmp_path / "x", workers=2)
    assert document["totals"] == {"samples": 1, "tokens": rows_of(folder)[0]["n_tokens"]}
    keep(0)
    with pytest.raises(UsageError, match="empty"):
        export(Request(folder, form, "row"), tmp_path / "y")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "x"]


def test_verify_holds_every_file_against_its_digest(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(asked(out, "mds"), tmp_path / "x")
    assert main(["verify", str(tmp_path / "x")]) == EXIT_DONE
    forged = sealed({"format": "gristmill-export", "format_version": 1, "files": [{"path": "README.md"}]})
    for name, old, new in (
        ("shard.00001.mds", b"ndarray", b"ndarraz"),
        ("README.md", b"stored", b"storex"),
        (EXPORT, b'"stored"', b'"storex"'),
        (EXPORT, (tmp_path / "x" / EXPORT).read_bytes(), canonical_json(forged)),
    ):
        shutil.copytree(tmp_path / "x", tmp_path / "y")
        data = (tmp_path / "y" / name).read_bytes()
        assert old in data
        (tmp_path / "y" / name).write_bytes(data.replace(old, new))
        capsys.readouterr()
        assert main(["verify", str(tmp_path / "y")]) == EXIT_VERIFY
        assert name in capsys.readouterr().out
        shutil.rmtree(tmp_path / "y")
    (tmp_path / "x" / "shard.99999.mds").write_bytes(b"")
    assert main(["verify", str(tmp_path / "x")]) == EXIT_VERIFY


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["mds", "texts"], "dataset of documents"),
        (["megatron", "texts"], "dataset of documents"),
        (["hf", "texts", "--order", "shuffled"], "only rows have an order"),
        (["hf", "texts", "--unit", "document"], "leave it out"),
        (["megatron", "rows", "--order", "shuffled"], "only rows have an order"),
        (["hf", "rows", "--seed", "3"], "add --order shuffled"),
        (["hf", "rows", "--rows", "5:5"], "no such places"),
        (["hf", "rows", "--rows", "0:1000000"], "no such places"),
        (["hf", "rows", "--rows", "all"], "write it like"),
        (["hf", "rows", "--shard-bytes", "0"], "no size"),
        (["hf", "rows", "--shard-bytes", "many"], "no size"),
        (["hf", "rows", "--workers", "-1"], "give 1 or more"),
        (["parquet", "rows"], "no such command"),
        (["hf", "s3://bucket/rows"], "folders of this machine"),
    ],
)
def test_wrong_use_is_told(
    out: Path, tmp_path: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    form, dataset, *options = words
    place = dataset if "://" in dataset else str(out / dataset)
    assert main(["export", form, place, "--out", str(tmp_path / "x"), *options]) == EXIT_USAGE
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_rows_without_documents_behind_them_say_so(out: Path, tmp_path: Path) -> None:
    copy_run(out, tmp_path / "copy")
    forge_manifest(tmp_path / "copy" / "rows", lambda manifest: manifest.__setitem__("tokenised", []))
    with pytest.raises(UsageError, match="--unit row"):
        export(Request(tmp_path / "copy" / "rows", "megatron"), tmp_path / "x")


def test_a_place_that_cannot_take_the_name_is_told(out: Path, small_disk: Path) -> None:
    assert main(["export", "hf", str(out / "rows"), "--out", str(small_disk), "--quiet"]) == EXIT_USAGE
    assert not list(small_disk.iterdir())


@pytest.mark.slow
def test_a_worker_that_dies_is_told_and_its_work_goes_on(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", "webdataset", str(out / "rows"), "--out", str(tmp_path / "x"), "--shard-bytes", "300"]
    running = subprocess.Popen(command(*words, "--workers", "2", "--quiet"), stderr=subprocess.PIPE, text=True)
    hidden = tmp_path / ".x.export"
    wait_until(lambda: len(list(hidden.glob("receipt-*.json"))) > 3, 60, "receipts")
    (worker, *_) = [pid for pid in children_of(running.pid) if "spawn_main" in line_of(pid)]
    os.kill(worker, signal.SIGKILL)
    _, told = running.communicate()
    assert running.returncode == EXIT_ENGINE
    assert "a worker died" in told
    assert len(list(hidden.glob("receipt-*.json"))) > 3
    assert main([*words, "--json"]) == EXIT_DONE
    assert json.loads(capsys.readouterr().out)["totals"]["samples"] == len(rows_of(out / "rows"))


def children_of(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def line_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def test_hf_batches_hold_4_mib(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gristmill.pipeline.export.hf.BATCH_BYTES", 4000)
    export(Request(out / "rows", "hf"), tmp_path / "x")
    (path,) = (tmp_path / "x").glob("*.arrow")
    batches = list(pa.ipc.open_stream(path.read_bytes()))
    assert len(batches) > 1
    assert max(batch.nbytes for batch in batches) < 6000
