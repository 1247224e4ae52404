"""Every source reads from any fsspec URL what it reads from a local file."""

import gzip
import json
from pathlib import Path

import fsspec
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.pipeline.sources import catalogue
from gristmill.pipeline.sources.digests import DigestCache
from gristmill.pipeline.sources.files import list_inputs
from tests.pipeline.sources.checked import read_glob, with_options
from tests.pipeline.sources.warc_bytes import page, record


def _parquet() -> bytes:
    out = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": ["one", "two"], "id": ["a", "b"]}), out)
    return out.getvalue().to_pybytes()


def _arrow() -> bytes:
    out = pa.BufferOutputStream()
    table = pa.table({"text": ["one", "two"], "id": ["a", "b"]})
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue().to_pybytes()


FILES = {
    "warc": {"in/a.warc.gz": gzip.compress(page(1)) + gzip.compress(page(2))[:-5]},
    "wet": {"in/a.warc.wet.gz": gzip.compress(record(1, b"plain", "conversion"))},
    "jsonl": {"in/a.jsonl.gz": gzip.compress(b'{"text":"a"}\n[]\n'), "in/b/b.jsonl": orjson.dumps({"text": "b"})},
    "parquet": {"in/a.parquet": _parquet(), "in/bad.parquet": _parquet()[:-9]},
    "arrow": {"in/a.arrow": _arrow(), "in/cut.arrow": _arrow()[:-9]},
    "html": {"in/a.html": b"<p>\xe9", "in/b/c.htm": b"<p>b"},
    "text": {"in/a.txt": b"a", "in/b/b.md": b"\xff", "in/c.txt": b"\0"},
    "tree": {"in/a.py": b"import b", "in/repo/x.py": b"import y", "in/repo/y.py": b"pass", "in/repo/.git/z": b"no"},
}


@pytest.mark.parametrize("source", FILES)
@pytest.mark.parametrize("whole_repo", [False, True])
def test_remote_files_are_read_like_local_ones(source: str, whole_repo: bool, tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    for name, data in FILES[source].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
        memory.pipe(f"/remote-{source}/{name}", data)
    options = with_options(extra={"whole_repo": whole_repo and source == "tree"})
    local = read_glob(source, "in", tmp_path, options)
    remote = read_glob(source, f"memory://remote-{source}/in", Path("/"), options)
    assert remote == local
    assert local[0]


def test_inputs_have_the_same_digests_anywhere(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    for name, data in FILES["tree"].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
        memory.pipe(f"/digests/{name}", data)
    for extra in ({}, {"whole_repo": True}):
        selection = catalogue.selection("tree", extra)
        local = list_inputs("in", str(tmp_path), selection, DigestCache())
        remote = list_inputs("memory://digests/in", "/", selection, DigestCache())
        assert [(f.rel, f.bytes, f.digest) for f in local] == [(f.rel, f.bytes, f.digest) for f in remote]


def test_every_source_is_named_as_its_module() -> None:
    for name in catalogue.SOURCES:
        module = catalogue.load(name)
        assert name == module.NAME
        assert json.dumps(module.OPTIONS)
        assert isinstance(module.SUFFIXES, tuple)
