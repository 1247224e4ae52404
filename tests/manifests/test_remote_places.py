"""Places in object storage and their working copies, without a server and without the package that speaks to one."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import UsageError
from gristmill.manifests.open_store import open_store
from gristmill.manifests.remote_access import RemotePlace, place_of
from gristmill.manifests.remote_store import RemoteStore
from gristmill.manifests.working_copy import KEPT_S, output_of, remove_working_copy, working_copy
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.task import texts_of

URL = "s3://bucket/runs/a b/é@1"


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    return tmp_path


def test_a_place_is_a_bucket_and_a_prefix() -> None:
    assert place_of("s3://bucket/a/b/") == RemotePlace("bucket", "a/b")
    assert place_of("s3://bucket").key("x") == "x"
    assert place_of("s3://bucket/a").shown("x") == "s3://bucket/a/x"


def test_the_root_alone_tells_the_store() -> None:
    root = working_copy(URL)
    store = open_store(str(root))
    assert isinstance(store, RemoteStore) and store.remote.url == URL
    assert open_store(root / "objects") == ObjectStore(root / "objects")


def test_a_working_copy_of_another_machine_is_made_where_it_is_asked_for() -> None:
    root = working_copy(URL)
    remove_working_copy(root)
    root.parent.rmdir()
    assert output_of(root) == place_of(URL)
    assert root.is_dir() and root.parent.stat().st_mode & 0o777 == 0o700


HOLDS = """
import sys, tempfile
from gristmill.manifests.working_copy import working_copy
tempfile.tempdir = sys.argv[1]
root = working_copy(sys.argv[2])
(root / "fetched").touch()
print(root, flush=True)
sys.stdin.read()
"""


def test_what_nobody_has_opened_for_a_day_goes_unless_a_process_holds_it(scratch: Path) -> None:
    old = time.time() - KEPT_S - 60
    words = [sys.executable, "-c", HOLDS, str(scratch), URL]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        held = Path(process.stdout.readline().strip())
        os.utime(held, (old, old))
        young = held.with_name(f"young@{held.name[-8:]}")
        young.mkdir()
        remove_working_copy(working_copy("s3://bucket/another"))
        assert (held / "fetched").exists(), "a process that runs still has it"
        process.communicate()
    working_copy("s3://bucket/another")
    assert not held.exists() and young.exists()


def test_a_folder_that_another_process_has_opened_stays_though_empty(scratch: Path) -> None:
    """Its driver makes files there as soon as it has the lock."""
    words = [sys.executable, "-c", HOLDS, str(scratch), URL]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        root = Path(process.stdout.readline().strip())
        remove_working_copy(working_copy(URL))
        assert not list(root.iterdir())
        process.communicate()
    remove_working_copy(working_copy(URL))
    assert not root.exists()


def test_two_servers_have_two_working_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    root = working_copy(URL)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert working_copy(URL) != root
    with pytest.raises(UsageError, match="AWS_ENDPOINT_URL"):
        open_store(root)


def test_a_folder_that_others_can_write_to_is_refused(scratch: Path) -> None:
    root = working_copy(URL)
    root.parent.chmod(0o777)
    with pytest.raises(UsageError, match="yours alone"):
        working_copy(URL)
    root.rmdir()
    root.parent.rmdir()
    (scratch / "elsewhere").mkdir()
    root.parent.symlink_to(scratch / "elsewhere")
    with pytest.raises(UsageError, match="yours alone"):
        working_copy(URL)


def test_a_place_too_long_for_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="too long"):
        working_copy("s3://bucket/" + "x" * 250)


def test_a_missing_package_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text('name: x\ndatasets:\n  a:\n    read: {jsonl: "s3://bucket/x/*"}\n')
    for words in (
        ["run", str(recipe), "--out", "s3://bucket/x"],
        ["run", str(recipe), "--out", str(tmp_path / "out"), "--workers", "0"],
        ["plan", str(recipe), "--out", "s3://bucket/x"],
        ["ls", "s3://bucket/x"],
        ["verify", "s3://bucket/x"],
    ):
        assert main(words) == 2
        told = capsys.readouterr().err
        assert "pip install 'gristmill[s3]'" in told and told.count("\n") == 1


def test_every_text_of_a_payload_is_found() -> None:
    payload = {"a": "1", "b": [["2", 3, None], ("4",)], "c": {"d": {"e": "5"}}, "f": 1.5}
    assert list(texts_of(payload)) == ["1", "2", "4", "5"]
