"""Places of shards in addresses: their content gives them, so that a new file leaves most comparisons valid."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline import splits
from gristmill.pipeline.exchange_job import places_of
from gristmill.pipeline.similar import tables
from tests.laws.running import fingerprint, run_inline
from tests.pipeline.similar_docs import corpus, edited, recipe_of, write_docs

DIGESTS = st.lists(st.text("abc", max_size=3), max_size=40)


@given(DIGESTS, st.randoms())
def test_places_are_distinct_and_go_by_content(digests: list[str], rng: Any) -> None:
    """Equal shards share a digest, and their places."""
    places = places_of(digests)
    assert len(set(places)) == len(digests)
    assert all(0 <= place < 1 << 24 for place in places)
    order = list(range(len(digests)))
    rng.shuffle(order)
    of_digest: dict[str, set[int]] = {}
    for digest, place in zip(digests, places, strict=True):
        of_digest.setdefault(digest, set()).add(place)
    moved: dict[str, set[int]] = {}
    for digest, place in zip((digests[i] for i in order), places_of([digests[i] for i in order]), strict=True):
        moved.setdefault(digest, set()).add(place)
    assert of_digest == moved


@pytest.mark.parametrize("shards", [3, 100, 250, 5000])
def test_a_new_shard_moves_few_others(shards: int) -> None:
    digests = [f"blake3:{i}" for i in range(shards)]
    before, after = places_of(digests), places_of(["blake3:new", *digests])[1:]
    assert sum(a != b for a, b in zip(before, after, strict=True)) <= 2


def compared(out: Path) -> set[str]:
    """Keys of the tasks that compared pairs."""
    receipts = (json.loads(path.read_bytes()) for path in out.glob("objects/*/receipt.json"))
    return {r["key"] for r in receipts if "verify" in r["what"]}


@pytest.mark.parametrize("name", ["a.jsonl", "z.jsonl"])
def test_a_new_file_has_only_its_parts_compared_anew(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it sorts. Addresses held the number of a shard: one that sorted first had everything compared anew."""
    monkeypatch.setattr(tables, "DOCS_A_PART", 8)
    monkeypatch.setattr(splits, "LARGE_BYTES", 0)
    docs = corpus()
    write_docs(tmp_path, {"m1.jsonl": docs[:100], "m2.jsonl": docs[100:]})
    recipe = recipe_of(tmp_path)
    run_inline(recipe, tmp_path / "out")
    before = compared(tmp_path / "out")
    assert len(before) > 12
    write_docs(tmp_path, {name: [("one", " ".join(edited(docs[7][1].split(), 3, 3)))]})
    run_inline(recipe, tmp_path / "out")
    assert 1 <= len(compared(tmp_path / "out") - before) <= 3
    run_inline(recipe, tmp_path / "anew")
    assert fingerprint(tmp_path / "anew") == fingerprint(tmp_path / "out")
