"""A faulty writer of media shards, or of places in rows, is found out though its files are sealed and whole."""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from gristmill.manifests.canonical import digest_bytes
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.media_index import index_of_shard
from gristmill.manifests.row_id import row_ids
from gristmill.manifests.verify import verify
from tests.laws.running import run_inline, write_recipe
from tests.manifests.small_run import forge_manifest, forge_table, set_column
from tests.pipeline.pictures import RECIPE, corpus, write_documents

Edit = Callable[[pa.Table], pa.Table]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("media")
    write_documents(folder, corpus())
    run_inline(write_recipe(folder, RECIPE), folder / "out")
    return folder / "out" / "train"


@pytest.fixture
def train(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "train"))


def changed(name: str, change: Callable[[list[Any]], Any]) -> Edit:
    """An edit of a column's values, in place or anew."""

    def edit(table: pa.Table) -> pa.Table:
        values = table.column(name).to_pylist()
        return set_column(table, name, change(values) or values)

    return edit


def first_medium(**new: Any) -> Edit:
    """Of the first row that has one."""
    return changed("media", lambda rows: next(row for row in rows if row)[0].update(new))


def first_segment(kind: str, /, **new: Any) -> Edit:
    """Another first segment of a kind, in a row with the id that follows."""

    def edit(table: pa.Table) -> pa.Table:
        rows = table.column("segments").to_pylist()
        next(s for row in rows for s in row if s["kind"] == kind).update(new)
        table = set_column(table, "segments", rows)
        batch = table.combine_chunks().to_batches()[0]
        return set_column(table, "row_id", row_ids(batch))

    return edit


def other_id(table: pa.Table) -> pa.Table:
    rows = table.to_pylist()
    row = next(row for row in rows if row["media"])
    row["input_ids"][row["media"][0]["token_start"]] = 65
    table = set_column(table, "input_ids", [row["input_ids"] for row in rows])
    return set_column(table, "row_id", row_ids(table.combine_chunks().to_batches()[0]))


ROWS: list[tuple[str, Edit, str]] = [
    ("size", first_medium(width=9999), "than its size costs"),
    ("frames", first_medium(frames=2), "than its size costs"),
    ("length", first_medium(token_len=1), "are not those of its segment"),
    ("null", first_medium(sha256=None), "null where there must be a value"),
    ("another", first_medium(sha256=bytes(32)), "do not stand in the media shards"),
    ("twice", first_segment("text", media_idx=0), "names a medium and is none"),
    ("unnamed", first_segment("image", media_idx=None), "not named by one segment"),
    ("kind", first_segment("image", kind="video"), "than its size costs"),
    ("target", changed("loss_spans", lambda rows: [[] for _ in rows]), "has a target"),
    ("weight", changed("loss_spans", lambda rows: rows[0][0].update(weight=0.5)), "has a target"),
    ("id", other_id, "another id than the pad id"),
]


@pytest.mark.parametrize(("edit", "told"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_places_in_rows(train: Path, edit: Edit, told: str) -> None:
    forge_table(train, "shards", edit)
    assert any(told in f.detail for f in verify(train, deep=True).faults)


def forge_media(train: Path, edit: Edit, index: bool = True) -> None:
    """Change the first media shard, its entry, and its index where that is asked for."""
    forge_table(train, "media_shards", edit)
    manifest = read_manifest(train)
    if not index:
        return
    entry = manifest["media_indexes"][0]
    shard = manifest["media_shards"][0]
    data = index_of_shard(train / shard["path"], shard["digest"])
    (train / entry["path"]).unlink()
    (train / entry["path"]).write_bytes(data)

    def enter(manifest: dict[str, Any]) -> None:
        manifest["media_indexes"][0].update(bytes=len(data), rows=shard["rows"], digest=digest_bytes(data))
        manifest["totals"]["media"] = shard["rows"]

    forge_manifest(train, enter)


def appended(table: pa.Table) -> pa.Table:
    """A medium that no row shows, and whose hash sorts last."""
    data = next(d for d in (os.urandom(9) for _ in range(10**6)) if hashlib.sha256(d).digest()[0] == 255)
    row = {**table.to_pylist()[0], "sha256": hashlib.sha256(data).digest(), "bytes": data}
    return pa.concat_tables([table, pa.Table.from_pylist([row], schema=table.schema)]).combine_chunks()


MEDIA: list[tuple[str, Edit, str]] = [
    ("bytes", changed("bytes", lambda b: [b[0] + b"x", *b[1:]]), "the sha256 of a medium is another"),
    ("order", lambda t: t.take([1, 0, *range(2, t.num_rows)]), "not in rising order"),
    ("twice", lambda t: t.take([0, 0, *range(2, t.num_rows)]), "not in rising order"),
    ("gone", lambda t: t.slice(0, t.num_rows - 1), "do not stand in the media shards"),
    ("orphan", appended, "stand in no row"),
    ("size", changed("width", lambda w: [0, *w[1:]]), "no size"),
    ("kind", changed("kind", lambda k: ["sound", *k[1:]]), "no known kind"),
    ("column", lambda t: t.drop_columns(["phash"]), "columns"),
    ("first", lambda t: t.slice(1), "another first medium"),
]


@pytest.mark.parametrize(("edit", "told"), [m[1:] for m in MEDIA], ids=[m[0] for m in MEDIA])
def test_media_shards(train: Path, edit: Edit, told: str) -> None:
    forge_media(train, edit)
    faults = verify(train, deep=True).faults
    assert any(told in f.detail for f in faults), faults


def test_an_index_of_another_shard(train: Path) -> None:
    forge_media(train, changed("mime", lambda m: ["image/x", *m[1:]]), index=False)
    assert [(f.kind, f.detail) for f in verify(train, deep=True).faults] == [
        ("index", "is not what follows from its shard")
    ]


@pytest.mark.parametrize("name", ["media", "media_tokens"])
def test_totals(train: Path, name: str) -> None:
    forge_manifest(train, lambda m: m["totals"].update({name: m["totals"][name] + 1}))
    assert [f.kind for f in verify(train, deep=True).faults] == ["books"]


def test_an_output_of_before_there_were_media(train: Path) -> None:
    def older(manifest: dict[str, Any]) -> None:
        for name in ("media", "media_tokens"):
            del manifest["totals"][name]
        del manifest["media_indexes"]

    forge_manifest(train, older)
    assert {f.kind for f in verify(train, deep=True).faults} == {"unnamed", "index"}


def test_every_byte_of_a_media_shard_is_covered(train: Path) -> None:
    for name in ("media_shards", "media_indexes"):
        path = train / read_manifest(train)[name][0]["path"]
        whole = path.read_bytes()
        path.unlink()
        path.write_bytes(whole[:-100] + bytes([whole[-100] ^ 4]) + whole[-99:])
        assert [f.kind for f in verify(train).faults] == ["digest"]
        path.write_bytes(whole[:-1])
        assert [f.kind for f in verify(train).faults] == ["size"]
        path.write_bytes(whole)
    assert verify(train, deep=True).faults == []
