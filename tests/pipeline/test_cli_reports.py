"""The commands that tell of a finished run: their JSON for scripts, their lines for people, their exit codes."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests import errors
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.schema import record_id
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.run import RunOptions
from gristmill.pipeline.selection import Selection
from tests.laws.running import run_inline
from tests.manifests.small_run import copy_run, forge_manifest, make_run, write_inputs

ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of the small run; not to be changed."""
    return make_run(tmp_path_factory.mktemp("reports"))


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return copy_run(finished, tmp_path / "out")


class Command:
    """Calls the command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str | Path, code: int = 0) -> str:
        """Standard output; the exit code must be `code`."""
        assert main([str(word) for word in words]) == code
        self.told = self._capsys.readouterr()
        assert ESCAPE not in self.told.out, "text from data drives no terminal"
        return self.told.out

    def json(self, *words: str | Path, code: int = 0) -> dict[str, Any]:
        """The one object on standard output."""
        return json.loads(self(*words, "--json", code=code))


@pytest.fixture
def gristmill(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


def test_ls_json(finished: Path, gristmill: Command) -> None:
    listing = gristmill.json("ls", finished)
    assert listing["engine"] == "local"
    assert [d["name"] for d in listing["datasets"]] == ["a", "b", "corpus", "train", "holdout"]
    for dataset in listing["datasets"]:
        assert dataset.keys() >= {"name", "path", "digest", "records", "tokens", "steps"}
        manifest = json.loads((finished / dataset["path"] / "manifest.json").read_bytes())
        assert manifest["digest"] == dataset["digest"]
        for shard in manifest["shards"]:
            assert (finished / dataset["path"] / shard["path"]).is_file()
        for step in dataset["steps"]:
            names = ("step", "records_in", "kept", "dropped", "quarantined", "derived", "reasons")
            assert step.keys() >= set(names)
            gone = step["dropped"] + step["quarantined"]
            assert step["records_in"] + step["derived"] == step["kept"] + gone
            assert sum(step["reasons"].values()) == gone
        assert dataset["records"] == dataset["steps"][-1]["kept"]
    steps = {d["name"]: [s["step"] for s in d["steps"]] for d in listing["datasets"]}
    assert steps["a"] == ["read", "short"]
    assert steps["corpus"] == ["from", "exact_dedup", "long"]
    assert steps["train"] == ["from", "emit"]
    train = next(d for d in listing["datasets"] if d["name"] == "train")
    assert train["tokens"] > 0 and train["rows"] > 0


def test_ls_for_people(finished: Path, gristmill: Command) -> None:
    lines = gristmill("ls", finished).splitlines()
    assert "a\tread\t69\t68\t0\t1\t0\tbad_json 1" in lines
    assert "a\tshort\t68\t58\t10\t0\t0\tn_words_below 10" in lines
    assert any(line.startswith("train\trows\t56\t") and "\tcomplete\t" in line for line in lines)


def test_ls_of_one_dataset(finished: Path, gristmill: Command) -> None:
    listing = gristmill.json("ls", finished / "a")
    assert [(d["name"], d["path"], d["records"]) for d in listing["datasets"]] == [("a", ".", 58)]
    assert listing["engine"] == "local"


def test_a_sample_is_marked_everywhere(tmp_path: Path, gristmill: Command) -> None:
    run_inline(write_inputs(tmp_path), tmp_path / "out", options=RunOptions(sample=0.5))
    listing = gristmill.json("ls", tmp_path / "out")
    assert listing["sample"] == 0.5
    assert all(d["sample"] == 0.5 for d in listing["datasets"])
    told = gristmill("ls", tmp_path / "out")
    assert told.startswith("THIS IS A SAMPLE of 0.5 of the input")
    assert told.count("SAMPLE of 0.5") == 1 + len(listing["datasets"])
    assert gristmill.json("verify", tmp_path / "out")["ok"]
    assert "SAMPLE of 0.5" in gristmill("ls", tmp_path / "out" / "a")


def test_a_run_that_stopped_early(tmp_path: Path, gristmill: Command) -> None:
    recipe = write_inputs(tmp_path)
    until = RunOptions(selection=Selection("until", "corpus", "exact_dedup"))
    run_inline(recipe, tmp_path / "out", options=until)
    listing = gristmill.json("ls", tmp_path / "out")
    assert listing["pending"] == ["train", "holdout"]
    assert [d["until"] for d in listing["datasets"]] == [None, None, "exact_dedup"]
    told = gristmill("ls", tmp_path / "out")
    assert "not made yet: train, holdout" in told
    assert "only until exact_dedup" in told
    assert gristmill.json("verify", tmp_path / "out")["pending"] == ["train", "holdout"]
    recipe.write_text(recipe.read_text().replace("seed: 3", "seed: 4"))
    run_inline(recipe, tmp_path / "out", options=RunOptions(selection=Selection("until", "b", None)))
    assert [d["stale"] for d in gristmill.json("ls", tmp_path / "out")["datasets"]] == [True, False, True]


def test_verify(out: Path, gristmill: Command) -> None:
    report = gristmill.json("verify", out)
    assert report.keys() >= {"ok", "checked", "faults"}
    assert (report["ok"], report["faults"]) == (True, [])
    assert report["checked"] > 40
    assert "sound: 5 datasets" in gristmill("verify", out, "--deep")
    shard = next((out / "b").glob("part-*"))
    raw = bytearray(shard.read_bytes())
    raw[-1] ^= 1
    shard.write_bytes(raw)
    report = gristmill.json("verify", out, code=errors.EXIT_VERIFY)
    assert report["ok"] is False
    assert {"path": f"b/{shard.name}", "kind": "digest"}.items() <= report["faults"][0].items()
    told = gristmill("verify", out, code=errors.EXIT_VERIFY)
    assert told.startswith(f"b/{shard.name}: digest: blake3:")
    assert "NOT SOUND" in told


def test_verify_of_names_that_drive_a_terminal(out: Path, gristmill: Command) -> None:
    (out / "a" / f"{ESCAPE}[31mred\n.parquet").write_bytes(b"")
    told = gristmill("verify", out, code=errors.EXIT_VERIFY)
    assert r"a/\x1b[31mred\n.parquet: unnamed" in told


@pytest.mark.parametrize("command", ["ls", "verify", "show"])
def test_no_output(tmp_path: Path, gristmill: Command, command: str) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        report = gristmill.json(command, folder, code=errors.EXIT_INPUT)
        assert report["error"]["exit_code"] == errors.EXIT_INPUT
        assert gristmill.told.err.count("\n") == 1


def test_trace(finished: Path, gristmill: Command) -> None:
    traced = gristmill.json("trace", finished, "https://example.org/0")
    assert traced.keys() >= {"id", "events", "url", "source", "others"}
    for event in traced["events"]:
        assert event.keys() >= {"step", "verdict", "reason", "value", "limit", "keeper", "dataset"}
    last = traced["events"][-1]
    assert (last["verdict"], last["reason"], last["value"], last["limit"]) == ("drop", "n_words_below", 3.0, 8.0)
    told = gristmill("trace", finished, traced["id"][:10])
    assert "a\tshort\tdrop\tn_words_below; n_words 3, limit 8; read from a.jsonl" in told
    assert gristmill.json("trace", finished, "--grep", "document number 13 has")["url"].endswith("/13")


def test_trace_of_a_duplicate_says_how_to_go_on(finished: Path, gristmill: Command) -> None:
    urls = [f"https://{host}example.org/4" for host in ("", "mirror.")]
    traces = {url: gristmill.json("trace", finished, url) for url in urls}
    url, traced = next((u, t) for u, t in traces.items() if t["events"][-1]["keeper"])
    keeper = traced["events"][-1]["keeper"]
    assert keeper in {t["id"] for t in traces.values()}
    assert f"gristmill trace {finished} {keeper}" in gristmill("trace", finished, url)


def test_trace_into_rows(finished: Path, gristmill: Command) -> None:
    told = gristmill("trace", finished, "b9")
    assert "train\temit\tkeep\trow " in told or "train\temit\tdrop\tholdout" in told
    placed = next(t for t in (gristmill.json("trace", finished, f"b{n}") for n in range(12)) if t["events"][-1]["rows"])
    assert placed["events"][-1]["rows"][0].keys() == {"row_id", "segments"}


def test_trace_finds_nothing_or_too_much(finished: Path, gristmill: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gristmill.json("trace", finished, "f" * 32, code=errors.EXIT_INPUT)["error"]["what"] == "no such record"
    monkeypatch.setattr("gristmill.manifests.find.MIN_PREFIX_CHARS", 1)
    for digit in "0123456789abcdef":
        words = [str(w) for w in ("trace", finished, digit, "--json")]
        if main(words) == errors.EXIT_NO_VERDICT:
            break
    else:
        pytest.fail("each digit begins one id at most")


@pytest.mark.parametrize("words", [[], ["x", "--grep", "y"], [""], ["--grep", ""]])
def test_trace_of_nothing(finished: Path, gristmill: Command, words: list[str]) -> None:
    gristmill("trace", finished, *words, code=errors.EXIT_USAGE)


def test_show(finished: Path, gristmill: Command) -> None:
    shown = gristmill.json("show", finished, "a", "--verdict", "drop")["samples"]
    assert len(shown) == 3
    assert {(s["dataset"], s["step"], s["reason"]) for s in shown} == {("a", "short", "n_words_below")}
    assert len(gristmill.json("show", finished, "a", "--reason", "n_words_below", "--limit", "50")["samples"]) == 10
    assert len(gristmill.json("show", finished, "a", "--step", "read")["samples"]) == 1
    everything = gristmill.json("show", finished)["samples"]
    assert {s["dataset"] for s in everything} >= {"a", "b", "corpus", "train"}
    assert gristmill.json("show", finished / "a")["samples"] == gristmill.json("show", finished, "a")["samples"]
    told = gristmill("show", finished, "a", "--verdict", "drop", "--limit", "1")
    assert told.startswith("a.short: drop n_words_below (n_words 3, limit 8)\n  id ")


def test_show_escapes_what_would_drive_a_terminal(finished: Path, gristmill: Command) -> None:
    told = gristmill("show", finished, "b", "--chars", "20")
    assert r"\x1b[31m code" in told
    assert "characters more" in told


def test_show_of_a_dataset_that_is_not_there(finished: Path, gristmill: Command) -> None:
    gristmill("show", finished, "corpsu", code=errors.EXIT_USAGE)
    assert "did you mean corpus" in gristmill.told.err
    gristmill("show", finished, "a", "--limit", "-1", code=errors.EXIT_USAGE)


def test_diff(finished: Path, out: Path, gristmill: Command) -> None:
    assert gristmill("diff", finished, out).startswith("the same")
    same = gristmill.json("diff", finished, out)
    assert same["same"] is True
    forge_manifest(out / "a", lambda m: m.update(seed=99))
    told = gristmill("diff", finished, out)
    assert "a: the same files, described differently" in told
    assert "seed: 3 in A, 99 in B" in told
    found = gristmill.json("diff", finished / "a", finished / "b")
    assert found["same"] is False
    dataset = found["datasets"][0]
    assert dataset.keys() >= {"name", "same", "digest_a", "digest_b", "steps", "changed", "examples"}
    assert dataset["changed"].keys() >= {"kept_to_dropped", "dropped_to_kept", "only_a", "only_b"}
    assert dataset["steps"][0].keys() == {"step", "a", "b"}
    assert dataset["examples"][0].keys() >= {"id", "a", "b"}
    told = gristmill("diff", finished / "a", finished / "b", "--examples", "1")
    assert "69 records only A has seen" in told
    gristmill("diff", finished, out, "--examples", "-1", code=errors.EXIT_USAGE)


def on_a_terminal(*words: str | Path) -> str:
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gristmill.pipeline.cli.main", *map(str, words)]
    environment = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    told = b""
    while True:
        try:
            chunk = os.read(ours, 1 << 16)
        except OSError:
            break
        if not chunk:
            break
        told += chunk
    os.close(ours)
    assert process.wait() == 0
    return told.decode()


def test_on_a_terminal(finished: Path) -> None:
    listing = on_a_terminal("ls", finished)
    assert listing.count("corpus") == 2, "in the summary, and once over its steps"
    assert "sound: 5 datasets" in on_a_terminal("verify", finished)
    shown = on_a_terminal("show", finished, "b", "--limit", "1")
    assert r"\x1b[31m" in shown and "\x1b[31m" not in shown
    assert "keep" in on_a_terminal("trace", finished, record_id("key", "b", "b3"))


def test_a_manifest_is_read_by_its_seal(out: Path, gristmill: Command) -> None:
    path = out / "a" / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"kept":58', b'"kept":59'))
    report = gristmill.json("ls", out, code=errors.EXIT_VERIFY)
    assert "digest does not match" in report["error"]["what"]
    assert read_manifest(out / "b")["name"] == "b"
