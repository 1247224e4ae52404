"""Running a recipe: reuse, parts of it, samples, the holdout, what one changed input costs."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.manifests.errors import InputError, RecipeError, UsageError
from gristmill.manifests.manifest import published, read_manifest, read_run
from gristmill.manifests.verify import verify
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.cli.run import warnings
from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.plan import make_plan
from gristmill.pipeline.recipe import load_recipe
from gristmill.pipeline.run import Run, RunOptions, load
from gristmill.pipeline.selection import Selection, parse_selection
from tests.laws.corpora import TEXT, prose, write_corpus
from tests.laws.running import call, fingerprint, json_of, run_inline, write_recipe

DATASETS = ("lines", "table", "notes", "filtered", "both", "passed", "train", "holdout")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module", autouse=True)
def _kernels(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiles the kernels where no cache has them: 18 s on two cores, which would count for the first test."""
    run_inline(write_recipe(folder, TEXT), tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def recipe(folder: Path) -> Path:
    return write_recipe(folder, TEXT)


def counted(recipe: Path, out: Path, options: RunOptions | None = None) -> tuple[dict[str, Any], int, int]:
    """Manifests, tasks found done, tasks done."""
    events: list[EngineEvent] = []
    engine = LocalEngine(out, 0)
    manifests = Run(load(load_recipe(recipe)), out, engine, options or RunOptions(), events.append).execute()
    return manifests, sum(e.what == "reuse" for e in events), sum(e.what == "commit" for e in events)


def rows(out: Path, dataset: str) -> list[dict[str, Any]]:
    manifest = read_manifest(out / dataset)
    return [r for s in manifest["shards"] for r in pq.read_table(out / dataset / s["path"]).to_pylist()]


def test_a_second_run_does_nothing(recipe: Path, tmp_path: Path) -> None:
    _, found, done = counted(recipe, tmp_path)
    assert found == 0 and done > 5
    before = fingerprint(tmp_path)
    _, found, again = counted(recipe, tmp_path)
    assert (found, again) == (done, 0)
    assert fingerprint(tmp_path) == before


def test_one_changed_file_costs_its_split_and_the_exchanges(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "c", 1)
    path = write_recipe(corpus, TEXT)
    _, _, all_tasks = counted(path, tmp_path / "out")
    (corpus / "text" / "t3.txt").write_text("A new text, which is the only thing that changed here.")
    plan = make_plan(load(load_recipe(path)), tmp_path / "out")
    states = {d["name"]: d["state"] for d in plan["datasets"]}
    assert states["lines"] == states["table"] == "done"
    assert states["notes"] != "done" and states["both"] == "waiting"
    _, found, done = counted(path, tmp_path / "out")
    assert found > 0 and done < all_tasks
    assert verify(tmp_path / "out").faults == []


def test_repeated_keys_get_ids_of_their_own(recipe: Path, tmp_path: Path) -> None:
    """The keys k0..k96 come again; `garbage` stands twice among the lines: every id is distinct all the same."""
    run_inline(recipe, tmp_path)
    ids = [r["id"] for r in rows(tmp_path, "lines")]
    ledger = [
        row
        for f in read_manifest(tmp_path / "lines")["ledger"]
        for row in pq.read_table(tmp_path / "lines" / f["path"]).to_pylist()
    ]
    assert len({*ids, *(r["id"] for r in ledger)}) == len(ids) + len(ledger)
    garbage = [r for r in ledger if r["reason"] == "bad_json"]
    assert len(garbage) == 2 and garbage[0]["content_hash"] == garbage[1]["content_hash"]


def test_the_holdout_is_in_no_row_and_is_kept(recipe: Path, tmp_path: Path) -> None:
    run_inline(recipe, tmp_path)
    held = {r["content_hash"] for r in rows(tmp_path, "holdout")}
    passed = {r["content_hash"] for r in rows(tmp_path, "passed")}
    assert held and held < passed
    manifest = read_manifest(tmp_path / "train")
    placed: set[bytes] = set()
    for shard in manifest["shards"]:
        table = pa.ipc.open_file(tmp_path / "train" / shard["path"]).read_all()
        placed |= {d["content_hash"] for row in table.column("docs").to_pylist() for d in row}
    assert not placed & held
    step = manifest["steps"][-1]
    assert step["reasons"]["holdout"] == len(rows(tmp_path, "holdout"))
    assert placed | held >= {r["content_hash"] for r in rows(tmp_path, "passed") if r["text"]}


def test_rows_hold_every_token_of_every_document(recipe: Path, tmp_path: Path) -> None:
    run_inline(recipe, tmp_path)
    manifest = read_manifest(tmp_path / "train")
    texts = {r["id"]: r["text"] for r in rows(tmp_path, "passed")}
    pieces: dict[str, dict[int, bytes]] = {}
    for shard in manifest["shards"]:
        for row in pa.ipc.open_file(tmp_path / "train" / shard["path"]).read_all().to_pylist():
            for s in row["segments"]:
                if s["kind"] != "separator":
                    ids = row["input_ids"][s["start"] : s["end"]]
                    pieces.setdefault(row["docs"][s["doc_idx"]]["id"], {})[s["doc_offset"]] = bytes(ids)
    assert pieces
    for key, parts in pieces.items():
        assert b"".join(parts[o] for o in sorted(parts)).decode() == texts[key]


def test_a_sample_is_chosen_by_content_and_marked(recipe: Path, tmp_path: Path) -> None:
    run_inline(recipe, tmp_path / "whole")
    run_inline(recipe, tmp_path / "part", options=RunOptions(sample=0.4))
    whole = {r["id"] for r in rows(tmp_path / "whole", "table")}
    part = {r["id"] for r in rows(tmp_path / "part", "table")}
    assert 0 < len(part) < len(whole)
    assert {r["content_hash"] for r in rows(tmp_path / "part", "table")} < {
        r["content_hash"] for r in rows(tmp_path / "whole", "table")
    }
    manifest = read_manifest(tmp_path / "part" / "table")
    assert manifest["sample"] == 0.4 and manifest["steps"][0]["reasons"]["not_sampled"] == len(whole) - len(part)
    assert read_run(tmp_path / "part")["sample"] == 0.4
    assert verify(tmp_path / "part").faults == []


def select(recipe: Path, option: str, text: str) -> RunOptions:
    return RunOptions(selection=parse_selection(load_recipe(recipe), option, text))


def test_until_stops_behind_a_step_and_says_so(recipe: Path, tmp_path: Path) -> None:
    manifests, _, _ = counted(recipe, tmp_path, select(recipe, "until", "both.exact_dedup"))
    assert sorted(manifests) == ["both", "lines", "notes", "table"]
    assert [s["step"] for s in manifests["both"]["steps"]] == ["from", "exact_dedup"]
    assert manifests["both"]["until"] == "exact_dedup"
    assert not (tmp_path / "train").exists()
    counted(recipe, tmp_path)
    assert read_manifest(tmp_path / "both")["until"] is None


def test_only_and_from_need_what_comes_before(recipe: Path, tmp_path: Path) -> None:
    for option, what in (("only", "both"), ("from", "both.language"), ("from", "train")):
        with pytest.raises(UsageError, match="not finished"):
            counted(recipe, tmp_path, select(recipe, option, what))
    counted(recipe, tmp_path, select(recipe, "until", "both"))
    counted(recipe, tmp_path, select(recipe, "only", "passed"))
    counted(recipe, tmp_path, select(recipe, "from", "train"))
    assert [n for n, _ in published(tmp_path)] == [name for name in DATASETS if name != "filtered"]
    counted(recipe, tmp_path, select(recipe, "only", "filtered"))
    run_inline(recipe, tmp_path / "whole")
    assert fingerprint(tmp_path / "whole").items() <= fingerprint(tmp_path).items()


@pytest.mark.parametrize("text", ["nope", "lines.nope"])
def test_a_part_that_is_not_there_is_named(recipe: Path, text: str) -> None:
    with pytest.raises(UsageError, match="nope"):
        parse_selection(load_recipe(recipe), "until", text)
    assert Selection() == Selection("")


def test_rows_cannot_be_an_origin(folder: Path) -> None:
    text = TEXT + "  more:\n    from: [train]\n"
    with pytest.raises(RecipeError, match="cannot be made from trainer rows"):
        load(load_recipe(write_recipe(folder, text, "bad.yaml")))


def test_emit_must_be_last(folder: Path) -> None:
    text = TEXT.replace("- emit: {context: 1024}", "- emit: {context: 1024}\n      - exact_dedup")
    with pytest.raises(RecipeError, match="must be the last"):
        load(load_recipe(write_recipe(folder, text, "bad.yaml")))


def test_no_input_is_an_error_that_names_the_glob(folder: Path, tmp_path: Path) -> None:
    path = write_recipe(folder, TEXT.replace("jsonl/*.jsonl*", "nothing/*.here"), "bad.yaml")
    with pytest.raises(InputError, match=r"nothing/\*.here"):
        run_inline(path, tmp_path)


def test_measures_of_all_records_on_demand(recipe: Path, tmp_path: Path) -> None:
    run_inline(recipe, tmp_path, options=RunOptions(measures_all=True))
    manifest = read_manifest(tmp_path / "lines")
    ids = {row["id"] for f in manifest["measures"] for row in pq.read_table(tmp_path / "lines" / f["path"]).to_pylist()}
    assert len(ids) == manifest["steps"][1]["records_in"]


def printed(capfd: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, Any]:
    """The JSON object that a command prints, called in this process: kernels are compiled, or loaded, once."""
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capfd.readouterr().out)


def test_the_command_reports_in_json(recipe: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = ("run", recipe, "--out", tmp_path / "o", "--workers", "0")
    done = printed(capfd, *run)
    assert [d["name"] for d in done["datasets"]] == list(DATASETS)
    planned = printed(capfd, "plan", recipe, "--out", tmp_path / "o")
    assert {d["state"] for d in planned["datasets"]} == {"done"}
    again = printed(capfd, *run)
    assert [d["digest"] for d in again["datasets"]] == [d["digest"] for d in done["datasets"]]
    events = (tmp_path / "o" / "events.jsonl").read_text().splitlines()
    assert sum(json.loads(e)["what"] == "reuse" for e in events) > 5


JOINED = """\
name: joined
tokenizer: bytes
datasets:
  a:
    read: {jsonl: "a.jsonl"}
  b:
    read: {jsonl: "b.jsonl"}
  once:
    from: [a]
    steps: [{gopher_quality: {min_doc_words: 1}}]
  all:
    from: [a, b, once]
  unique:
    from: [a, b, once]
    steps: [exact_dedup]
"""


def test_joined_records_with_one_key_get_ids_of_their_own(tmp_path: Path) -> None:
    """Two crawls of a page, and one record by two ways: each has an id, and the new ones name the old as parent."""
    pages = [{"url": f"http://x.example/{n}", "text": prose(n, 80)} for n in range(6)]
    for name, change in (("a", ""), ("b", " changed")):
        lines = [json.dumps(p | {"text": p["text"] + change * (n % 2)}) for n, p in enumerate(pages)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "out"
    run_inline(write_recipe(tmp_path, JOINED), out)
    joined = rows(out, "all")
    ids = {r["id"] for r in joined}
    assert len(joined) == len(ids) == len(rows(out, "a")) + len(rows(out, "b")) + len(rows(out, "once"))
    old = {r["id"] for r in rows(out, "a")}
    assert sum(r["id"] in old for r in joined) == len(old)
    assert all(r["parents"][0] in old for r in joined if r["id"] not in old)
    assert len(rows(out, "unique")) == len({r["content_hash"] for r in joined})
    assert verify(out, deep=True).faults == []


def test_upstream_names_only_what_a_dataset_was_made_from(recipe: Path, tmp_path: Path) -> None:
    """`--only` finds the work of a whole run, while a sample stands in the folder of what it is made from."""
    run_inline(recipe, tmp_path)
    assert {u["name"] for u in read_manifest(tmp_path / "both")["upstream"]} == {"lines", "table", "notes"}
    options = RunOptions(sample=0.3, selection=parse_selection(load_recipe(recipe), "until", "lines"))
    run_inline(recipe, tmp_path, options=options)
    only = RunOptions(selection=parse_selection(load_recipe(recipe), "only", "both"))
    made = run_inline(recipe, tmp_path, options=only)["both"]
    assert {u["name"] for u in made["upstream"]} == {"table", "notes"}
    assert verify(tmp_path, deep=True).faults == []


def test_a_source_that_is_quarantined_whole_is_warned_of(tmp_path: Path) -> None:
    """A key that no record has: the run is done, its books balance, and it says loudly what it lost."""
    lines = [json.dumps({"id": str(n), "text": prose(n, 40)}) for n in range(9)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = "name: x\ndatasets:\n  d:\n    read: {jsonl: a.jsonl, key: nokey}\n"
    path = write_recipe(tmp_path, text)
    done = call("run", path, "--out", tmp_path / "out", "--workers", "0", "--quiet")
    assert done.returncode == 0
    assert "WARNING: d.read quarantined 9 of 9 records of d, most for missing_key" in done.stdout


OPTIONAL = """\
name: optional
tokenizer: bytes
holdout: {frac: 0.5}
datasets:
  web:
    read: {warc: ["web/*.warc.gz", "none/*.warc"], optional: true}
    steps: [extract_html, exact_dedup, gopher_quality]
  there:
    read: {text: ["none/*.txt", "text/t1.txt"], optional: true}
  all:
    from: [web, there]
    steps: [exact_dedup]
  rows:
    from: [web]
    steps: [{emit: {context: 64}}]
"""


def test_an_optional_dataset_without_files_is_empty(folder: Path, tmp_path: Path) -> None:
    """All steps pass over nothing; the books balance, and the run warns; a glob beside it is read all the same."""
    path = write_recipe(folder, OPTIONAL, "optional.yaml")
    manifests = run_inline(path, tmp_path)
    assert {n: m["totals"]["records"] for n, m in manifests.items()} == {
        "web": 0, "there": 1, "all": 1, "rows": 0, "holdout": 0,
    }  # fmt: skip
    warning = "WARNING: web read nothing: no file matches web/*.warc.gz, none/*.warc"
    assert warnings(manifests) == [warning]
    assert verify(tmp_path, deep=True).faults == []
    plan = make_plan(load(load_recipe(path)), tmp_path)
    assert [(d["inputs"], d["state"]) for d in plan["datasets"][:2]] == [(0, "done"), (1, "done")]


def test_what_is_optional_must_be_readable_where_it_is(folder: Path, tmp_path: Path) -> None:
    """No file is one thing, a file that cannot be read or the output itself another."""
    (folder / "own" / "objects").mkdir(parents=True)
    (folder / "own" / "objects" / "a.warc").touch()
    path = write_recipe(folder, OPTIONAL.replace("web/*.warc.gz", "own/objects/*.warc"), "own.yaml")
    with pytest.raises(InputError, match="only files of the output itself"):
        run_inline(path, folder / "own")
    path = write_recipe(folder, OPTIONAL.replace("web/*.warc.gz", "nosuch://x/*.warc"), "own.yaml")
    with pytest.raises(InputError, match="cannot be read"):
        run_inline(path, tmp_path)


def test_what_a_rebuilt_dataset_leaves_behind_is_stale(recipe: Path, tmp_path: Path) -> None:
    run_inline(recipe, tmp_path)
    counted(recipe, tmp_path, select(recipe, "until", "lines.read"))
    listed = {d["name"]: d["stale"] for d in json_of(call("ls", tmp_path, "--json"))["datasets"]}
    assert listed["both"] and not listed["lines"] and not listed["table"]
    run_inline(recipe, tmp_path)
    assert not any(d["stale"] for d in json_of(call("ls", tmp_path, "--json"))["datasets"])


def test_a_tokenizer_that_is_not_there_is_told_before_any_work(folder: Path) -> None:
    path = write_recipe(folder, TEXT.replace("tokenizer: bytes", "tokenizer: gpt2"), "bad.yaml")
    with pytest.raises(RecipeError, match=r"bad\.yaml: tokenizer: no such tokenizer: 'gpt2'; name one of"):
        load(load_recipe(path))


def test_all_inputs_are_looked_for_before_any_work(folder: Path, tmp_path: Path) -> None:
    path = write_recipe(folder, TEXT.replace("text/**/*.txt", "nothing/*.txt"), "bad.yaml")
    with pytest.raises(InputError, match=r"bad\.yaml:\d+: no file matches"):
        run_inline(path, tmp_path)
    assert not list(tmp_path.glob("objects/*"))


def test_the_plan_s_hashes_follow_what_decides_a_dataset(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path)
    text = TEXT

    def hashes() -> dict[str, str]:
        plan = make_plan(load(load_recipe(write_recipe(corpus, text))), None)
        return {d["name"]: d["hash"] for d in plan["datasets"]}

    first = hashes()
    assert len(set(first.values())) == len(first) and hashes() == first
    (corpus / "text" / "t1.txt").write_text("other", encoding="utf-8")
    second = hashes()
    assert {n for n in first if first[n] != second[n]} == {"notes", "both", "passed", "train"}
    text = TEXT.replace("context: 1024", "context: 512")
    assert {n for n, h in hashes().items() if h != second[n]} == {"train"}
