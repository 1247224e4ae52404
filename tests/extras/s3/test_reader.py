"""The trainer's stream from a real server: the same rows as from a folder, few requests, and servers that break."""

import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.manifests.errors import EngineLostError, InputError, UsageError, VerifyError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.remote import put
from gristmill.manifests.remote_access import place_of
from gristmill.pipeline.reader import ReadOptions, TokenStream, load_plan
from gristmill.pipeline.reader.plan import implicit_plan
from gristmill.pipeline.reader.rows_dataset import CorruptRowError, RowsDataset
from tests.extras.s3.server import Proxy, Request
from tests.laws.running import run_inline, write_recipe
from tests.pipeline.pictures import RECIPE as MEDIA_RECIPE
from tests.pipeline.pictures import corpus, write_documents
from tests.pipeline.reader.cold_rows import make_rows

BOTH = pytest.mark.parametrize("name", ["plain", "cold"])


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output with the same rows twice, in several shards."""
    return make_rows(tmp_path_factory.mktemp("trainer"))


@pytest.fixture
def remote(folder: Path, bucket: str, proxy: Proxy) -> str:
    """A copy of the output's datasets in object storage."""
    url = f"s3://{bucket}/out"
    for name in ("plain", "cold"):
        upload(folder / name, f"{url}/{name}")
    proxy.requests.clear()
    return url


def upload(folder: Path, url: str) -> None:
    manifest = read_manifest(folder)
    kinds = ("shards", "row_indexes", "media_shards", "media_indexes")
    files = ["manifest.json", *(e["path"] for k in kinds for e in manifest.get(k, []))]
    for file in files:
        put(place_of(url), file, (folder / file).read_bytes())


def options(folder: Path, **given: Any) -> ReadOptions:
    return ReadOptions(**({"torch": False, "tail": "short", "cache_dir": folder / "cache"} | given))


def batches(stream: TokenStream) -> list[Any]:
    return [(b.indices.tolist(), b.row.tolist(), b.tokens.tolist(), b.loss_mask.tolist()) for b in stream]


@BOTH
def test_the_same_batches_as_from_a_folder(name: str, folder: Path, remote: str, proxy: Proxy, tmp_path: Path) -> None:
    here = TokenStream(implicit_plan(folder / name, shuffle="block"), global_batch=8, options=options(tmp_path / "x"))
    there = TokenStream(f"{remote}/{name}", global_batch=8, options=options(tmp_path))
    assert there.plan.shuffles and here.plan.digest == there.plan.digest
    wanted = batches(here)
    assert batches(there) == wanted
    assert there.documents(5) == here.documents(5)
    assert proxy.kinds().keys() == {"GET"}, "nothing is listed, and no HEAD is needed"
    proxy.requests.clear()
    again = TokenStream(f"{remote}/{name}", global_batch=8, options=options(tmp_path))
    assert batches(again) == wanted and proxy.kinds() == {"GET": 1}, "the manifest alone"
    state = again.state_dict()
    here.load_state_dict(state)


def test_rows_are_fetched_in_blocks_once(remote: str, proxy: Proxy, tmp_path: Path) -> None:
    stream = TokenStream(f"{remote}/plain", global_batch=8, options=options(tmp_path))
    dataset = stream.plan.datasets["plain"]
    batches(stream)
    asked = {(r.path, r.range) for r in proxy.of("GET", ".arrow")}
    assert len(asked) == len(proxy.of("GET", ".arrow")) == blocks(dataset)
    assert len(proxy.of("GET", ".idx")) == len(dataset.shards) and len(proxy.of("GET", "manifest")) == 1


def blocks(dataset: RowsDataset) -> int:
    """Blocks, and those that the end of a shard cuts in two."""
    return len({*range(0, dataset.rows, dataset.block_rows), *dataset.first[:-1].tolist()})


def test_rows_are_fetched_one_by_one_where_that_is_asked_for(remote: str, proxy: Proxy, tmp_path: Path) -> None:
    stream = TokenStream(f"{remote}/plain", 1, 4, 8, options=options(tmp_path, fetch_rows=1))
    rows = sum(len(b) for b in stream)
    asked = proxy.of("GET", ".arrow")
    assert len(asked) == rows < stream.plan.rows / 2
    first, _, last = asked[0].range.removeprefix("bytes=").partition("-")
    assert int(last) - int(first) + 1 == 4 * 64


def test_a_plan_names_datasets_by_url(folder: Path, remote: str, tmp_path: Path) -> None:
    plan = {
        "seed": 3,
        "vision": "none",
        "datasets": {"a": f"{remote}/plain", "b": str(folder / "cold")},
        "stages": [{"context": 64, "tokens": 64 * 200, "mix": {"a": 0.7, "b": 0.3}}],
    }
    (tmp_path / "plan.yaml").write_text(json.dumps(plan))
    stream = TokenStream(tmp_path / "plan.yaml", global_batch=10, options=options(tmp_path))
    assert set(stream.plan.shuffles) == {"a"}
    found = [(s, r) for b in stream for s, r in zip(b.source, b.row.tolist(), strict=True)]
    assert len(found) == 200 and len(set(found)) == 200
    (tmp_path / "plan.yaml").write_text(json.dumps(plan | {"shuffle": {"block_rows": 16, "window_blocks": 2}}))
    other = load_plan(tmp_path / "plan.yaml")
    assert {s.block_rows for s in other.shuffles.values()} == {16} and other.digest != stream.plan.digest
    (tmp_path / "plan.yaml").write_text(json.dumps(plan | {"shuffle": "global"}))
    assert not load_plan(tmp_path / "plan.yaml").shuffles


def test_the_next_window_is_fetched_while_this_one_is_read(remote: str, proxy: Proxy, tmp_path: Path) -> None:
    plan = {
        "vision": "none",
        "shuffle": {"block_rows": 10, "window_blocks": 3},
        "stages": [{"context": 64, "tokens": 64 * 120, "mix": {"plain": 1.0}}],
        "datasets": {"plain": f"{remote}/plain"},
    }
    (tmp_path / "plan.yaml").write_text(json.dumps(plan))
    stream = TokenStream(tmp_path / "plan.yaml", global_batch=1, options=options(tmp_path, prefetch=0))
    made = iter(stream)
    next(made)
    until = time.monotonic() + 20
    while len(cached(tmp_path)) < 6 and time.monotonic() < until:
        time.sleep(0.05)
    assert 6 <= len(cached(tmp_path)) <= 9, "two windows of three blocks; a shard may end in one"
    proxy.requests.clear()
    for _ in range(29):
        next(made)
    assert not proxy.of("GET", ".arrow"), "this window is there"
    del made


def cached(folder: Path) -> list[Path]:
    return list((folder / "cache").glob("*.rows"))


@BOTH
def test_a_connection_that_drops_is_gone_on_with(name: str, remote: str, proxy: Proxy, tmp_path: Path) -> None:
    wanted = batches(TokenStream(f"{remote}/{name}", options=options(tmp_path / "x")))
    proxy.requests.clear()
    proxy.rules.cut_bytes, proxy.rules.cuts, proxy.rules.cut_paths = 3000, 6, ".arrow"
    assert batches(TokenStream(f"{remote}/{name}", options=options(tmp_path))) == wanted
    assert proxy.rules.cuts == 0
    starts = [int(r.range.removeprefix("bytes=").partition("-")[0]) for r in proxy.of("GET", ".arrow")]
    assert max(starts) >= 3000 and len(starts) > 6, "from the byte where it broke off"


def test_a_server_that_is_busy_is_asked_again(remote: str, proxy: Proxy, tmp_path: Path) -> None:
    proxy.rules.busy, proxy.rules.busy_paths = 5, ".arrow"
    stream = TokenStream(f"{remote}/plain", options=options(tmp_path))
    assert len(batches(stream)) == stream.plan.rows and proxy.rules.busy == 0
    proxy.rules.busy = 10_000
    with pytest.raises(EngineLostError, match=r"s3://.*503"):
        batches(TokenStream(f"{remote}/plain", options=options(tmp_path / "x")))


def test_an_answer_that_does_not_come_is_asked_for_again(
    remote: str, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gristmill.manifests.remote_access.REQUEST_TIMEOUT_S", 1)
    monkeypatch.setenv("GRISTMILL_REMOTE_RETRY_S", "9")  # another client than that of other tests
    slow = [3.0, 3.0]
    proxy.rules.hold = lambda request: time.sleep(slow.pop() if ".arrow" in request.path and slow else 0)
    stream = TokenStream(f"{remote}/plain", options=options(tmp_path))
    assert len(batches(stream)) == stream.plan.rows and not slow


def test_a_server_that_is_gone_is_told_in_time_and_the_stream_goes_on(
    remote: str, proxy: Proxy, tmp_path: Path
) -> None:
    stream = TokenStream(f"{remote}/plain", options=options(tmp_path, prefetch=0))
    proxy.rules.cut_bytes, proxy.rules.cuts, proxy.rules.cut_paths = 0, 10_000, ".arrow"
    with pytest.raises(EngineLostError, match=r"s3://.*\.arrow.*breaks off") as caught:
        batches(stream)
    assert caught.value.exit_code == 6 and not cached(tmp_path), "and nothing torn is kept"
    proxy.rules.cuts = 0
    assert len(batches(stream)) == stream.plan.rows


@BOTH
def test_damage_in_the_cache_is_fetched_again_once(name: str, remote: str, proxy: Proxy, tmp_path: Path) -> None:
    wanted = batches(TokenStream(f"{remote}/{name}", global_batch=8, options=options(tmp_path)))
    for path in (tmp_path / "cache").iterdir():
        data = bytearray(path.read_bytes())
        data[-50 if path.suffix == ".rows" else len(data) // 2] ^= 16
        path.write_bytes(data)
    proxy.requests.clear()
    assert batches(TokenStream(f"{remote}/{name}", global_batch=8, options=options(tmp_path))) == wanted
    stream = TokenStream(f"{remote}/{name}", options=options(tmp_path))
    assert len(proxy.of("GET", ".arrow")) == blocks(stream.plan.datasets[name])


@BOTH
def test_damage_in_object_storage_is_named(name: str, folder: Path, remote: str, tmp_path: Path) -> None:
    wanted = {
        r: t
        for _, rows, ts, _ in batches(TokenStream(f"{remote}/{name}", options=options(tmp_path / "x")))
        for r, t in zip(rows, ts, strict=True)
    }
    dataset = RowsDataset.open(folder / name)
    entry = read_manifest(folder / name)["shards"][0]["path"]
    place = dataset.open_shards().whole_head(0).batches[0]
    data = bytearray((folder / name / entry).read_bytes())
    data[int(place["ids_at"]) + 20] ^= 1
    put(place_of(f"{remote}/{name}"), entry, bytes(data))
    with pytest.raises(CorruptRowError, match=rf"s3://.*{entry} row 0"):
        batches(TokenStream(f"{remote}/{name}", options=options(tmp_path)))
    stream = TokenStream(f"{remote}/{name}", global_batch=4, on_corrupt="skip", options=options(tmp_path))
    found = {r: t for _, rows, ts, _ in batches(stream) for r, t in zip(rows, ts, strict=True)}
    assert len(stream.corrupt) == 1 and {r for r in wanted if found[r] != wanted[r]} == {0}


@pytest.mark.parametrize("harm", ["gone", "short", "index"])
def test_what_is_not_what_the_manifest_says_is_named(harm: str, folder: Path, remote: str, tmp_path: Path) -> None:
    manifest = read_manifest(folder / "plain")
    file = manifest["row_indexes" if harm == "index" else "shards"][0]["path"]
    place = place_of(f"{remote}/plain")
    data = (folder / "plain" / file).read_bytes()
    if harm == "gone":
        from gristmill.manifests.remote import delete

        delete(place, file)
    else:
        put(place, file, data[:-1] if harm == "short" else data[:-1] + b"?")
    with pytest.raises(VerifyError, match=rf"s3://.*{file}"):
        batches(TokenStream(f"{remote}/plain", options=options(tmp_path)))


def test_what_is_no_dataset_is_told(remote: str, folder: Path) -> None:
    with pytest.raises(InputError, match=r"manifest\.json"):
        TokenStream(f"{remote}/none")
    put(place_of(f"{remote}/docs"), "manifest.json", (folder / "docs" / "manifest.json").read_bytes())
    with pytest.raises(UsageError, match="documents, not trainer rows"):
        TokenStream(f"{remote}/docs")
    put(place_of(f"{remote}/bad"), "manifest.json", b"{")
    with pytest.raises(VerifyError, match="cannot be read as JSON"):
        TokenStream(f"{remote}/bad")


def test_requests_are_in_flight_together(remote: str, proxy: Proxy, tmp_path: Path) -> None:
    """A slow server: eight answers are waited for at once, not one behind the other."""
    together, most, lock = 0, 0, threading.Lock()

    def hold(request: Request) -> None:
        nonlocal together, most
        if ".arrow" not in request.path:
            return
        with lock:
            together += 1
            most = max(most, together)
        time.sleep(0.2)
        with lock:
            together -= 1

    dataset = RowsDataset.open(f"{remote}/plain")
    dataset.keep_in(TokenStream(f"{remote}/plain", options=options(tmp_path)).plan.datasets["plain"].cache, 4)
    proxy.rules.hold = hold
    out = np.empty((64, 64), dtype=np.int32)
    dataset.read(np.arange(64), out)
    assert most >= 6


def test_ranks_of_a_host_fetch_each_block_once(remote: str, proxy: Proxy, tmp_path: Path) -> None:
    streams = [TokenStream(f"{remote}/cold", rank, 4, 8, options=options(tmp_path)) for rank in range(4)]
    found: list[int] = []
    threads = [threading.Thread(target=lambda s=s: found.extend(int(r) for b in s for r in b.row)) for s in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(streams[0].plan.rows))
    assert len(proxy.of("GET", ".arrow")) == blocks(streams[0].plan.datasets["cold"])


def test_the_cache_may_be_removed_at_any_time(remote: str, tmp_path: Path) -> None:
    stream = TokenStream(f"{remote}/plain", options=options(tmp_path, prefetch=0, fetch_rows=3))
    rows = 0
    for batch in stream:
        rows += len(batch)
        if rows % 40 == 0:
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    assert rows == stream.plan.rows


def test_pictures_are_read_from_where_they_lie(tmp_path: Path, bucket: str, proxy: Proxy) -> None:
    """The same bytes as from a folder, each by one ranged GET behind the index; a damaged one is seen."""
    write_documents(tmp_path, corpus())
    run_inline(write_recipe(tmp_path, MEDIA_RECIPE), tmp_path / "out")
    folder, url = tmp_path / "out" / "train", f"s3://{bucket}/pictures/train"
    upload(folder, url)
    here = {m.sha256: m.bytes() for b in TokenStream(folder, options=options(tmp_path)) for row in b.media for m in row}
    stream = TokenStream(url, options=options(tmp_path))
    there = {m.sha256: m.bytes(verify=True) for b in stream for row in b.media for m in row}
    assert here == there and len(here) > 3
    shard = read_manifest(folder)["media_shards"][0]["path"]
    data = bytearray((folder / shard).read_bytes())
    at = data.find(next(iter(here.values()))[:64])
    data[at + 5] ^= 1
    put(place_of(url), shard, bytes(data))
    with pytest.raises(VerifyError):
        [m.bytes() for b in TokenStream(url, options=options(tmp_path / "x")) for row in b.media for m in row]
