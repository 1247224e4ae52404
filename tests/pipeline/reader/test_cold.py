"""Cold storage: compressed rows are the plain ones, for our reader and any other; what is crafted is told."""

import os
import random
import shutil
import signal
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard

from gristmill.manifests import ipc, ipc_zstd
from gristmill.manifests.errors import RecipeError, UsageError, VerifyError
from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.ipc_layout import file_blocks
from gristmill.manifests.ipc_zstd import ids_into, refuse_bombs
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.row_index import COLD_BATCH_TABLE, HEAD, RowIndex, index_of_shard
from gristmill.manifests.verify import verify
from gristmill.pipeline.reader import ReadOptions, TokenStream
from gristmill.pipeline.reader.block_cache import BlockCache
from gristmill.pipeline.reader.rows_dataset import CorruptRowError, RowsDataset
from tests.laws.running import run_inline, write_recipe
from tests.pipeline.reader.cold_rows import RECIPE, make_rows


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows twice, plain and compressed, in several shards."""
    return make_rows(tmp_path_factory.mktemp("cold"))


@pytest.fixture
def cold(made: Path, tmp_path: Path) -> Path:
    """A copy of the compressed dataset that may be harmed."""
    return renamed(made / "cold", tmp_path / "cold")


def shard(folder: Path) -> tuple[Path, RowIndex]:
    """The first shard of a dataset, and its index."""
    manifest = read_manifest(folder)
    index = folder / manifest["row_indexes"][0]["path"]
    return folder / manifest["shards"][0]["path"], RowIndex.parse(index.read_bytes(), str(index))


def rows_of(dataset: RowsDataset, verified: bool = True) -> Any:
    out = np.zeros((dataset.rows, dataset.context), dtype=np.int32)
    dataset.read(np.arange(dataset.rows), out, verified)
    return out


@pytest.mark.parametrize("cached", [False, True], ids=["as they lie", "through a cache"])
def test_compressed_rows_are_the_plain_ones(made: Path, tmp_path: Path, cached: bool) -> None:
    plain, cold = RowsDataset.open(made / "plain"), RowsDataset.open(made / "cold")
    if cached:
        cold.block_rows = 7
        cold.keep_in(BlockCache(tmp_path / "cache"))
    assert len(cold.shards) > 2 and {s.codec for s in cold.shards} == {"zstd"}
    wanted = rows_of(plain)
    assert (rows_of(cold) == wanted).all()
    order = np.random.default_rng(3).permutation(cold.rows)
    out = np.empty_like(wanted)
    cold.read(order, out)
    assert (out == wanted[order]).all()
    for row in (0, 1, cold.rows - 1):
        assert cold.documents(row) == plain.documents(row)
    if cached:
        names = {path.suffix for path in (tmp_path / "cache").iterdir()}
        assert names == {".rows"} and not list((tmp_path / "cache").glob("*.part"))


def test_batches_of_both_say_the_same(made: Path, tmp_path: Path) -> None:
    options = ReadOptions(torch=False, cache_dir=tmp_path / "cache")
    found = [
        [
            (b.tokens.tolist(), b.loss_mask.tolist(), b.cu_seqlens.tolist())
            for b in TokenStream(plan, 0, 1, 4, options=options)
        ]
        for plan in (renamed(made / "plain", tmp_path / "a" / "x"), renamed(made / "cold", tmp_path / "b" / "x"))
    ]
    assert found[0] == found[1] and list((tmp_path / "cache").glob("*.rows"))


def renamed(folder: Path, target: Path) -> Path:
    """A copy of a dataset under another name, which its order depends on."""
    return Path(shutil.copytree(folder, target))


def test_the_format_is_arrows_own(made: Path) -> None:
    plain = [row for path in paths(made / "plain") for batch in read_ipc(path) for row in batch.to_pylist()]
    tables = [pa.ipc.open_file(path.read_bytes()).read_all() for path in paths(made / "cold")]
    assert [row for table in tables for row in table.to_pylist()] == plain
    for path in paths(made / "cold"):
        reader = pa.ipc.open_file(path.read_bytes())
        assert all(reader.get_batch(i).num_rows == 1 for i in range(reader.num_record_batches))
        with pa.ipc.open_stream(pa.BufferReader(path.read_bytes()[8:])) as stream:
            assert stream.read_all().num_rows == reader.num_record_batches


def paths(folder: Path) -> list[Path]:
    return [folder / entry["path"] for entry in read_manifest(folder)["shards"]]


def test_the_manifest_names_codec_level_and_library(made: Path) -> None:
    for entry in read_manifest(made / "cold")["shards"]:
        assert entry["extra"] == {"codec": "zstd", "level": ipc_zstd.LEVEL, "library": f"pyarrow {pa.__version__}"}
    assert all(not entry["extra"] for entry in read_manifest(made / "plain")["shards"])


def test_a_second_run_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_bytes((made.parent / "docs.jsonl").read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc, "SHARD_BYTES", 20_000)
        run_inline(write_recipe(tmp_path, RECIPE), tmp_path / "out")
    assert [p.read_bytes() for p in paths(tmp_path / "out" / "cold")] == [p.read_bytes() for p in paths(made / "cold")]


def test_deep_verification_holds(made: Path) -> None:
    assert verify(made, deep=True).ok
    for entry, index in zip(*(read_manifest(made / "cold")[k] for k in ("shards", "row_indexes")), strict=True):
        whole = (made / "cold" / index["path"]).read_bytes()
        assert index_of_shard(made / "cold" / entry["path"], entry["digest"]) == whole


def frame(size: int) -> bytes:
    return zstandard.ZstdCompressor(level=19).compress(bytes(size))


def stuffed(path: Path, head: RowIndex, row: int, buffer: bytes) -> None:
    """Put another buffer in the place of a row's ids, and behind it a frame that readers skip."""
    at, room = int(head.batches["ids_at"][row]), int(head.batches["ids_bytes"][row])
    skipped = room - len(buffer) - 8
    assert skipped >= 0
    data = bytearray(path.read_bytes())
    data[at : at + room] = buffer + struct.pack("<II", 0x184D2A50, skipped) + bytes(skipped)
    path.write_bytes(data)


HARM = {
    "bomb": struct.pack("<q", 256) + frame(1 << 26)[:40],
    "bomb that tells": struct.pack("<q", 1 << 40) + frame(256),
    "too long": struct.pack("<q", 256) + frame(260),
    "too short": struct.pack("<q", 256) + frame(252),
    "negative": struct.pack("<q", -2) + frame(256),
    "raw and short": struct.pack("<q", -1),
    "no frame": struct.pack("<q", 256) + bytes(16),
    "window": struct.pack("<q", 256) + bytes.fromhex("28b52ffd00f8") + bytes(8),
    "other ids": struct.pack("<q", 256) + frame(256),
}


@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("cached", [False, True], ids=["as they lie", "through a cache"])
def test_what_is_crafted_is_an_error_of_its_row_alone(cold: Path, tmp_path: Path, harm: str, cached: bool) -> None:
    path, head = shard(cold)
    wanted = rows_of(RowsDataset.open(cold))
    stuffed(path, head, 3, HARM[harm])
    dataset = RowsDataset.open(cold)
    if cached:
        dataset.keep_in(BlockCache(tmp_path / "cache"))
    with pytest.raises(CorruptRowError, match=f"{path.name} row 3") as caught:
        rows_of(dataset)
    assert caught.value.row == 3 and "\n" not in str(caught.value)
    if harm != "other ids":
        with pytest.raises(CorruptRowError):
            rows_of(dataset, verified=False)
    out = np.empty((3, 64), dtype=np.int32)
    dataset.read(np.array([2, 4, 5]), out)
    assert (out == wanted[[2, 4, 5]]).all()
    assert dataset.documents(3)["docs"], "the ids are not decompressed for it"
    kept = os.listdir(tmp_path / "cache") if cached else []
    kept = [name for name in kept if name.startswith(dataset.shards[0].digest32)]
    assert not kept, "what is not what it hashes to is not kept"


@pytest.mark.parametrize("harm", [name for name in HARM if name != "other ids"])
def test_what_a_buffer_says_is_held_against_a_row(harm: str) -> None:
    out = np.zeros(256, dtype=np.uint8)
    with pytest.raises(ValueError, match=r"."):
        ids_into(HARM[harm], out)
    assert ids_into(HARM["other ids"], out) is None


@pytest.mark.parametrize("harm", HARM)
def test_other_readers_of_ours_are_not_blown_up(cold: Path, harm: str) -> None:
    path, head = shard(cold)
    whole = index_of_shard(path, "0" * 64)
    stuffed(path, head, 3, HARM[harm])
    if harm == "other ids":
        assert index_of_shard(path, "0" * 64) != whole
        return
    if harm in ("bomb that tells", "negative", "raw and short"):
        data = path.read_bytes()
        reader = pa.ipc.open_file(data)
        with pytest.raises(ValueError, match="say"):  # before the format's own reader allocates what is said
            refuse_bombs(data, file_blocks(data)[3], reader.schema)
    with pytest.raises(VerifyError, match=path.name):
        list(read_ipc(path))
    with pytest.raises((ValueError, OSError)):
        index_of_shard(path, "0" * 64)


def test_a_bit_that_is_flipped_is_seen(cold: Path) -> None:
    path, head = shard(cold)
    whole, draw = path.read_bytes(), random.Random(7)
    for _ in range(80):
        row = draw.randrange(head.rows)
        at = int(head.batches["ids_at"][row]) + draw.randrange(int(head.batches["ids_bytes"][row]))
        data = bytearray(whole)
        data[at] ^= 1 << draw.randrange(8)
        path.write_bytes(data)
        out = np.empty((1, 64), dtype=np.int32)
        try:
            RowsDataset.open(cold).read(np.array([row]), out)
        except CorruptRowError as error:
            assert error.row == row
        else:  # a bit of a frame's head that decides nothing
            path.write_bytes(whole)
            again = np.empty_like(out)
            RowsDataset.open(cold).read(np.array([row]), again)
            assert (again == out).all()


def test_files_that_are_cut_short_are_told(cold: Path) -> None:
    path, head = shard(cold)
    os.truncate(path, int(head.batches["ids_at"][2]) + 3)
    with pytest.raises(CorruptRowError, match="row 2"):
        rows_of(RowsDataset.open(cold))


def test_an_index_says_where_compressed_ids_stand(made: Path) -> None:
    path, head = shard(made / "cold")
    data = path.read_bytes()
    assert head.codec == "zstd" and head.batches.dtype == COLD_BATCH_TABLE and len(head.batches) == head.rows
    assert head.rows_at == HEAD.size + head.rows * COLD_BATCH_TABLE.itemsize
    out = np.empty(256, dtype=np.uint8)
    for place in head.batches:
        ids_into(data[int(place["ids_at"]) :][: int(place["ids_bytes"])], out)
    assert out.view(np.uint32).tolist() == rows_of(RowsDataset.open(made / "plain"))[head.rows - 1].tolist()


def test_codecs_that_nobody_knows_are_refused(made: Path, cold: Path) -> None:
    with pytest.raises(RecipeError, match="no such compression"):
        run_inline(write_recipe(cold, RECIPE.replace("zstd", "lz4")), cold / "out")
    manifest = read_manifest(cold)
    manifest["shards"][0]["extra"]["codec"] = "lz4"
    from gristmill.manifests.manifest import write_manifest

    write_manifest(cold, {k: v for k, v in manifest.items() if k != "digest"})
    with pytest.raises(UsageError, match="unknown codec"):
        RowsDataset.open(cold)


def test_a_process_that_is_forked_off_while_blocks_are_read_ahead_reads_on(made: Path, tmp_path: Path) -> None:
    """A thread of the parent held the lock of the cache when it was copied, and the child waited for it for ever."""
    for _ in range(10):
        options = ReadOptions(torch=False, tail="short", prefetch=16, cache_dir=tmp_path / "cache")
        stream = TokenStream(made / "cold", global_batch=2, threads=4, options=options)
        ahead = iter(stream)
        next(ahead)
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest's time limit has a handler, that would go on here
            signal.alarm(10)
            os._exit(0 if sum(len(batch) for batch in stream) == stream.plan.rows - 2 else 3)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
