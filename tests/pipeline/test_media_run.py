"""Pictures through a whole run: from documents into rows and media shards, whatever the workers and the sharding."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.canonical import canonical_json
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.trainer_schema import TrainerFormat
from gristmill.manifests.verify import verify
from gristmill.pipeline import emit_media, splits
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.tasks import media_plan
from tests.laws.running import fingerprint, run_inline, write_recipe
from tests.pipeline.pictures import MARK, RECIPE, corpus, medium, picture, rows_of, table_of, write_documents


@pytest.fixture(scope="module", autouse=True)
def _a_shard_a_file() -> Iterator[None]:
    """Small files would be read as one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "LARGE_BYTES", 1)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of `corpus`, in `out`."""
    made = tmp_path_factory.mktemp("pictures")
    write_documents(made, corpus(), files=2)
    run_inline(write_recipe(made, RECIPE), made / "out")
    return made


def test_books_balance_and_verify_finds_nothing(folder: Path) -> None:
    manifest = read_manifest(folder / "out" / "train")
    emit = manifest["steps"][-1]
    assert emit["records_in"] == len(corpus()) == emit["kept"] and emit["chars_cut"] == {"media_missing": 1}
    assert emit["chars_in"] == sum(len(text) for text, _ in corpus()) == emit["chars_kept"] + 1
    assert verify(folder / "out", deep=True).faults == []
    assert [f["digest"] for f in read_manifest(folder / "out" / "docs")["media_shards"]] == []


def test_each_medium_stands_once_and_is_counted(folder: Path) -> None:
    out = folder / "out" / "train"
    manifest = read_manifest(out)
    media = table_of(out, "media_shards")
    shas = [m["sha256"] for m in media]
    shown = {m["sha256"]: m["bytes"] for _, media in corpus() for m in media if m["bytes"]}
    assert shas == sorted(shown) and all(m["bytes"] == shown[m["sha256"]] for m in media)
    assert all(hashlib.sha256(m["bytes"]).digest() == m["sha256"] and m["phash"] is None for m in media)
    in_rows = [m for row in rows_of(out) for m in row["media"]]
    assert len(in_rows) == 6 + 4 * 3 + 1 + 1
    totals = manifest["totals"]
    assert (totals["media"], totals["media_tokens"]) == (len(shown), sum(m["token_len"] for m in in_rows))
    assert totals["tokens"] == sum(row["n_tokens"] for row in rows_of(out))
    cost = ImageCost()
    assert all(m["token_len"] == cost.image_tokens(m["width"], m["height"]) for m in in_rows)
    assert manifest["facts"]["image_cost"] == json.loads(canonical_json(cost.__dict__))


def test_texts_and_pictures_come_back_from_the_rows(folder: Path) -> None:
    """The tokenizer `bytes` has a token a byte, so rows spell their documents."""
    found: list[tuple[bytes, list[bytes]]] = []
    for row in rows_of(folder / "out" / "train"):
        texts = [b""] * len(row["docs"])
        media: list[list[bytes]] = [[] for _ in row["docs"]]
        for s in row["segments"]:
            if s["media_idx"] is not None:
                texts[s["doc_idx"]] += MARK.encode()
                media[s["doc_idx"]].append(row["media"][s["media_idx"]]["sha256"])
            elif s["kind"] != "separator":
                texts[s["doc_idx"]] += bytes(row["input_ids"][s["start"] : s["end"]])
        found += zip(texts, media, strict=True)
    gone = (f"gone  and there {MARK}".encode(), [corpus()[-1][1][1]["sha256"]])
    wanted = [(text.encode(), [m["sha256"] for m in media]) for text, media in corpus()[:-1]]
    assert sorted(found) == sorted([*wanted, gone])


def files_of(out: Path) -> list[str]:
    """Digests of what a trainer reads, without the tokenised documents, which follow the shards of documents."""
    manifest = read_manifest(out / "train")
    names = ("shards", "row_indexes", "media_shards", "media_indexes")
    return [entry["digest"] for name in names for entry in manifest[name]]


@pytest.mark.parametrize("files", [1, 3, 7])
def test_another_sharding_gives_the_same_rows_and_media(folder: Path, tmp_path: Path, files: int) -> None:
    write_documents(tmp_path, corpus()[::-1], files)
    run_inline(write_recipe(tmp_path, RECIPE), tmp_path / "out")
    assert len(read_manifest(tmp_path / "out" / "train")["tokenised"]) == files
    assert files_of(tmp_path / "out") == files_of(folder / "out")


def test_workers_and_partitions_give_the_same_bytes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_inline(folder / "recipe.yaml", tmp_path / "worked", workers=2)
    assert fingerprint(tmp_path / "worked") == fingerprint(folder / "out")
    monkeypatch.setattr(media_plan, "SHARD_BYTES", 3000)
    monkeypatch.setattr(emit_media, "MEDIA_VERSION", 10**6)
    run_inline(folder / "recipe.yaml", tmp_path / "parts")
    manifest = read_manifest(tmp_path / "parts" / "train")
    assert len(manifest["media_shards"]) > 2
    assert table_of(tmp_path / "parts" / "train", "media_shards") == table_of(folder / "out" / "train", "media_shards")
    assert verify(tmp_path / "parts", deep=True).faults == []


def test_partitions_follow_from_the_bytes_of_all_media() -> None:
    size = media_plan.SHARD_BYTES
    assert [media_plan.partitions_for(n) for n in (0, 1, size, size + 1, 3 * size, 5 * size)] == [1, 1, 1, 2, 4, 8]
    assert media_plan.partitions_for(10**18) == 256


def test_media_of_documents_that_go_do_not_enter(tmp_path: Path) -> None:
    """Lost, cut and too long ones; what another document shows stays."""
    small, large, other = picture(20, 20), picture(600, 600), picture(30, 30)
    documents = [
        (f"stays {MARK}", [medium(small)]),
        (f"too long {MARK}{MARK}", [medium(large), medium(small)]),
        (f"another hash {MARK}", [medium(other, sha256=bytes(32))]),
        (f"no picture {MARK}", [medium(b"what is this")]),
    ]
    write_documents(tmp_path, documents)
    manifests = run_inline(write_recipe(tmp_path, RECIPE), tmp_path / "out")
    emit = manifests["train"]["steps"][-1]
    assert manifests["docs"]["steps"][0]["reasons"] == {"bad_field": 1}
    assert emit["reasons"] == {"medium_exceeds_context": 1} and emit["chars_cut"] == {"media_missing": 1}
    media = table_of(tmp_path / "out" / "train", "media_shards")
    assert [m["sha256"] for m in media] == [hashlib.sha256(small).digest()]
    assert verify(tmp_path / "out", deep=True).faults == []


def test_another_context_tokenises_only_what_is_too_long_for_it(tmp_path: Path) -> None:
    write_documents(tmp_path, [(f"a {MARK}", [medium(picture(300, 300))]), *corpus()], files=2)
    one = run_inline(write_recipe(tmp_path, RECIPE), tmp_path / "out")
    two = run_inline(write_recipe(tmp_path, RECIPE.replace("256", "1024")), tmp_path / "out")
    three = run_inline(write_recipe(tmp_path, RECIPE.replace("256", "80")), tmp_path / "out")
    tokenised = [[e["digest"] for e in m["train"]["tokenised"]] for m in (one, two, three)]
    assert tokenised[0] == tokenised[1] != tokenised[2]
    assert [m["train"]["steps"][-1]["reasons"] for m in (two, three)] == [{}, {"medium_exceeds_context": 1}]


def test_a_sha256_that_is_not_there_is_made(tmp_path: Path) -> None:
    data = picture(40, 40)
    write_documents(tmp_path, [(f"x {MARK}", [medium(data, sha256=None)]), (f"y {MARK}", [medium(data)])])
    run_inline(write_recipe(tmp_path, RECIPE), tmp_path / "out")
    assert [m["bytes"] for m in table_of(tmp_path / "out" / "train", "media_shards")] == [data]
    assert verify(tmp_path / "out", deep=True).faults == []


def test_what_several_documents_say_of_a_medium_is_told_alike(tmp_path: Path) -> None:
    """Whoever comes first: here the file names no size, and the types differ."""
    data = b"bytes of no picture"
    said: list[dict[str, Any]] = [
        medium(data, mime=mime, width=width, height=9)
        for mime, width in (("image/x", 8), (None, 9), ("image/a", 7), (None, 10))
    ]
    documents = [(f"{n} {MARK}", [one]) for n, one in enumerate(said)]
    for name, order in (("a", documents), ("b", documents[::-1])):
        write_documents(tmp_path / name, order, files=2)
        run_inline(write_recipe(tmp_path / name, RECIPE), tmp_path / name / "out")
        (told,) = table_of(tmp_path / name / "out" / "train", "media_shards")
        assert (told["mime"], told["width"]) == (None, 9)
    assert files_of(tmp_path / "a" / "out") == files_of(tmp_path / "b" / "out")


def test_what_pictures_cost_is_a_parameter(folder: Path, tmp_path: Path) -> None:
    image = "{context: 256, image: {patch_px: 10, merge: 1, delimiters: 0, max_tokens: 50}}"
    write_documents(tmp_path, corpus())
    run_inline(write_recipe(tmp_path, RECIPE.replace("{context: 256}", image)), tmp_path / "out")
    out = tmp_path / "out" / "train"
    cost = ImageCost(10, 1, 0, 50)
    media = [m for row in rows_of(out) for m in row["media"]]
    assert media and all(m["token_len"] == cost.image_tokens(m["width"], m["height"]) <= 50 for m in media)
    import pyarrow as pa

    schema = pa.ipc.open_file(str(out / read_manifest(out)["shards"][0]["path"])).schema
    assert TrainerFormat.from_metadata(schema.metadata).image_cost == cost
    assert verify(tmp_path / "out", deep=True).faults == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{patch: 3}", "unknown key"),
        ("{merge: 0}", "1 or more"),
        ("{merge: 1.5}", "merge"),
        ("{max_tokens: 2}", "no token"),
    ],
)
def test_a_cost_that_is_none_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, told: str
) -> None:
    recipe = write_recipe(folder, RECIPE.replace("{context: 256}", f"{{context: 256, image: {given}}}"), "bad.yaml")
    assert main(["run", str(recipe), "--out", str(tmp_path / "out")]) == 2
    assert told in capsys.readouterr().err


def test_real_pictures(shared_data: Path, tmp_path: Path) -> None:
    files = sorted((shared_data / "images").iterdir())
    documents = [(f"{path.name} {MARK}", [medium(path.read_bytes())]) for path in files]
    write_documents(tmp_path, documents)
    run_inline(write_recipe(tmp_path, RECIPE.replace("256", "8192")), tmp_path / "out")
    assert read_manifest(tmp_path / "out" / "train")["totals"]["media"] == len(files) > 10
    assert verify(tmp_path / "out", deep=True).faults == []
