"""Two runs compared: the same, described differently, and with records that changed side."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests import scan
from gristmill.manifests.diff import DatasetDiff, diff
from gristmill.manifests.errors import InputError
from gristmill.manifests.fates import read_fates
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.schema import record_id
from tests.laws.running import run_inline
from tests.manifests.small_run import RECIPE, copy_run, forge_manifest, forge_table, set_column


def other_run(finished: Path, tmp_path: Path, text: str) -> Path:
    """The inputs of the small run by another recipe."""
    recipe = finished.parent / f"{tmp_path.name}.yaml"
    recipe.write_text(text)
    run_inline(recipe, tmp_path / "other")
    return tmp_path / "other"


def by_name(datasets: list[DatasetDiff]) -> dict[str, DatasetDiff]:
    return {d.name: d for d in datasets}


def changes(dataset: DatasetDiff) -> dict[str, int]:
    """The changes that there are."""
    return {name: count for name, count in dataset.changed.items() if count}


def test_a_copy_is_the_same(finished: Path, out: Path) -> None:
    found = diff(finished, out)
    assert found.same
    assert [d.name for d in found.datasets] == ["a", "b", "corpus", "train", "holdout"]
    for dataset in found.datasets:
        assert dataset.same and dataset.same_files
        assert dataset.asked == [] and dataset.moves == [] and dataset.examples == []
        assert changes(dataset) == {}
        assert dataset.steps and all(step["a"] == step["b"] for step in dataset.steps)


def test_another_name_of_the_recipe_leaves_the_files(finished: Path, tmp_path: Path) -> None:
    found = diff(finished, other_run(finished, tmp_path, RECIPE.replace("name: small", "name: tiny")))
    assert not found.same
    assert all(d.same_files and not d.same and d.asked == [] for d in found.datasets)


def test_a_stricter_limit(finished: Path, tmp_path: Path) -> None:
    stricter = RECIPE.replace('"./rules.py:short"', '{"./rules.py:short": {drop_below: {n_words: 14}}}')
    found = by_name(diff(finished, other_run(finished, tmp_path, stricter), examples=3).datasets)
    a = found["a"]
    # The ten of seven whose text repeats its words once have 3 + 5 words, and the repeated key 10.
    assert changes(a) == {"kept_to_dropped": a.steps[1]["a"]["kept"] - a.steps[1]["b"]["kept"]}
    assert a.changed["kept_to_dropped"] > 10
    assert [x["what"] for x in a.asked] == ["short.params", "short.rules"]
    assert a.moves == [
        {
            "a": {"verdict": "keep", "step": "", "reason": ""},
            "b": {"verdict": "drop", "step": "short", "reason": "n_words_below"},
            "count": a.changed["kept_to_dropped"],
        }
    ]
    assert len(a.examples) == 3
    assert all(e.change == "kept_to_dropped" and e.a and e.a["verdict"] == "keep" for e in a.examples)
    assert found["b"].same_files
    assert found["corpus"].changed["only_a"] > 10
    assert found["train"].changed["only_a"] > 10


def test_the_other_way_round(finished: Path, tmp_path: Path) -> None:
    laxer = RECIPE.replace('"./rules.py:short"', '{"./rules.py:short": {drop_below: {n_words: 1}}}')
    found = by_name(diff(finished, other_run(finished, tmp_path, laxer)).datasets)
    assert changes(found["a"]) == {"dropped_to_kept": 10}
    # Those of `short` that the laxer run keeps are new to what is made from it.
    assert changes(found["corpus"]) == {"only_b": 10}


def test_a_step_that_is_gone(finished: Path, tmp_path: Path) -> None:
    without = RECIPE.replace(', "./rules.py:long"', "")
    corpus = by_name(diff(finished, other_run(finished, tmp_path, without)).datasets)["corpus"]
    assert changes(corpus) == {"dropped_to_kept": 1}
    assert corpus.asked == [{"what": "long", "a": True, "b": False}]
    assert corpus.steps[-1]["step"] == "long" and corpus.steps[-1]["b"] is None
    assert corpus.examples[0].id == record_id("key", "a", "long")


def test_a_dataset_that_only_one_has(finished: Path, tmp_path: Path) -> None:
    without = RECIPE.replace("holdout: {frac: 0.1, seed: 5}\n", "")
    other = other_run(finished, tmp_path, without)
    missing = by_name(diff(finished, other).datasets)["holdout"]
    assert (missing.digest_b, missing.same, changes(missing)) == (None, False, {})
    train = by_name(diff(finished, other).datasets)["train"]
    assert changes(train) == {"dropped_to_kept": 8}
    assert by_name(diff(other, finished).datasets)["holdout"].digest_a is None


def test_another_text_under_the_same_id(finished: Path, out: Path) -> None:
    def edit(table: Any) -> Any:
        hashes = table.column("content_hash").to_pylist()
        return set_column(table, "content_hash", [bytes(16), *hashes[1:]])

    forge_table(out / "b", "shards", edit)
    b = by_name(diff(finished, out).datasets)["b"]
    assert changes(b) == {"content": 1}
    assert b.moves == []


def test_another_reason(finished: Path, out: Path) -> None:
    forge_table(out / "a", "ledger", lambda t: set_column(t, "reason", ["other"] * t.num_rows))
    a = by_name(diff(finished, out).datasets)["a"]
    assert changes(a) == {"moved": 11}
    assert sorted(move["count"] for move in a.moves) == [1, 10]


def test_two_datasets_of_any_name(finished: Path, out: Path) -> None:
    (out / "a").rename(out.parent / "elsewhere")
    assert diff(finished / "a", out.parent / "elsewhere").same
    found = diff(finished / "a", finished / "b").datasets
    assert [d.name for d in found] == ["a"]
    assert changes(found[0]) == {"only_a": 69, "only_b": 12}


def test_parts_of_bounded_memory_give_the_same(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laxer = RECIPE.replace('"./rules.py:short"', '{"./rules.py:short": {drop_below: {n_words: 1}}}')
    other = other_run(finished, tmp_path, laxer)
    whole = diff(finished, other, examples=100)
    monkeypatch.setattr(scan, "IDS_A_PART", 7)
    in_parts = diff(finished, other, examples=100)
    for one, two in zip(whole.datasets, in_parts.datasets, strict=True):
        assert one.changed == two.changed and one.moves == two.moves
        assert sorted(e.id for e in one.examples) == sorted(e.id for e in two.examples)


@given(st.integers(1, 300), st.lists(st.integers(0, (1 << 64) - 1)))
def test_each_id_falls_into_one_part(of: int, firsts: list[int]) -> None:
    words = np.array([*firsts, 0, (1 << 64) - 1], dtype=np.uint64)
    held = np.stack([scan.Part(index, of).holds(words) for index in range(of)])
    assert (held.sum(axis=0) == 1).all()


def test_fates_without_tokenised_documents_come_from_the_rows(finished: Path, tmp_path: Path) -> None:
    out = copy_run(finished, tmp_path / "rows")
    folder = out / "train"
    whole = read_fates(folder, read_manifest(folder), scan.Part())
    forge_manifest(folder, lambda m: m["tokenised"].clear())
    from_rows = read_fates(folder, read_manifest(folder), scan.Part())
    assert (whole.first == from_rows.first).all() and (whole.second == from_rows.second).all()
    assert (whole.cell == from_rows.cell).all()


def test_not_an_output(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        diff(finished, tmp_path)
