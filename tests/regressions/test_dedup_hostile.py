"""Faults that attacks on minhash_dedup found, each with what brought it out."""

import json
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gristmill.manifests.canonical import canonical_json, sealed
from gristmill.manifests.clusters import clusters, read_record
from gristmill.manifests.errors import UsageError, VerifyError
from gristmill.manifests.find import places
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.verify import verify
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.exchange_rows import MAX_PARTITIONS
from gristmill.pipeline.run import RunOptions
from gristmill.pipeline.similar import job
from gristmill.pipeline.similar.tables import pair_parts
from gristmill.stages.kernels import shingle_plain
from tests.laws.running import fingerprint, run_inline, write_recipe
from tests.pipeline.similar_docs import Doc, corpus, deduplicated, kept_texts, prose, recipe_of, write_docs

DOCS = corpus()


def neighbours(count: int) -> list[Doc]:
    """Documents near one another, each with a word of its own."""
    words = prose(5, 300)
    return [(f"n{i}", " ".join([*words[:i], f"own{i}", *words[i + 1 :]])) for i in range(count)]


def of_kind(out: Path) -> dict[Path, tuple[str, list[Mapping[str, Any]]]]:
    """Folder of an object -> its task's kind and its files."""
    receipts = {p.parent: json.loads(p.read_bytes()) for p in (out / "objects").glob("*/receipt.json")}
    return {folder: (r["what"]["kind"], r["files"]) for folder, r in receipts.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    write_docs(folder, {"a.jsonl": [*DOCS, *neighbours(20)]})
    run_inline(recipe_of(folder, {"max_bucket": 4, "pivots": 2}), folder / "out")
    return folder


@pytest.mark.parametrize("role", ["spill", "pairs", "merged", "demand", "sets", "edges"])
def test_damage_of_what_a_search_hands_on_decides_nothing(role: str, made: Path, tmp_path: Path) -> None:
    """A bit of `sets` that flipped between two runs changed similarities, and who stayed, without a word."""
    order = ["emit_keys", "reduce", "similar_pairs", "similar_merge", "similar_sets", "similar_verify"]
    order += ["similar_settle", "map"]
    shutil.copytree(made, tmp_path / "c")
    out = tmp_path / "c" / "out"
    kinds = of_kind(out)
    holder = next(kind for kind, files in kinds.values() if role in {f["role"] for f in files})
    for folder, (kind, files) in kinds.items():
        if kind in order and order.index(kind) > order.index(holder):
            shutil.rmtree(folder)
        for file in (f for f in files if f["role"] == role and kind == holder and f["rows"]):
            raw = bytearray((folder / file["path"]).read_bytes())
            # In the last batch's body, a little before the footer.
            start, stop = next(part[3:5] for part in reversed(file["extra"]["parts"]) if part[2])
            raw[start + (stop - start) * 3 // 4] ^= 4
            (folder / file["path"]).write_bytes(raw)
    with pytest.raises(VerifyError, match="damaged"):
        run_inline(next(out.parent.glob("*.yaml")), out)


def of_two(folder: Path, first: Mapping[str, str], second: Mapping[str, str]) -> Path:
    """A recipe of two datasets that use indexes."""
    write_docs(folder / "a", {"a.jsonl": DOCS[:100]})
    write_docs(folder / "b", {"b.jsonl": DOCS[100:]})
    datasets = {
        name: {
            "read": {"jsonl": f"{name}/*.jsonl", "key": "key"},
            "domain": "web",
            "steps": [{"minhash_dedup": {"index": dict(index)}}],
        }
        for name, index in (("a", first), ("b", second))
    }
    return write_recipe(folder, yaml.safe_dump({"name": "r", "datasets": datasets}))


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ({"save": "x"}, {"save": "x"}, "two steps"),
        ({"save": "x"}, {"query": "x", "save": "x"}, "two steps"),
        ({"query": "x"}, {"save": "x"}, "queried before"),
        ({"query": "x", "save": "./out/indexes/../indexes/x"}, {"save": "y"}, "queried before"),
    ],
)
def test_an_index_that_a_second_run_would_find_itself_in_is_refused(
    first: dict[str, str], second: dict[str, str], word: str, tmp_path: Path
) -> None:
    """An index that grew in place held, when the same command ran again, what the first run had kept: every record
    went, and the dataset was published empty. Two datasets that saved one name left that of the last one alone."""
    recipe = of_two(tmp_path, first, second)
    with pytest.raises(UsageError, match=word):
        run_inline(recipe, tmp_path / "out")
    assert not (tmp_path / "out" / "objects").exists()


def test_an_index_that_is_saved_before_it_is_queried_serves(tmp_path: Path) -> None:
    recipe = of_two(tmp_path, {"save": "x"}, {"query": "x", "save": "y"})
    run_inline(recipe, tmp_path / "out")
    once = fingerprint(tmp_path / "out")
    run_inline(recipe, tmp_path / "out")
    assert fingerprint(tmp_path / "out") == once


def _edited(index: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(index.read_bytes())
    del document["digest"]
    edit(document)
    index.write_bytes(canonical_json(sealed(document)))


@pytest.mark.parametrize(
    "edit",
    [
        lambda index: index["shards"][0]["files"][0].update(path="../../../elsewhere"),
        lambda index: index.pop("shards"),
        lambda index: index.pop("config"),
        lambda index: index.pop("format_version"),
    ],
)
def test_an_index_that_is_none_is_no_bug(edit: Callable[[dict[str, Any]], object], tmp_path: Path) -> None:
    """A name of a file elsewhere was followed, and the remedy was to remove the folder that holds it."""
    recipe = of_two(tmp_path, {"save": "x"}, {"query": "y"})
    shutil.copytree(_saved(tmp_path / "old"), tmp_path / "out" / "indexes" / "y")
    _edited(tmp_path / "out" / "indexes" / "y" / "index.json", edit)
    with pytest.raises(VerifyError, match="save the index again"):
        run_inline(recipe, tmp_path / "out")
    assert not (tmp_path / "out" / "objects").exists()


def _saved(folder: Path) -> Path:
    write_docs(folder, {"a.jsonl": DOCS[:30]})
    run_inline(recipe_of(folder, {"index": {"save": "x"}}), folder / "out")
    return folder / "out" / "indexes" / "x"


def test_an_index_that_cannot_be_saved_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    recipe = of_two(tmp_path, {"save": "./file/x"}, {"save": "y"})
    with pytest.raises(UsageError, match="cannot be saved there"):
        run_inline(recipe, tmp_path / "out")
    assert not (tmp_path / "out" / "objects").exists()


def test_two_of_a_cluster_stand_side_by_side_in_the_dataset_s_folder_too(made: Path) -> None:
    """`show OUT/docs --clusters` gave the command that compares two, and that had no text of the one that went."""
    folder = made / "out" / "docs"
    found = places(folder)
    cluster = clusters(found, 1, 1)[0]
    assert read_record(folder, found, cluster.members[0].id)["text"]


def test_the_index_of_a_sample_serves_no_whole_run(tmp_path: Path) -> None:
    """`run --sample` left an index of a tenth of the corpus, and a later query of it found a tenth of the copies."""
    write_docs(tmp_path / "old", {"a.jsonl": DOCS})
    run_inline(recipe_of(tmp_path / "old", {"index": {"save": "x"}}), tmp_path / "o", options=RunOptions(sample=0.5))
    write_docs(tmp_path / "new", {"b.jsonl": DOCS})
    recipe = recipe_of(tmp_path / "new", {"index": {"query": "../o/indexes/x"}})
    with pytest.raises(UsageError, match="sample"):
        run_inline(recipe, tmp_path / "p")
    run_inline(recipe, tmp_path / "p", options=RunOptions(sample=0.5))
    assert kept_texts(tmp_path / "p") == []


def test_pairs_of_a_large_group_whose_best_are_like_nobody_are_compared(tmp_path: Path) -> None:
    """A search ended early where its pivots were like nobody, and told of nothing left."""
    common = prose(1, 100)
    docs = [(f"k{i}", " ".join([*common, *prose(50 + i, 400)])) for i in range(40)]
    write_docs(tmp_path, {"a.jsonl": docs})
    run_inline(recipe_of(tmp_path, {"bands": 60, "rows": 1, "max_bucket": 4, "pivots": 2}), tmp_path / "out")
    facts = read_manifest(tmp_path / "out" / "docs")["facts"]["minhash_dedup"]
    assert facts["similar"] == 0 and facts["compared"] == 40 * 39 // 2
    assert facts["large_groups"] > 0 and facts["large_left"] is False


def test_pairs_of_a_large_group_that_were_not_compared_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the rounds come to their end before all was compared, facts, run and `ls` say so."""
    monkeypatch.setattr(job, "MAX_ROUNDS", 2)
    common = prose(1, 100)
    docs = [(f"k{i}", " ".join([*common, *prose(50 + i, 400)])) for i in range(40)]
    write_docs(tmp_path, {"a.jsonl": docs})
    recipe = recipe_of(tmp_path, {"bands": 60, "rows": 1, "max_bucket": 4, "pivots": 2})
    assert main(["run", str(recipe), "--out", str(tmp_path / "out"), "--workers", "0"]) == 0
    assert read_manifest(tmp_path / "out" / "docs")["facts"]["minhash_dedup"]["large_left"] is True
    assert "not all pairs" in capsys.readouterr().out
    assert main(["ls", str(tmp_path / "out")]) == 0
    assert "large_left true" in capsys.readouterr().out


def test_long_documents_are_compared_in_more_parts() -> None:
    """Parts went by the number of documents: the sets of 16,000 books in one process took tens of GiB."""
    assert pair_parts(16_000, 50 << 20) == 1
    assert pair_parts(16_000, 16 << 30) == 256
    assert pair_parts(1 << 40, 1 << 50) == pair_parts(1 << 30, 0) == MAX_PARTITIONS


def forged(word: bytes, unit_key: int, rng: random.Random) -> bytes:
    """Another word of 16 characters with the hash of `word` under a key that is known: the second block makes up for
    what another first block changes."""
    factor = shingle_plain.mix64(unit_key) | 1

    def after(block: bytes) -> int:
        product = (unit_key ^ int.from_bytes(block, "little")) * factor
        return (product >> 64) ^ (product & (1 << 64) - 1)

    while True:
        first = bytes(rng.choice(b"abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(8))
        second = int.from_bytes(word[8:], "little") ^ after(word[:8]) ^ after(first)
        made = first + second.to_bytes(8, "little")
        if first != word[:8] and all(0x21 <= byte < 0x7F for byte in made):
            return made


def test_words_forged_under_a_known_seed_make_no_duplicates(tmp_path: Path) -> None:
    """Gibberish with the word hashes of a text met it in all bands, was measured at 1.0, and the text was dropped."""
    rng = random.Random(4)
    unit_key = shingle_plain.stream(1, 1)[0]
    victim = [f"victim_{i:09d}" for i in range(30)]
    copies = [[forged(word.encode(), unit_key, rng).decode() for word in victim] for _ in range(4)]
    for mine, theirs in zip(victim, copies[0], strict=True):
        hashes = {shingle_plain.hash_word(word.encode(), unit_key) for word in (mine, theirs)}
        assert mine != theirs and len(hashes) == 1
    docs = [("victim", " ".join(victim)), *((f"forged{i}", " ".join(words)) for i, words in enumerate(copies))]
    out = deduplicated(tmp_path, docs, {"normalise": "exact"})
    facts = read_manifest(out / "docs")["facts"]["minhash_dedup"]
    assert facts["compared"] == 10, "all of them are candidates: the bands are made under the seed"
    assert facts["similar"] == 0
    assert len(kept_texts(out)) == 5


def test_pages_that_differ_in_a_picture_that_was_not_fetched_are_no_copies(tmp_path: Path) -> None:
    """A medium without a hash of its bytes counted as nothing, so that one caption made four pictures one."""
    (tmp_path / "html").mkdir()
    for number in range(4):
        picture = f'<img src="https://example.org/p{number % 3}.jpg" alt="">'
        page = f"<!doctype html><html><body><main><p>One caption.</p>{picture}</main></body></html>"
        (tmp_path / "html" / f"p{number}.html").write_text(page)
    docs = {"read": {"html": "html/*.html"}, "domain": "web", "steps": ["extract_html", "minhash_dedup"]}
    recipe = write_recipe(tmp_path, yaml.safe_dump({"name": "r", "datasets": {"docs": docs}}))
    run_inline(recipe, tmp_path / "out")
    assert len(kept_texts(tmp_path / "out")) == 3
    assert verify(tmp_path / "out", deep=True).faults == []
