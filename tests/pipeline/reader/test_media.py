"""Media of rows: read when asked for, whole or not at all, from any process, and nothing is opened without need."""

import hashlib
import io
import os
import pickle
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gristmill.manifests import media_shard
from gristmill.manifests.errors import InputError, UsageError, VerifyError
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.media_index import index_of_shard
from gristmill.pipeline.reader import ReadOptions, TokenStream, media_files, media_store
from gristmill.pipeline.reader import media as reader_media
from gristmill.pipeline.reader.media import RowMedium, decoded
from gristmill.pipeline.reader.media_store import CorruptMediumError
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from tests.laws.running import run_inline, write_recipe
from tests.pipeline.pictures import MARK, RECIPE, corpus, medium, picture, rows_of, table_of, write_documents

SHORT = ReadOptions(torch=False, tail="short")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows with pictures, in several media shards; and a dataset of text alone."""
    folder = tmp_path_factory.mktemp("media")
    video = medium(b"frames", kind="video", width=20, height=20, frames=4)
    write_documents(folder, [*corpus(), (f"film {MARK}", [video])])
    text = "  text: {from: [docs], steps: [{'./rules.py:bare': {}}, {emit: {context: 64}}]}\n"
    (folder / "rules.py").write_text(
        "from gristmill.stages import doc_filter\n\n\n@doc_filter(drop_above={'n': 0})\ndef bare(text):\n"
        '    """With media."""\n    return {"n": text.count("\\ufffc")}\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(media_shard, "BATCH_BYTES", 6000)
        patch.setattr(media_shard, "SHARD_BYTES", 10_000)
        run_inline(write_recipe(folder, RECIPE + text), folder / "out")
    assert len(read_manifest(folder / "out" / "train")["media_shards"]) > 2
    return folder / "out"


@pytest.fixture(autouse=True)
def _forget() -> None:
    reader_media._opened.cache_clear()


def media_of(folder: Path) -> list[RowMedium]:
    return [m for batch in TokenStream(folder, global_batch=3, options=SHORT) for row in batch.media for m in row]


def test_each_row_has_its_media_with_their_bytes(made: Path) -> None:
    rows = rows_of(made / "train")
    data = {m["sha256"]: m["bytes"] for m in table_of(made / "train", "media_shards")}
    seen = 0
    for batch in TokenStream(made / "train", global_batch=3, options=SHORT):
        for i, number in enumerate(batch.row.tolist()):
            told = rows[number]["media"]
            fields = ("sha256", "mime", "width", "height", "frames", "token_start", "token_len")
            assert [{f: getattr(m, f) for f in fields} for m in batch.media[i]] == told
            for m in batch.media[i]:
                places = slice(m.token_start, m.token_start + m.token_len)
                assert m.bytes() == m.bytes(verify=True) == data[m.sha256]
                assert m.kind == ("video" if data[m.sha256] == b"frames" else "image")
                assert not batch.loss_mask[i, places].any() and set(batch.tokens[i, places].tolist()) == {258}
                assert len(set(batch.segment_ids[i, places].tolist())) == 1
                seen += 1
    assert seen == 21


def test_a_picture_is_decoded_to_what_the_model_sees(tmp_path: Path) -> None:
    data = picture(90, 60)
    whole = decoded(data, (90, 60), ImageCost(), "x")
    assert whole.dtype == np.uint8 and (whole == np.asarray(Image.open(io.BytesIO(data)))).all()
    cost = ImageCost(max_tokens=6)
    small = decoded(data, (90, 60), cost, "x")
    assert small.shape == (*cost.resized(90, 60)[::-1], 3) and small.shape[0] < 60
    clear = io.BytesIO()
    Image.new("RGBA", (3, 2), (9, 9, 9, 0)).save(clear, "PNG")
    assert (decoded(clear.getvalue(), (3, 2), cost, "x") == 255).all()
    grey = io.BytesIO()
    Image.new("L", (3, 2), 7).save(grey, "JPEG")
    assert decoded(grey.getvalue(), (3, 2), cost, "x").shape == (2, 3, 3)


def test_every_picture_of_the_rows_is_decoded(made: Path) -> None:
    for m in media_of(made / "train"):
        if m.kind == "image":
            assert m.decode().shape == (*ImageCost().resized(m.width, m.height)[::-1], 3)
        else:
            with pytest.raises(UsageError, match="only pictures"):
                m.decode()


@pytest.mark.parametrize("data", [b"", b"nothing", picture(9, 9)[:60], picture(9, 9)[:-30], picture(9, 8)])
def test_what_is_no_picture_of_the_size_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"medium x.*picture"):
        decoded(data, (9, 9), ImageCost(), "x")


def test_a_claim_of_many_pixels_is_refused_before_one_is_made() -> None:
    png = bytearray(picture(4, 4))
    png[16:24] = (30_000).to_bytes(4, "big") * 2
    for size in ((4, 4), (30_000, 30_000)):
        with pytest.raises(InputError, match="picture"):
            decoded(bytes(png), size, ImageCost(), "x")


def test_text_opens_no_media(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("opened")

    monkeypatch.setattr(media_files, "open_file", refuse)
    for name in ("text", "train"):
        for batch in TokenStream(made / name, global_batch=2, options=SHORT):
            assert len(batch.tokens) and (name == "train" or batch.media == [[]] * len(batch))
    assert media_of(made / "train")
    with pytest.raises(AssertionError, match="opened"):
        media_of(made / "train")[0].bytes()


def copied(made: Path, target: Path) -> Path:
    return Path(shutil.copytree(made / "train", target))


def put(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


def test_every_flipped_bit_of_the_bytes_is_seen(made: Path, tmp_path: Path) -> None:
    folder = copied(made, tmp_path / "d")
    draw = random.Random(2)
    shard = folder / read_manifest(folder)["media_shards"][0]["path"]
    whole = shard.read_bytes()
    store = RowsDataset.open(folder).media()
    shas = [m["sha256"] for m in table_of(folder, "media_shards")]
    first = [sha for sha in shas if store._found(sha)[1] == str(shard)]
    for _ in range(100):
        sha = draw.choice(first)
        _, size, at = store.place(sha)
        bit = draw.randrange(8 * at, 8 * (at + size))
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        put(shard, bytes(data))
        store = RowsDataset.open(folder).media()
        with pytest.raises(CorruptMediumError, match=f"{shard.name}.*{sha.hex()}"):
            store.read(sha)
        for other in set(first) - {sha}:
            assert hashlib.sha256(store.read(other)).digest() == other
    put(shard, whole)


def all_bytes(folder: Path) -> list[bytes]:
    """Of a dataset that is opened anew."""
    reader_media._opened.cache_clear()
    return [m.bytes() for m in media_of(folder)]


@pytest.mark.parametrize("name", ["media_shards", "media_indexes"])
def test_cut_exchanged_and_missing_files_are_told(made: Path, tmp_path: Path, name: str) -> None:
    folder = copied(made, tmp_path / "d")
    path, other = (folder / entry["path"] for entry in read_manifest(folder)[name][:2])
    os.truncate(path, 200)
    with pytest.raises(VerifyError, match=r"cut short|damaged"):
        all_bytes(folder)
    put(path, other.read_bytes())
    with pytest.raises(VerifyError, match=r"another shard|what they hash to|cut short"):
        all_bytes(folder)
    path.unlink()
    with pytest.raises(VerifyError, match="cannot be opened"):
        all_bytes(folder)


def test_bytes_that_were_exchanged_along_with_their_hash(made: Path, tmp_path: Path) -> None:
    """Index and shard agree, as a forger would leave them: sha256 alone tells."""
    folder = copied(made, tmp_path / "d")
    manifest = read_manifest(folder)
    entry, shard = manifest["media_indexes"][0], manifest["media_shards"][0]
    index = (folder / entry["path"]).read_bytes()
    data = bytearray((folder / shard["path"]).read_bytes())
    store = RowsDataset.open(folder).media()
    sha = bytes.fromhex(shard["extra"]["first"])
    _, size, at = store.place(sha)
    data[at : at + size] = bytes(size)
    put(folder / shard["path"], bytes(data))
    forged = index_of_shard(folder / shard["path"], shard["digest"])
    assert len(forged) == len(index)
    put(folder / entry["path"], forged)
    store = RowsDataset.open(folder).media()
    assert store.read(sha) == bytes(size)
    with pytest.raises(CorruptMediumError, match="sha256"):
        store.read(sha, verify=True)
    with pytest.raises(CorruptMediumError, match="is not in it"):
        store.read(bytes.fromhex(shard["extra"]["first"][:-2] + "ff"))
    with pytest.raises(CorruptMediumError, match="in none"):
        store.read(bytes(32))


def test_few_descriptors_and_any_number_of_threads(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_store, "MAX_OPEN", 2)
    before = len(os.listdir("/proc/self/fd"))
    store = RowsDataset.open(made / "train").media()
    shas = [m["sha256"] for m in table_of(made / "train", "media_shards")] * 40
    random.Random(1).shuffle(shas)
    with ThreadPoolExecutor(4) as pool:
        assert all(
            hashlib.sha256(data).digest() == sha for sha, data in zip(shas, pool.map(store.read, shas), strict=True)
        )
    assert len(os.listdir("/proc/self/fd")) <= before + 2
    del store
    assert len(os.listdir("/proc/self/fd")) == before


def _digests(media: list[RowMedium]) -> list[str]:
    return [hashlib.sha256(m.bytes()).hexdigest() for m in media]


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_media_cross_processes(made: Path, how: str) -> None:
    media = media_of(made / "train")
    assert _digests(media) == [m.sha256.hex() for m in media]
    with get_context(how).Pool(1) as pool:
        assert pool.apply(_digests, (media,)) == _digests(media)


def test_batches_stay_small_when_they_are_sent(made: Path) -> None:
    batch = next(iter(TokenStream(made / "train", global_batch=3, options=SHORT)))
    assert len(pickle.dumps(batch)) < 3 * 256 * 4 + 4000
    assert _digests([m for row in pickle.loads(pickle.dumps(batch)).media for m in row])


def test_a_dataset_that_was_made_anew_is_told(made: Path, tmp_path: Path) -> None:
    folder = copied(made, tmp_path / "d")
    batch = next(iter(TokenStream(folder, global_batch=3, options=SHORT)))
    shutil.copyfile(made / "text" / "manifest.json", folder / "manifest.json")
    with pytest.raises(VerifyError, match="made anew"):
        _ = batch.media
