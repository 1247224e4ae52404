"""The commit protocol: exclusive, all or nothing, and honest about what is on the disk."""

import threading
from pathlib import Path

import pytest

from gristmill.manifests.commit import ObjectStore, ObjectWriter
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.receipt import RECEIPT, Receipt, read_receipt

KEY = "ab" * 16


def attempt(store: ObjectStore, data: bytes = b"data", key: str = KEY) -> ObjectWriter:
    writer = store.begin(key, {"work": 1})
    file = writer.create()
    file.write(data)
    writer.add(file, "data", "data-00000.bin", 1)
    return writer


def test_a_committed_object_is_found_with_its_bytes(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    receipt = attempt(store).commit({"n": 1})
    found = store.find(KEY)
    assert found is not None
    assert found.digest == receipt.digest
    assert store.path(KEY, found.files[0]).read_bytes() == b"data"
    assert found.files[0].bytes == 4


def test_nothing_is_visible_before_the_receipt(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    attempt(store)
    assert store.find(KEY) is None


def test_a_second_equal_attempt_changes_nothing(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    first = attempt(store).commit({"n": 1})
    again = attempt(store).commit({"n": 1})
    assert again.digest == first.digest
    assert sorted(p.name for p in store.folder(KEY).iterdir()) == sorted([first.files[0].path, RECEIPT])


def test_attempts_that_differ_are_refused_by_name(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    first = attempt(store).commit({"n": 1})
    with pytest.raises(VerifyError, match="not deterministic"):
        attempt(store, b"other").commit({"n": 1})
    found = store.find(KEY)
    assert found is not None and found.digest == first.digest
    assert store.path(KEY, found.files[0]).read_bytes() == b"data"


def test_two_attempts_at_once_leave_one_object(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    barrier = threading.Barrier(8)
    receipts: list[Receipt] = []

    def work() -> None:
        writer = attempt(store)
        barrier.wait()
        receipts.append(writer.commit({"n": 1}))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({r.digest for r in receipts}) == 1 and len(receipts) == 8
    assert len(list(store.folder(KEY).iterdir())) == 2


def test_an_abandoned_attempt_leaves_nothing_and_harms_nobody(tmp_path: Path) -> None:
    """One attempt's end never deletes what another wrote."""
    store = ObjectStore(tmp_path)
    loser = store.begin(KEY, {"work": 1})
    loser.create().write(b"half")
    receipt = attempt(store).commit({})
    loser.abandon()
    assert store.find(KEY) == read_receipt(store.folder(KEY))
    assert store.path(KEY, receipt.files[0]).exists()
    assert not [p for p in store.folder(KEY).iterdir() if p.name.startswith(".tmp")]


@pytest.mark.parametrize("damage", ["gone", "short", "torn receipt", "changed receipt"])
def test_damage_makes_the_work_undone_and_it_is_done_again(tmp_path: Path, damage: str) -> None:
    store = ObjectStore(tmp_path)
    receipt = attempt(store).commit({"n": 1})
    path = store.path(KEY, receipt.files[0])
    if damage == "gone":
        path.unlink()
    elif damage == "short":
        path.write_bytes(b"da")
    elif damage == "torn receipt":
        (store.folder(KEY) / RECEIPT).write_bytes(b'{"key": "ab')
    else:
        text = (store.folder(KEY) / RECEIPT).read_text()
        (store.folder(KEY) / RECEIPT).write_text(text.replace('"n":1', '"n":2'))
    assert store.find(KEY) is None
    attempt(store).commit({"n": 1})
    found = store.find(KEY)
    assert found is not None and store.path(KEY, found.files[0]).read_bytes() == b"data"
