"""Media shards and their indexes: each medium is found by its hash, and an index follows from its shard alone."""

import hashlib
import os
import random
from pathlib import Path

import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests import media_shard
from gristmill.manifests.commit import ObjectWriter
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.media_index import MediaIndex, index_bytes, index_of_shard
from gristmill.manifests.media_shard import MEDIA, MediaShards, Medium


def shards(folder: Path, blobs: list[bytes]) -> list[tuple[Path, Path, str]]:
    """(shard, index, digest) of media, which are sorted here."""
    writer = ObjectWriter(folder, "0" * 32, {})
    made = MediaShards(writer)
    for sha, data in sorted((hashlib.sha256(b).digest(), b) for b in set(blobs)):
        made.write(Medium(sha, "image", None if data[:1] < b"\x80" else "image/png", 3, 4, None), memoryview(data))
    made.close()
    files = writer.files
    assert [f.role for f in files] == ["media_shards", "media_indexes"] * (len(files) // 2)
    return [(folder / a.path, folder / b.path, a.digest) for a, b in zip(files[::2], files[1::2], strict=True)]


@given(
    st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=40),
    st.sampled_from([1, 200, 1 << 22]),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_each_medium_is_found(
    tmp_path_factory: pytest.TempPathFactory, blobs: list[bytes], batch_bytes: int, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("media")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(media_shard, "BATCH_BYTES", batch_bytes)
        patch.setattr(media_shard, "SHARD_BYTES", data.draw(st.sampled_from([1, 5000, 1 << 28])))
        made = shards(folder, blobs)
    seen: list[bytes] = []
    for shard, index, digest in made:
        whole = index.read_bytes()
        assert whole == index_of_shard(shard, digest)
        table = MediaIndex.parse(whole, str(index))
        assert table.shard_digest.hex() == digest[7:39]
        rows = pa.ipc.open_file(str(shard)).read_all()
        assert rows.schema.equals(MEDIA, check_metadata=True)
        file = shard.read_bytes()
        for row in rows.to_pylist():
            at, size, hashed = table.find(row["sha256"]) or (0, -1, 0)
            assert file[at : at + size] == row["bytes"] and xxhash.xxh3_64_intdigest(row["bytes"]) == hashed
            seen.append(row["sha256"])
        assert table.find(os.urandom(32)) is None
        assert table.find(bytes(32)) is None and table.find(b"\xff" * 32) is None
    assert seen == sorted(hashlib.sha256(b).digest() for b in set(blobs))


def test_buffers_are_aligned(tmp_path: Path) -> None:
    ((shard, _, _),) = shards(tmp_path, [os.urandom(n) for n in (1, 77, 1000)])
    source = pa.memory_map(str(shard))
    start = source.read_buffer().address
    batch = pa.ipc.open_file(source).get_batch(0)
    places = [b.address - start for c in batch.columns for b in c.buffers() if b is not None and b.size]
    assert len(places) > 6 and all(place % 64 == 0 for place in places)


def test_hashes_that_begin_alike_are_told_apart() -> None:
    """Eight equal bytes: another place in the table, no other medium."""
    shas = sorted(bytes(8) + bytes([n]) * 24 for n in range(1, 9))
    index = MediaIndex.parse(index_bytes(shas, [(n, n, n) for n in range(8)], "blake3:" + "0" * 64), "here")
    assert [index.find(sha) for sha in shas] == [(n, n, n) for n in range(8)]
    assert index.find(bytes(8) + b"\x04" * 23 + b"\x05") is None


def test_every_flipped_bit_of_an_index_is_seen(tmp_path: Path) -> None:
    ((_, index, _),) = shards(tmp_path, [os.urandom(50) for _ in range(9)])
    whole = index.read_bytes()
    draw = random.Random(4)
    for bit in draw.sample(range(8 * len(whole)), 400):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(VerifyError, match="index of media"):
            MediaIndex.parse(bytes(data), str(index))
    for end in (0, 10, 47, 48, len(whole) - 1):
        with pytest.raises(VerifyError, match="index of media"):
            MediaIndex.parse(whole[:end], str(index))
