"""Inputs in object storage: the same dataset as from a folder, by few requests, and nothing read that changed."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gristmill.manifests.errors import EngineLostError, InputError
from gristmill.manifests.remote import Found, put
from gristmill.manifests.remote_access import RemotePlace
from gristmill.pipeline.sources import object_storage
from gristmill.pipeline.sources.digests import DigestCache
from gristmill.pipeline.sources.files import NoFileError, Selection, list_inputs
from tests.extras.s3.server import Proxy, Request
from tests.laws.running import books, fingerprint, run_inline, write_recipe


def lines(count: int, first: int = 0) -> bytes:
    made = (json.dumps({"id": f"r{i}", "text": f"text {i} " + "word " * (i % 50)}) for i in range(first, first + count))
    return ("\n".join(made) + "\n").encode()


def recipe(glob: str, source: str = "jsonl") -> str:
    return f'name: small\ndatasets:\n  web:\n    read: {{{source}: "{glob}"}}\n'


@pytest.fixture
def crawl(bucket: str, proxy: Proxy, tmp_path: Path) -> Path:
    """Files of a crawl, in a folder and under crawl/ of the bucket; the folder."""
    assert proxy.url
    folder = tmp_path / "crawl"
    for name, data in {
        "a.jsonl.gz": gzip.compress(lines(30)) + gzip.compress(lines(30, 30)),
        "b/c.jsonl": lines(10, 100),
        "b/empty.jsonl": b"",
        "b/.hidden.jsonl": lines(3, 900),
        "notes.txt": b"no lines",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        put(RemotePlace(bucket, "crawl"), name, data)
    return folder


@pytest.mark.parametrize("pattern", ["*.jsonl.gz", "**", "", "b/c.jsonl", "*/*.jsonl", "[ab].jsonl*", "b"])
def test_the_same_files_as_in_a_folder(pattern: str, bucket: str, crawl: Path, tmp_path: Path, proxy: Proxy) -> None:
    selection, digests = Selection((".jsonl", ".jsonl.gz")), DigestCache()
    here = list_inputs(f"{crawl}/{pattern}", "/", selection, digests)
    proxy.requests.clear()
    there = list_inputs(f"s3://{bucket}/crawl/{pattern}", "/", selection, digests)
    assert [(f.rel, f.bytes, f.digest) for f in there] == [(f.rel, f.bytes, f.digest) for f in here]
    assert len(proxy.of("LIST")) <= 1
    assert all(f.etag for f in there)
    proxy.requests.clear()
    assert list_inputs(f"s3://{bucket}/crawl/{pattern}", "/", selection, digests) == there
    assert not proxy.of("GET"), "digests are known by entity tag and size"
    run_inline(write_recipe(tmp_path, recipe(f"{crawl}/{pattern}"), "a.yaml"), tmp_path / "a")
    proxy.requests.clear()
    run_inline(write_recipe(tmp_path, recipe(f"s3://{bucket}/crawl/{pattern}"), "b.yaml"), tmp_path / "b")
    assert len(proxy.of("LIST")) <= 1, "the listing is frozen once"
    shards = [{k: v for k, v in fingerprint(tmp_path / o).items() if "part" in k} for o in ("a", "b")]
    assert shards[0] == shards[1] and books(tmp_path / "a")["web"][0]["kept"] == books(tmp_path / "b")["web"][0]["kept"]


def test_what_matches_nothing_is_told(bucket: str, crawl: Path) -> None:
    assert crawl.exists()
    with pytest.raises(NoFileError, match="no file matches"):
        list_inputs(f"s3://{bucket}/crawl/*.warc", "/", Selection(), DigestCache())


def test_parquet_by_few_requests(bucket: str, proxy: Proxy, tmp_path: Path) -> None:
    import pyarrow as pa

    rows = [{"id": str(i), "text": "some text " * 20} for i in range(5000)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "f.parquet", row_group_size=100)
    put(RemotePlace(bucket, ""), "f.parquet", (tmp_path / "f.parquet").read_bytes())
    run_inline(write_recipe(tmp_path, recipe(f"s3://{bucket}/f.parquet", "parquet")), tmp_path / "out")
    assert books(tmp_path / "out")["web"][0]["kept"] == 5000
    assert len(proxy.of("GET")) <= 3 and len(proxy.of("HEAD")) <= 4


def test_connections_that_drop_lose_no_record(bucket: str, crawl: Path, proxy: Proxy, tmp_path: Path) -> None:
    put(RemotePlace(bucket, "big"), "a.jsonl.gz", gzip.compress(lines(60_000), 1))
    assert crawl.exists()
    proxy.rules.cut_bytes, proxy.rules.cuts = 200_000, 3
    run_inline(write_recipe(tmp_path, recipe(f"s3://{bucket}/big/*")), tmp_path / "out")
    assert proxy.rules.cuts == 0
    assert books(tmp_path / "out")["web"][0] | {"kept": 60_000, "quarantined": 0} == books(tmp_path / "out")["web"][0]


def _when_read(proxy: Proxy, number: int, do: Callable[[], None]) -> None:
    """Do something once, when the object is asked for (HEAD) the so-maniest time."""
    seen: list[Request] = []

    def hold(request: Request) -> None:
        if request.method == "HEAD" and "c.jsonl" in request.path:
            seen.append(request)
            if len(seen) == number:
                do()

    proxy.rules.hold = hold


@pytest.mark.parametrize("number", [2, 3], ids=["when listed", "before reading"])
def test_an_object_that_changes_is_refused(number: int, bucket: str, crawl: Path, proxy: Proxy, tmp_path: Path) -> None:
    """The first HEAD lists it, the second opens it for its digest, the third for its records."""
    assert crawl.exists()
    text = recipe(f"s3://{bucket}/crawl/b/c.jsonl")
    _when_read(proxy, number, lambda: put(RemotePlace(bucket, "crawl"), "b/c.jsonl", lines(10, 500)))
    with pytest.raises(InputError, match=r"changed.*c\.jsonl|c\.jsonl.*changed"):
        run_inline(write_recipe(tmp_path, text), tmp_path / "out")
    proxy.rules.hold = None
    run_inline(write_recipe(tmp_path, text), tmp_path / "out")
    assert books(tmp_path / "out")["web"][0]["kept"] == 10


def test_a_server_that_is_down(tmp_path: Path, crawl: Path, monkeypatch: pytest.MonkeyPatch, bucket: str) -> None:
    assert crawl.exists()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(EngineLostError, match="cannot be reached"):
        run_inline(write_recipe(tmp_path, recipe(f"s3://{bucket}/crawl/*")), tmp_path / "out")


def test_a_key_of_the_fixed_part_is_cut_off_its_names() -> None:
    listed = object_storage._listed(RemotePlace("b", "a/b"), Found("a/b/c/d", 1, "e", 0.0))
    assert (listed.url, listed.parts) == ("s3://b/a/b/c/d", ("c", "d"))
