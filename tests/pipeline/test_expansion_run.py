"""Further rows in a run: counted as derived, of right ids where keys are repeated, the same on any workers."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.schema import derived_id
from gristmill.manifests.trace import trace
from gristmill.manifests.verify import verify
from gristmill.pipeline.phases import LoadedStep, compile_phases
from gristmill.stages.vision.render_forms import RenderForms
from tests.laws.pictures import render_pairs, write_pairs
from tests.laws.running import call, fingerprint, json_of, run_inline, write_recipe

RECIPE = """\
name: forms
datasets:
  pairs:
    read: {parquet: "pairs/*.parquet"}
    domain: vision
    steps:
      - gopher_quality: {min_doc_words: 1, min_stop_words: 0, min_alpha_words_ratio: 0, max_avg_word_length: 100}
      - render_forms: {per_record: 3}
      - c4: {min_num_sentences: 0}
      - exact_dedup
      - render_forms: {per_record: 1, forms: [to_code], seed: 3}
  both:
    from: [pairs]
    steps:
      - render_forms: {seed: 4}
"""


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    write_pairs(folder / "pairs")
    # One key for two records: one of them gets another id when all has been read.
    twins = render_pairs(2).to_pylist()
    twins[1]["id"] = twins[0]["id"]
    pq.write_table(pa.Table.from_pylist(twins, render_pairs(1).schema), folder / "pairs" / "c.parquet")
    return write_recipe(folder, RECIPE)


@pytest.fixture(scope="module")
def out(recipe: Path) -> Path:
    run_inline(recipe, recipe.parent / "out")
    return recipe.parent / "out"


def rows_of(out: Path, name: str) -> list[dict[str, Any]]:
    manifest = read_manifest(out / name)
    return [row for file in manifest["shards"] for row in pq.read_table(out / name / file["path"]).to_pylist()]


def test_the_books_say_what_was_derived(out: Path) -> None:
    steps = {step["step"]: step for step in read_manifest(out / "pairs")["steps"]}
    first = steps["render_forms"]
    assert first["derived"] > first["records_in"] > 0 == first["dropped"]
    assert first["kept"] == first["records_in"] + first["derived"]
    assert first["chars_cut"]["derived"] == first["chars_in"] - first["chars_kept"] < 0
    (behind,) = [
        step for name, step in steps.items() if name not in ("render_forms",) and step["stage"] == "render_forms"
    ]
    assert behind["derived"] > 0
    assert first["sources"]["pairs"]["derived"] == first["derived"]


def test_the_run_verifies_and_is_listed(out: Path) -> None:
    assert verify(out, deep=True).faults == []
    told = json_of(call("ls", out, "--json"))
    (dataset,) = [d for d in told["datasets"] if d["name"] == "pairs"]
    assert any(step["derived"] for step in dataset["steps"])


def lost(out: Path, name: str) -> set[str]:
    """Ids in the ledger of a dataset."""
    files = read_manifest(out / name)["ledger"]
    return {row["id"] for file in files for row in pq.read_table(out / name / file["path"]).to_pylist()}


def test_further_rows_name_their_parents(out: Path) -> None:
    known = {row["id"] for row in rows_of(out, "pairs")} | lost(out, "pairs")
    for name in ("pairs", "both"):
        rows = rows_of(out, name)
        assert len({row["id"] for row in rows}) == len(rows)
        made = [row for row in rows if row["derivation"] == "form"]
        assert made
        for row in made:
            (parent,) = row["parents"]
            assert parent in known
            form = json.loads(row["meta"])["form"]["name"]
            assert row["id"] in {derived_id(parent, word) for word in (form, f"{form} 3", f"{form} 4")}


def test_any_number_of_workers_gives_the_same(recipe: Path, out: Path, tmp_path: Path) -> None:
    run_inline(recipe, tmp_path, 2)
    assert fingerprint(tmp_path) == fingerprint(out)


def test_no_expander_runs_while_ids_may_change() -> None:
    def step(label: str, stage: Any) -> LoadedStep:
        return LoadedStep(label, "x", {}, stage, "row", "")

    from gristmill.stages.text.fineweb import FineWeb

    filters, forms = step("a", FineWeb()), step("b", RenderForms())
    assert [p.labels() for p in compile_phases([forms])] == [[], ["b"]]
    assert [p.labels() for p in compile_phases([filters, forms, filters, forms])] == [["a"], ["b", "a", "b"]]


def test_a_verdict_on_one_document_is_not_to_be_had(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("some words")
    told = call("stage", "judge", "render_forms", tmp_path / "a.txt")
    assert told.returncode == 2 and "makes further records" in told.stderr


def test_a_trace_starts_where_a_record_was_made(out: Path) -> None:
    found = [(row["id"], row["parents"]) for row in rows_of(out, "pairs") if row["derivation"]]
    firsts = {trace(out, record).events[0].step for record, _ in found}
    assert firsts == {"render_forms_2"}  # of two steps that make records the last, where nobody can tell
    for record, parents in found:
        first, *others = trace(out, record).events
        assert first.detail is not None and parents[0] in first.detail and "or by render_forms" in first.detail
        assert all(event.detail is None for event in others if event.verdict == "keep")
    later = [r for r in rows_of(out, "both") if r["derivation"] and r["id"] not in {record for record, _ in found}]
    events = trace(out, later[0]["id"]).events
    assert [(event.dataset, event.step) for event in events] == [("both", "render_forms")]
    assert events[0].detail == f"made of {later[0]['parents'][0]} here"
    parent = trace(out, later[0]["parents"][0]).events
    assert parent[0].step == "read" and all(event.detail is None for event in parent)
