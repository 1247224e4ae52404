"""Law 2 for what depends on the machine: recorded once, replayed to the same bytes.

`tests/extras/test_equality.py` replays on the other engines.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gristmill.manifests.canonical import canonical_json, sealed
from gristmill.manifests.child import ChildFailure, ChildLimits
from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.effects import EFFECTS, ask_child, effects_of_task, facts_of_effects, settled
from gristmill.manifests.errors import EXIT_VERIFY, VerifyError
from gristmill.manifests.open_store import open_store
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.protocol import Engine
from gristmill.pipeline.replay import Replay
from gristmill.pipeline.run import RunOptions
from tests.laws.moody import reasons, seconds_that_part
from tests.laws.running import call, fingerprint, run_inline, run_on

TARGETS = "tests.manifests.child_targets"


@pytest.fixture(scope="module")
def moody(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The recipe and the output that was made first."""
    return seconds_that_part(tmp_path_factory.mktemp("moody"))


ENGINES: dict[str, Callable[[Path], Engine]] = {
    "in process": lambda out: LocalEngine(out, 0),
    "two workers": lambda out: LocalEngine(out, 2),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_replayed_run_has_the_bytes_of_the_first(moody: tuple[Path, Path], tmp_path: Path, engine: str) -> None:
    recipe, first = moody
    out = tmp_path / "out"
    replay = Replay(open_store(first), str(first))
    run_on(ENGINES[engine](out), recipe, out, RunOptions(replay=replay))
    assert replay.recorded == replay.tasks > 4
    assert fingerprint(out) == fingerprint(first)
    assert "html_timeout" in reasons(out)


def test_the_command_replays(moody: tuple[Path, Path], tmp_path: Path) -> None:
    recipe, first = moody
    done = call("run", recipe, "--out", tmp_path / "out", "--workers", "2", "--replay", first, "--quiet")
    assert done.returncode == 0, done.stderr
    assert fingerprint(tmp_path / "out") == fingerprint(first)
    assert call("verify", tmp_path / "out", "--deep").returncode == 0
    for wrong in (tmp_path, "", "a" * 300, "gs://b/x"):
        told = call("run", recipe, "--out", tmp_path / "out", "--replay", wrong)
        assert (told.returncode, "--replay" in told.stderr, told.stderr.count("\n")) == (2, True, 1)


def test_what_is_not_replayed_is_told(moody: tuple[Path, Path], tmp_path: Path) -> None:
    """An output begun without the record, or a record with less in it, has other bytes: never without a word."""
    recipe, first = moody
    done = call("run", recipe, "--out", tmp_path / "mine", "--set", "seed=2", "--replay", first, "--workers", "0")
    assert done.returncode == 0
    assert "have no record in" in done.stdout
    forged = tmp_path / "forged"
    shutil.copytree(first, forged)
    for path in (forged / "objects").glob("*/receipt.json"):
        document = {k: v for k, v in json.loads(path.read_bytes()).items() if k != "digest"}
        if document["facts"].pop(EFFECTS, None):
            path.unlink()
            path.write_bytes(canonical_json(sealed(document)))
    for replayed, out in ((forged, tmp_path / "other"), (forged, first)):
        told = call("run", recipe, "--out", out, "--replay", replayed, "--workers", "0", "--quiet")
        assert told.returncode == EXIT_VERIFY
        assert "not the bytes of the replayed output" in told.stderr


@pytest.mark.parametrize(
    "effects", [7, [], {"0": "timeout"}, {"0": ["k", "exploded", ""]}, {"0": ["k", "died", 7]}, None]
)
def test_a_forged_record_is_told(moody: tuple[Path, Path], tmp_path: Path, effects: object) -> None:
    recipe, first = moody
    forged = tmp_path / "forged"
    shutil.copytree(first, forged)
    for path in (forged / "objects").glob("*/receipt.json"):
        document = {k: v for k, v in json.loads(path.read_bytes()).items() if k != "digest"}
        document["facts"][EFFECTS] = effects
        path.unlink()
        path.write_bytes(canonical_json(sealed(document)))
    with pytest.raises(VerifyError, match="its effects are no record"):
        run_inline(recipe, tmp_path / "out", options=RunOptions(replay=Replay(open_store(forged), "forged")))


def test_equal_payloads_of_a_task_may_fare_differently() -> None:
    """A page that stands twice, and once took too long."""
    late = ChildFailure("timeout", "over 1 s")
    with effects_of_task(None):
        assert settled("c", [b"p", b"p"], lambda asked, patience: [late, b"ok"]) == [late, b"ok"]
        assert settled("c", [b"p"], lambda asked, patience: [late]) == [late]
        recorded = facts_of_effects()[EFFECTS]
    with effects_of_task(recorded):
        assert settled("c", [b"p", b"p"], lambda asked, patience: [b"ok"] * len(asked)) == [late, b"ok"]
        assert settled("c", [b"p"], lambda asked, patience: []) == [late]
    with effects_of_task(recorded), pytest.raises(VerifyError, match="of other questions"):
        settled("c", [b"q"], lambda asked, patience: [])


def test_the_record_holds_failures_alone_and_every_one(moody: tuple[Path, Path]) -> None:
    _, first = moody
    receipts = [open_store(first).find(path.name) for path in (first / "objects").iterdir()]
    met = [pair for r in receipts if r is not None for pair in r.facts.get(EFFECTS, {}).values()]
    assert [kind for _, kind, _ in met] == ["timeout"] * reasons(first).count("html_timeout")


def attempt(store: ObjectStore, text: str, met: str) -> Receipt:
    """One attempt at the same key."""
    with store.begin("ab" * 16, {}) as writer:
        file = writer.create()
        file.write(text.encode())
        writer.add(file, "data", "data.txt", 1)
        return writer.commit({EFFECTS: {met: ["k", "timeout", ""]}} if met else {})


@pytest.mark.parametrize("met", [("0", ""), ("", "0"), ("0", "1")])
def test_of_two_attempts_that_met_effects_the_first_holds(tmp_path: Path, met: tuple[str, str]) -> None:
    store = ObjectStore(tmp_path)
    first = attempt(store, "first", met[0])
    assert attempt(store, "second", met[1]).digest == first.digest
    assert sorted(p.name for p in store.folder(first.key).iterdir()) == sorted([first.files[0].path, "receipt.json"])
    assert store.path(first.key, first.files[0]).read_text() == "first"


@pytest.mark.parametrize("met", ["", "0"])
def test_attempts_that_met_the_same_must_agree(tmp_path: Path, met: str) -> None:
    attempt(ObjectStore(tmp_path), "first", met)
    with pytest.raises(VerifyError, match="not deterministic"):
        attempt(ObjectStore(tmp_path), "second", met)


def test_a_recorded_failure_is_not_tried_and_a_recorded_answer_gets_its_time() -> None:
    limits = ChildLimits(max_seconds_per_record=0.5)
    slow = b"1.5"
    with effects_of_task(None):
        assert isinstance(ask_child(f"{TARGETS}:slow", limits, [slow])[0], ChildFailure)
        recorded = facts_of_effects()[EFFECTS]
    with effects_of_task(recorded):
        again = ask_child(f"{TARGETS}:slow", limits, [slow, b"0", slow])
        assert [isinstance(a, ChildFailure) for a in again] == [True, False, False]
        assert facts_of_effects()[EFFECTS] == recorded
    with effects_of_task({}):
        assert isinstance(ask_child(f"{TARGETS}:slow", limits, [slow])[0], bytes)
        assert facts_of_effects() == {}


def test_what_the_record_answers_must_be_answered_here() -> None:
    fails = ChildFailure("memory", "over 1 bytes")
    with effects_of_task({}), pytest.raises(VerifyError, match=r"has an answer.*without --replay"):
        settled("child", [b"a"], lambda asked, patience: [fails] * len(asked))


def test_a_refusal_is_no_effect() -> None:
    with effects_of_task({}):
        answers = settled("child", [b"a"], lambda asked, patience: [ChildFailure("error", "why")])
        assert answers == [ChildFailure("error", "why")]
        assert facts_of_effects() == {}
