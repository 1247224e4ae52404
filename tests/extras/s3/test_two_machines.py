"""Two machines at one output: locks, attempts at the same work, and what is damaged between them."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import EngineLostError, UsageError, VerifyError
from gristmill.manifests.open_store import open_store
from gristmill.manifests.remote import delete, get, put
from gristmill.manifests.remote_access import place_of
from gristmill.manifests.remote_lock import LOCK, locked
from gristmill.manifests.working_copy import working_copy
from tests.extras.s3.server import Proxy


@pytest.fixture
def url(bucket: str, proxy: Proxy) -> str:
    assert proxy.url
    return f"s3://{bucket}/runs/one"


def test_the_lock_of_another_machine_is_waited_for_and_then_taken(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of(url)
    put(place, LOCK, json.dumps({"host": "elsewhere x", "pid": 1, "born": "1", "nonce": "n"}).encode())
    with pytest.raises(UsageError, match="process 1 on elsewhere"), locked(place):
        pass
    monkeypatch.setattr("gristmill.manifests.remote_lock.STALE_S", 0.5)
    monkeypatch.setattr("gristmill.manifests.remote_lock.WATCH_S", 0.5)
    time.sleep(2)
    with locked(place):
        found = get(place, LOCK)
        assert found is not None and b"elsewhere" not in found[0]


def test_a_driver_that_lost_its_lock_publishes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gristmill.manifests.remote_lock.BEAT_S", 0.1)
    place, root = place_of(url), working_copy(url)
    store = open_store(root)
    (root / "run.json").write_text("{}")
    with locked(place):
        store.push(root / "run.json")
        put(place, LOCK, b'{"nonce": "of another"}')
        time.sleep(1)
        with pytest.raises(EngineLostError, match="lock"):
            store.push(root / "run.json")
    assert (get(place, LOCK) or (b"",))[0] == b'{"nonce": "of another"}', "another's lock is not taken away"


def committed(store: ObjectStore, data: bytes) -> str:
    with store.begin("a" * 32, {"w": 1}) as writer:
        file = writer.create()
        file.write(data)
        writer.add(file, "data", "data.bin", 1)
        return writer.commit({"n": len(data)}).digest


@pytest.fixture
def scratches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Path]]:
    yield [tmp_path / "one", tmp_path / "two"]


def stores(url: str, folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> list[ObjectStore]:
    """The store of an output as two machines have it."""
    found: list[ObjectStore] = []
    for folder in folders:
        folder.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        found.append(open_store(working_copy(url)))
    return found


def test_attempts_on_two_machines_agree_or_are_told(
    url: str, scratches: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = stores(url, scratches, monkeypatch)
    assert committed(one, b"x") == committed(two, b"x")
    (two.folder("a" * 32) / "receipt.json").unlink()
    with pytest.raises(VerifyError, match=f"{url}/objects/a.*differ"):
        committed(two, b"y")
    assert (one.find("a" * 32) or pytest.fail()).facts == {"n": 1}


def test_damage_of_an_object_is_named_and_not_read(
    url: str, scratches: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = stores(url, scratches, monkeypatch)
    committed(one, b"some bytes")
    receipt = two.find("a" * 32)
    assert receipt is not None
    name = f"objects/{'a' * 32}/{receipt.files[0].path}"
    put(place_of(url), name, b"other byte")
    with pytest.raises(VerifyError, match=f"{url}/{name}"):
        two.fetch([two.root / name])
    delete(place_of(url), name)
    with pytest.raises(VerifyError, match="not there"):
        two.fetch([two.root / name])
    put(place_of(url), f"objects/{'a' * 32}/receipt.json", b"{")
    with pytest.raises(VerifyError, match=r"receipt\.json"):
        two.find("a" * 32)


@pytest.mark.parametrize("left", [None, b"sh"])
def test_a_receipt_that_stands_here_alone_without_its_file_is_no_winner(url: str, left: bytes | None) -> None:
    """A worker was killed between its commit here and the upload, and somebody cleared, or cut, what it had made."""
    store = open_store(working_copy(url))
    with ObjectStore(store.root).begin("b" * 32, {}) as writer:
        file = writer.create()
        file.write(b"short")
        writer.add(file, "data", "data.bin", 1)
        path = store.path("b" * 32, writer.commit({"effects": {"0": ["k", "timeout", ""]}}).files[0])
    path.unlink()
    if left is not None:
        path.write_bytes(left)
    with store.begin("b" * 32, {}) as writer:
        file = writer.create()
        file.write(b"another")
        writer.add(file, "data", "data.bin", 1)
        done = writer.commit({})
    found = store.find("b" * 32)
    assert found is not None and found.digest == done.digest
    assert get(place_of(url), f"objects/{'b' * 32}/{done.files[0].path}") is not None
