"""Sequences of the experiment: what is asked can be read off the text, and nothing depends on the processes."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.manifests.errors import EngineMissingError, UsageError
from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.synth.experiment import __main__ as command
from gristmill.synth.experiment import model, sequences
from gristmill.synth.experiment.intervals import paired, wilson
from gristmill.synth.experiment.report import pooled, table
from gristmill.synth.experiment.settings import ARMS, CONTEXT, DISTANCE_EDGES, KINDS, Data

DATA = Data(seed=3, sequences=2, scored=2, documents=2)
DOCUMENTS = 90
NAME = re.compile(r"[A-Z][a-z]{6,8}\b")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    sequences.make("stdlib", folder, ARMS, DATA, 1, DOCUMENTS)
    return folder


@pytest.fixture(scope="module")
def tokenizer(made: Path) -> Tokenizer:
    return load_tokenizer(str(made / "tokenizer.json"), isolated=False)


def items(made: Path, name: str) -> Mapping[str, Any]:
    return dict(np.load(made / f"score-{name}.npz"))


def test_the_bytes_do_not_depend_on_the_processes(made: Path, tmp_path: Path) -> None:
    for kept in (made / "tokenizer.json", *made.glob("score-*.npz")):
        (tmp_path / kept.name).write_bytes(kept.read_bytes())
    sequences.make("stdlib", tmp_path, ("tasks",), DATA, 2, DOCUMENTS)
    for name in ("tasks.ids.npy", "tasks.kinds.npy"):
        assert (tmp_path / name).read_bytes() == (made / name).read_bytes()


def test_arms_are_of_the_kinds_that_they_say(made: Path) -> None:
    kinds = {arm: np.load(made / f"{arm}.kinds.npy") for arm in ARMS}
    firsts = {arm: int((k == KINDS.index("first")).sum()) for arm, k in kinds.items()}
    assert firsts["plain"] == firsts["permuted"] == 0 and firsts["tasks"] == firsts["random"] > 20
    records = (kinds["tasks"] == KINDS.index("record")).mean()
    assert records > 0.08 and kinds["tasks"].shape == (DATA.sequences, CONTEXT)


def test_random_answers_stand_behind_the_same_questions(made: Path, tokenizer: Tokenizer) -> None:
    def told(arm: str, kind: str) -> list[str]:
        ids, kinds = np.load(made / f"{arm}.ids.npy")[0], np.load(made / f"{arm}.kinds.npy")[0]
        runs = np.split(np.arange(CONTEXT), np.flatnonzero(np.diff(kinds == KINDS.index(kind))) + 1)
        return [tokenizer.decode(ids[r].astype(np.uint32)) for r in runs if kinds[r[0]] == KINDS.index(kind)]

    assert told("tasks", "query") == told("random", "query")
    assert told("tasks", "first") != told("random", "first")


@pytest.mark.parametrize("name", sequences.SETS)
def test_one_hop_is_read_off_the_record_at_its_distance(made: Path, tokenizer: Tokenizer, name: str) -> None:
    """The evidence is a record that holds the answer, and a name that the question holds as well."""
    found = items(made, name)
    assert len(found["row"]) > 10
    for at in np.flatnonzero(found["hops"] == 1).tolist():
        ids, place = found["ids"][found["row"][at]].astype(np.uint32), int(found["place"][at])
        start = place - int(found["distance"][at])
        record = tokenizer.decode(ids[start:place]).split("\n\n")[0]
        asked = tokenizer.decode(ids[:place]).rsplit("\n\n", 1)[1]
        answer = tokenizer.decode(ids[place : place + 12]).split("\n\n")[0]
        assert answer in record and NAME.findall(record) and set(NAME.findall(record)) & set(NAME.findall(asked))
        assert int(found["candidates"][at][found["right"][at]]) == int(ids[place])


def test_evidence_stands_in_front_at_a_distance_that_has_a_bin(made: Path) -> None:
    for name in sequences.SETS:
        found = items(made, name)
        assert (found["distance"] > 0).all() and (found["distance"] < DISTANCE_EDGES[-1]).all()
        assert set(found["hops"].tolist()) == {1, 2, 3}
        assert (found["left"] >= 2).all() and (found["left"] <= 8).all()


def test_intervals() -> None:
    low, high = wilson(50, 100)
    assert (round(low, 4), round(high, 4)) == (0.4038, 0.5962)
    assert wilson(0, 0) == (0.0, 1.0) and wilson(0, 9)[0] == 0.0
    change, low, high = paired([1.1, 2.2, 3.3], [1.0, 2.0, 3.0])
    assert abs(change - 0.1) < 1e-9 and low <= change <= high


def result(seed: int, right: int) -> dict[str, Any]:
    cell = {"set": "held_out_templates", "window": None, "hops": 1, "distance": 4096, "guess": 2.0}
    scores = {"answers": [cell | {"asked": 20, "right": right}], "documents": [2.0, 3.0], "positions": [], "copies": []}
    scores["positions"] = [{"from": 0, "to": 128, "loss": 3.0}]
    copies = [{"distance": d, "tokens": 10, "first": 1, "again": 5} for d in (256, 1024, 2048, 4096, 7000)]
    told = {"parameters": 1_000_000, "tokens": 5_000_000, "seconds": 9.0, "done": True}
    return {
        "data": {"data": {"seed": seed}},
        "training": {"tasks": told},
        "scores": {"tasks": scores | {"copies": copies}},
    }


def test_seeds_are_pooled_and_one_alone_is_called_indicative() -> None:
    both = [result(1, 10), result(2, 16)]
    assert pooled(both, "tasks", hops=1)[:2] == (26, 40)
    assert "65.0 [49.5, 77.9] (50 / 80)" in table(both) and "Indicative" not in table(both)
    assert "Indicative: one seed alone" in table(both[:1])


def test_a_missing_accelerator_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(model, "torch", None)
    with pytest.raises(EngineMissingError, match="PyTorch is not installed"):
        model.need_torch("cpu")
    assert command.main(["train", "--work", "nowhere"]) == UsageError.exit_code
    assert "gristmill[experiment]" in capsys.readouterr().err
    assert command.main(["make", "--work", "nowhere", "--arms", "plain,other"]) == UsageError.exit_code
    assert command.main([]) == UsageError.exit_code
