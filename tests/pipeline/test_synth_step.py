"""The step `synth`: sequences of a dataset in a run, its books, its errors, its proofs, and what `show` tells of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.manifests.errors import InputError, RecipeError, UsageError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.verify import verify
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.cli.show_tasks import overview
from gristmill.pipeline.reader import TokenStream
from gristmill.pipeline.reprove import prove_shards, reprove
from gristmill.pipeline.tasks.synth_plan import LEAST_PARTS, PART_TOKENS, part_sizes
from tests.laws.corpora import SEQUENCES, write_corpus
from tests.laws.running import run_inline, write_recipe

CONTEXT = 32768
HEAD = """
name: s
seed: 11
tokenizer: bytes
datasets:
  long:
    read: {jsonl: "long/*.jsonl"}
    domain: knowledge
  both:
    from: [long]
    steps:
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def out(folder: Path) -> Path:
    run_inline(write_recipe(folder, SEQUENCES), folder / "out")
    return folder / "out"


def rows(out: Path) -> pa.Table:
    """All rows of the sequences."""
    manifest = read_manifest(out / "both")
    return pa.concat_tables(pa.ipc.open_file(out / "both" / s["path"]).read_all() for s in manifest["shards"])


def with_steps(folder: Path, steps: str) -> Path:
    return write_recipe(folder, HEAD + "\n".join(f"      - {line}" for line in steps.splitlines()), "wrong.yaml")


def test_what_the_ledger_says_is_what_the_rows_hold(out: Path) -> None:
    manifest = read_manifest(out / "both")
    ledger = [r for f in manifest["ledger"] for r in pq.read_table(out / "both" / f["path"]).to_pylist()]
    gone = {r["id"] for r in ledger}
    placed = {d["id"] for docs in rows(out).column("docs").to_pylist() for d in docs if d["source"] != "synth"}
    assert placed and not placed & gone
    assert len(placed) == manifest["totals"]["records"] == manifest["steps"][-1]["kept"]
    assert len(placed | gone) == manifest["steps"][0]["records_in"]
    assert {r["reason"] for r in ledger} == {"exact_duplicate", "holdout", "not_drawn", "no_tokens"}


def test_what_is_held_out_stands_in_no_sequence(out: Path) -> None:
    held = read_manifest(out / "holdout")
    ids = {r for s in held["shards"] for r in pq.read_table(out / "holdout" / s["path"]).column("id").to_pylist()}
    placed = {d["id"] for docs in rows(out).column("docs").to_pylist() for d in docs}
    assert len(ids) == held["totals"]["records"] > 0
    assert not ids & placed


def test_a_trainer_reads_them(out: Path) -> None:
    stream = TokenStream(out / "both", global_batch=1)
    tokens = np.concatenate([np.asarray(next(iter(stream)).tokens)])
    assert tokens.shape == (1, CONTEXT)
    assert rows(out).num_rows == 3


def test_verification_proves_every_task_again(out: Path) -> None:
    assert verify(out, deep=True).ok
    (found,) = reprove(out)
    assert found.faults == [] and found.why_not == ""
    assert found.rows == 3 and found.tasks == sum(read_manifest(out / "both")["facts"]["synth"]["tasks"].values()) > 0


def test_the_gate_of_a_batch_is_told(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(out / "both"), "--deep", "--json", "--quiet"]) == 0
    (again,) = json.loads(capsys.readouterr().out)["proved_again"]
    assert {line["family"] for line in again["gate"]} == set(again["families"])
    assert {"latest_with_key", "hop_order", "answer_index"} <= {line["what"] for line in again["gate"]}
    assert again["gate"] and not any(line["gated"] for line in again["gate"])
    assert main(["verify", str(out / "both"), "--deep", "--quiet"]) == 0
    assert "too few tasks for a gate" in capsys.readouterr().out


def test_rows_that_are_all_alike_are_faults(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them holds, and together they reward who knows one."""
    from gristmill.synth.solvers import gate

    batch = next(b for b in rows(out).to_batches(max_chunksize=1) if b.column("tasks")[0].as_py())
    tasks = len(batch.column("tasks")[0])
    monkeypatch.setattr(gate, "MIN_TASKS", 30)
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        for _ in range(60):
            writer.write_batch(batch)
    found = prove_shards("both", [str(tmp_path / "a.arrow")], "bytes")
    assert found.tasks == 60 * tasks and found.why_not == ""
    assert {fault.kind for fault in found.faults} == {"gate"}
    assert "by chance in at most" in found.faults[0].detail


def test_a_task_that_does_not_hold_is_a_fault(out: Path, tmp_path: Path) -> None:
    """A row whose answer is another, with the hashes of files and rows as they should be."""
    from gristmill.manifests.row_id import row_ids

    batch = rows(out).combine_chunks().to_batches()[0]
    tasks = batch.column("tasks").to_pylist()
    task = next(t for told in tasks for t in told)
    task["answer"] = f"{task['answer']}x"
    columns = [batch.column(n) for n in batch.schema.names]
    columns[batch.schema.names.index("tasks")] = pa.array(tasks, batch.schema.field("tasks").type)
    columns[0] = row_ids(pa.RecordBatch.from_arrays(columns, schema=batch.schema))
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=batch.schema))
    (fault,) = prove_shards("both", [str(tmp_path / "a.arrow")], "bytes").faults
    assert fault.kind == "row" and "task" in fault.detail


def test_a_manifest_names_no_tokenizer_file(out: Path, tmp_path: Path) -> None:
    manifest = json.loads((out / "both" / "manifest.json").read_text())
    manifest["facts"]["tokenizer"]["name"] = str(tmp_path / "own.json")
    from gristmill.pipeline.reprove import _reproved  # pyright: ignore[reportPrivateUsage]

    assert "not packaged" in _reproved("both", out / "both", manifest, None).why_not


def test_what_is_shown_of_tasks(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    families = overview(out / "both")["families"]
    assert {f["family"]: f["tasks"] for f in families} == read_manifest(out / "both")["facts"]["synth"]["tasks"]
    for family in families:
        assert family["tasks"] == sum(family["query_depth"])
        assert sum(family["evidence_depth"]) == round(family["evidence"] * family["tasks"])
    row = next(i for i, tasks in enumerate(rows(out).column("tasks").to_pylist()) if tasks)
    assert main(["show", str(out / "both"), "--row", str(row), "--task", "0", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["texts"]["answer"].strip() == shown["answer"]
    assert len(shown["texts"]["evidence"]) == len(shown["evidence"]) > 1
    assert main(["show", str(out / "both"), "--row", str(row), "--map"]) == 0
    mapped = capsys.readouterr().out.splitlines()
    assert len(mapped[1]) == 100 and "!" in mapped[1] and mapped[2].count("e") > 1
    assert main(["show", str(out / "both"), "--tasks"]) == 0
    assert set(read_manifest(out / "both")["facts"]["synth"]["tasks"]) <= set(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "words", [["--row", "0", "--task", "99"], ["--task", "0"], ["--row", "0", "--tasks"], ["--map"]]
)
def test_what_cannot_be_shown(out: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(out / "both"), *words]) == 2
    assert "gristmill: " in capsys.readouterr().err


WRONG: list[tuple[str, type[Exception], str]] = [
    ("synth: {context: 32768}", RecipeError, "emit directly behind"),
    ("synth: {context: 32768}\nexact_dedup\nemit: {context: 32768}", RecipeError, "emit directly behind"),
    ("synth: {context: 32768}\nemit: {context: 16384}", RecipeError, "another context"),
    ("synth: {context: 32768}\nemit: {context: 32768, max_segments: 4}", RecipeError, "as many segments"),
    ("synth: {context: 512}\nemit: {context: 512}", RecipeError, "too short"),
    ("synth: {context: 32768, families: [nosuch]}\nemit: {context: 32768}", RecipeError, "no such family"),
    ("synth: {context: 32768, modes: {mix: 1}}\nemit: {context: 32768}", RecipeError, "no such modes"),
    ("synth: {context: 32768, sequences: 0}\nemit: {context: 32768}", RecipeError, "out of range"),
    ("synth: {context: 32768, split: test}\nemit: {context: 32768}", RecipeError, "no such split"),
    ("synth: {context: 32768, sequences: 400}\nemit: {context: 32768}", InputError, "too few documents"),
    (
        "synth: {context: 32768, sequences: 1, modes: {task: 1}, families: [table_chain]}\nemit: {context: 32768}",
        UsageError,
        "no room",
    ),
]


@pytest.mark.parametrize(("steps", "kind", "said"), WRONG)
def test_what_cannot_be_is_told(folder: Path, tmp_path: Path, steps: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        run_inline(with_steps(folder, steps), tmp_path / "out")


def test_a_discarded_sequence_is_counted(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gristmill.pipeline.tasks import synth_rows

    build: Any = synth_rows.build_with_media

    def failing(plan: Any, *rest: Any) -> Any:
        if plan.number == 1:
            raise synth_rows.Discarded("leak", "for the test")
        return build(plan, *rest)

    monkeypatch.setattr(synth_rows, "build_with_media", failing)
    steps = "synth: {context: 32768, sequences: 2, modes: {concat: 1}, max_uses: 1}\nemit: {context: 32768}"
    out = tmp_path / "out"
    run_inline(with_steps(folder, steps), out)
    manifest = read_manifest(out / "both")
    assert manifest["facts"]["synth"]["discarded"] == {"leak": 1}
    assert manifest["totals"]["rows"] == 1
    assert manifest["steps"][1]["reasons"]["sequence_discarded"] > 0
    assert verify(out, deep=True).ok


def test_parts_hold_all_sequences() -> None:
    for sequences in (1, 4, 15, 16, 17, 1000):
        for context in (CONTEXT, 1 << 16, 1 << 20, 1 << 24):
            sizes = part_sizes(sequences, context)
            assert sum(sizes) == sequences and min(sizes) > 0
            assert max(sizes) == 1 or max(sizes) * context <= PART_TOKENS
            assert len(sizes) <= max(LEAST_PARTS, -(-sequences * context // PART_TOKENS) * 2)


def test_the_layout_of_the_input_changes_no_row(folder: Path, out: Path, tmp_path: Path) -> None:
    """The same documents in one file, in another order."""
    lines = [line for name in "ba" for line in (folder / "long" / f"{name}.jsonl").read_text().splitlines()]
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "z.jsonl").write_text("\n".join(lines) + "\n")
    run_inline(write_recipe(tmp_path, SEQUENCES), tmp_path / "out")
    assert rows(tmp_path / "out").equals(rows(out))


WITH_PICTURES = """
name: pictured
seed: 11
tokenizer: bytes
datasets:
  long:
    read: {jsonl: "long/*.jsonl"}
    domain: knowledge
  pairs:
    read: {parquet: "pairs/*.parquet"}
    domain: vision
  both:
    from: [long, pairs]
    steps:
      - synth: {context: 32768, sequences: 2, modes: {interleave: 1, concat: 1}, max_uses: 2}
      - emit: {context: 32768}
"""


def test_pictures_of_documents_stand_in_sequences(folder: Path, tmp_path: Path) -> None:
    """Their places, sizes and bytes reach the trainer as those of packed rows do."""
    out = tmp_path / "out"
    run_inline(write_recipe(folder, WITH_PICTURES, "pictured.yaml"), out)
    manifest = read_manifest(out / "both")
    assert verify(out, deep=True).faults == []
    media = [m for told in rows(out).column("media").to_pylist() for m in told]
    assert len(media) >= 2 and manifest["totals"]["media"] == len({m["sha256"] for m in media})
    assert manifest["facts"]["packing"]["buckets"][0]["image_tokens"] == sum(m["token_len"] for m in media)
    batch = next(iter(TokenStream(out / "both", global_batch=2)))
    shown = [m for told in batch.media for m in told]
    assert len(shown) == len(media) and all(m.bytes() for m in shown)
    (found,) = reprove(out)
    assert found.faults == [] and found.rows == 2
