"""`classifier train` and `eval`: whole trainings, small; equal bytes, no leak, the card, other scorers, refusals."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.manifests.errors import InputError, NoVerdictError, UsageError
from gristmill.pipeline.classifier.evaluation import EvalOptions, evaluate
from gristmill.pipeline.classifier.inputs import Reading, read_side
from gristmill.pipeline.classifier.train import TrainOptions, train
from gristmill.pipeline.cli.main import main
from gristmill.stages.quality.model import open_model
from gristmill.stages.quality.model_file import read_model
from tests.laws.corpora import prose
from tests.laws.running import call, json_of, run_inline, write_recipe
from tests.stages.quality.onnx_bytes import VECTORS, WEIGHTS, model_bytes, tokenizer_bytes
from tests.stages.quality.tiny_model import SMALL, links, options, write_labelled


def quiet(_: str) -> None:
    return


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainOptions, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("trained")
    chosen = options(folder / "docs", folder / "out")
    return chosen, train(chosen, quiet)


def test_the_same_documents_give_the_same_bytes(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    chosen, _ = trained
    train(replace(chosen, out=tmp_path), quiet)
    made = {path.name: path.read_bytes() for path in chosen.out.iterdir()}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == made
    assert set(made) == {
        *("tiny.gmq", "tiny.card.json", "tiny.card.md", "tiny.inputs.json"),
        *("tiny.reliability.png", "tiny.scores.png"),
    }


def test_it_tells_good_from_bad(trained: tuple[TrainOptions, dict[str, Any]]) -> None:
    _, card = trained
    assert card["test"]["auc"] > 0.95
    assert card["test"]["decision"]["precision"] > 0.9


def test_the_card_names_every_input_by_content(trained: tuple[TrainOptions, dict[str, Any]]) -> None:
    chosen, card = trained
    assert json.loads((chosen.out / "tiny.card.json").read_text()) == card == read_model(chosen.out / "tiny.gmq").card
    side = card["inputs"]["positive"]
    assert (side["docs_read"], side["inputs"][0]["files"], side["inputs"][0]["name"]) == (120, 120, "good")
    files = json.loads((chosen.out / "tiny.inputs.json").read_text())
    assert len(files["negative"]) == 120
    assert all(file["digest"].startswith("blake3:") for file in files["negative"])
    assert card["license"] == "CC0-1.0"
    assert str(chosen.out.parent) not in json.dumps([card, files])
    told = (chosen.out / "tiny.card.md").read_text()
    assert side["inputs"][0]["digest"] in told
    assert "CC0-1.0" in told


def test_the_plots_are_pictures(trained: tuple[TrainOptions, dict[str, Any]]) -> None:
    from PIL import Image

    for name in ("reliability", "scores"):
        with Image.open(trained[0].out / f"tiny.{name}.png") as image:
            assert image.size == (605, 550)
            assert len(image.convert("RGB").getcolors(1 << 20) or []) > 20


def test_other_seeds_split_otherwise(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    card = train(replace(trained[0], out=tmp_path, seed=1), quiet)
    assert (
        card["test"]["decision"] != trained[1]["test"]["decision"] or card["test"]["auc"] != trained[1]["test"]["auc"]
    )


def test_eval_on_new_documents(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"g{number}.txt").write_text(prose(9000 + number, 70))
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps({"text": links(9100 + n, 25)}) + "\n" for n in range(20)))
    model = str(trained[0].out / "tiny.gmq")
    done = call(
        *("classifier", "eval", model, "--positive", tmp_path / "g*.txt", "--negative", tmp_path / "bad.jsonl"),
        *("--out", tmp_path / "report", "--json"),
    )
    assert done.returncode == 0, done.stderr
    found = json_of(done)
    assert found["report"]["docs"] == {"positive": 20, "negative": 20}
    assert found["report"]["auc"] == 1.0
    assert {path.name for path in (tmp_path / "report").iterdir()} == {"reliability.png", "scores.png"}
    told = call("classifier", "eval", model, "--positive", tmp_path / "g*.txt", "--negative", tmp_path / "bad.jsonl")
    assert "20 good and 20 bad documents: AUC 1.0000" in told.stdout


def test_train_by_command_and_score_in_a_recipe(tmp_path: Path) -> None:
    good, bad = write_labelled(tmp_path / "docs")
    done = call(
        *("classifier", "train", "--positive", good, "--negative", bad, "--out", tmp_path / "models" / "mine"),
        *("--target-precision", "0.9", "--dim", "4", "--bucket", "4096", "--epochs", "5", "--max-features", "1024"),
        *("--min-count", "1", "--domain", "web", "--json"),
    )
    assert done.returncode == 0, done.stderr
    card = json_of(done)["card"]
    assert [row["group"] for row in card["test"]["by_domain"]] == ["web"]
    assert card["threshold_by"] == "precision 0.9 on the calibration part"
    texts = [*(prose(9500 + n, 50) for n in range(5)), *(links(9600 + n, 30) for n in range(5))]
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps({"id": str(n), "text": t}) + "\n" for n, t in enumerate(texts))
    )
    step = "quality: {model: models/mine/mine.gmq}"
    text = f"name: r\ndatasets:\n  d:\n    read: {{jsonl: a.jsonl}}\n    steps:\n      - {step}"
    manifests = run_inline(write_recipe(tmp_path, text), tmp_path / "out")
    told = manifests["d"]["steps"][-1]
    assert (told["kept"], told["dropped"]) == (5, 5)
    assert told["params"]["model"].startswith("blake3:")
    side = read_side([str(tmp_path / "out" / "d")], Reading())
    assert len(side.documents) == 5
    assert side.inputs[0].name == "d"


def test_a_keep_rate_is_kept(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    card = train(replace(trained[0], out=tmp_path, keep_rate=0.3), quiet)
    assert card["test"]["decision"]["keep_rate"] == pytest.approx(0.3, abs=0.15)
    pool = trained[0].positive
    card = train(replace(trained[0], out=tmp_path, keep_rate=0.5, pool=pool), quiet)
    assert "of a pool of 120 documents" in card["threshold_by"]
    found = evaluate(EvalOptions(str(tmp_path / "tiny.gmq"), pool, trained[0].negative), quiet)
    assert found["report"]["decision"]["recall"] == pytest.approx(0.5, abs=0.01)


def test_a_prior_moves_the_scores_not_their_order(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    rare = train(replace(trained[0], out=tmp_path, prior=0.05), quiet)
    assert rare["test"]["auc"] == trained[1]["test"]["auc"]
    text = prose(1, 40) + "\n" + links(1, 20)
    import pyarrow as pa

    column = pa.array([text], pa.large_string())
    before = open_model(str(trained[0].out / "tiny.gmq")).scores(column)
    assert open_model(str(tmp_path / "tiny.gmq")).scores(column) < before


def test_a_precision_that_asks_nothing_is_told(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    said: list[str] = []
    chosen = replace(trained[0], out=tmp_path, target_precision=0.9)
    assert train(replace(chosen, prior=0.95), said.append)["warnings"]
    assert any("keeping all of them" in line for line in said)
    assert not train(replace(chosen, prior=0.5), quiet)["warnings"]


def test_what_cannot_be_reached_is_no_verdict(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    same = trained[0].positive
    halves = tmp_path / "a", tmp_path / "b"
    for half, folder in enumerate(halves):
        folder.mkdir()
        for number in range(half, 120, 2):
            (folder / f"{number}.txt").write_text(prose(5000 + number, 60))
    assert same
    chosen = replace(trained[0], positive=(str(halves[0]),), negative=(str(halves[1]),), out=tmp_path / "out")
    with pytest.raises(NoVerdictError, match="no threshold reaches the precision"):
        train(replace(chosen, target_precision=0.99), quiet)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"target_precision": 0.9, "keep_rate": 0.1}, "not both"),
        ({"prior": 1.5}, "between 0 and 1"),
        ({"pool": ("x",)}, "without a keep rate"),
        ({"scorer": "onnx"}, "no such scorer"),
        ({"scorer": "x.bin"}, "which label is good"),
        ({"kind": "pdf"}, "no such kind"),
    ],
)
def test_refuses(
    trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path, changes: dict[str, Any], what: str
) -> None:
    with pytest.raises(UsageError, match=what):
        train(replace(trained[0], out=tmp_path, **changes), quiet)


def test_too_few_documents_are_told(tmp_path: Path) -> None:
    good, bad = write_labelled(tmp_path / "docs", 8)
    with pytest.raises(InputError, match="documents left to"):
        train(TrainOptions((good,), (bad,), tmp_path / "out", "few", params=SMALL), quiet)
    with pytest.raises(InputError, match="no file matches"):
        train(TrainOptions(("absent/",), (bad,), tmp_path / "out", "few", params=SMALL), quiet)


def test_the_class_that_lacks_documents_is_named(tmp_path: Path) -> None:
    good, bad = write_labelled(tmp_path / "docs", 40)
    (tmp_path / "one.txt").write_text(prose(1, 60))
    options = TrainOptions((str(tmp_path / "one.txt"),), (bad,), tmp_path / "out", "few", params=SMALL)
    with pytest.raises(InputError, match="only 0 positive documents"):
        train(options, quiet)
    with pytest.raises(InputError, match="in both classes"):
        train(replace(options, positive=(good,), negative=(good,)), quiet)
    (tmp_path / "empty.txt").write_text("")
    empty = (str(tmp_path / "empty.txt"),)
    with pytest.raises(InputError, match="--positive: no documents with text: 'empty 1'"):
        train(replace(options, positive=empty), quiet)
    with pytest.raises(InputError, match="--pool: no documents with text"):
        train(replace(options, positive=(good,), pool=empty, keep_rate=0.1), quiet)


def test_a_place_that_cannot_be_written_is_told_before_training(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good, bad = write_labelled(tmp_path / "docs", 8)
    (tmp_path / "file").write_text("")
    words = ["classifier", "train", "--positive", good, "--negative", bad, "--out", str(tmp_path / "file" / "models")]
    assert main(words) == 2
    assert "no folder can be made there" in capfd.readouterr().err


def test_eval_refuses_no_score_and_tells_texts_of_both_classes(
    trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "one.txt").write_text(prose(1, 60))
    one = (str(tmp_path / "one.txt"),)
    model = str(trained[0].out / f"{trained[0].name}.gmq")
    for threshold in (1.5, float("nan")):
        with pytest.raises(UsageError, match="--threshold"):
            evaluate(EvalOptions(model, one, one, threshold=threshold), quiet)
    said: list[str] = []
    evaluate(EvalOptions(model, one, one), said.append)
    assert said == ["1 texts are given as good and as bad; they count as both"]


def test_a_model_that_found_no_room_is_none(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    # fastText itself is silent about it, and crashes when it loads such a model. Each file may have 400 kB here.
    code = "import resource, sys; from gristmill.pipeline.cli.main import main;"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000)); sys.exit(main())"
    words = ["classifier", "train", "--out", str(tmp_path / "out"), "--bucket", "2000", "--dim", "64", "--epochs", "1"]
    words += ["--positive", trained[0].positive[0], "--negative", trained[0].negative[0]]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, "no space left for the model" in done.stderr) == (6, True), done.stderr
    assert not list((tmp_path / "out").glob("*.gmq"))


def test_pages_are_extracted(tmp_path: Path) -> None:
    page = f"<!doctype html><html><body><nav>menu</nav><main><p>{prose(1, 80)}</p></main></body></html>"
    (tmp_path / "p.html").write_text(page)
    (document,) = read_side([str(tmp_path / "p.html")], Reading()).documents
    assert "<p>" not in document.windows[0]
    assert document.domain == "web"


CODE = """
import numpy as np

class Encoder:
    def encode(self, texts):
        return np.array([[t.count("|") / max(len(t), 1), t.count(".") / max(len(t), 1)] for t in texts]) * 10

encoder = Encoder()

def lines(texts):
    return [1 / (1 + t.count("\\n")) for t in texts]
"""


def test_a_head_is_fitted_over_an_encoder(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    code = tmp_path / "mine.py"
    code.write_text(CODE)
    chosen = replace(trained[0], out=tmp_path, name="enc", scorer=f"{code}:encoder")
    assert train(chosen, quiet)["test"]["auc"] > 0.9
    model = str(tmp_path / "enc.gmq")
    assert set(read_model(tmp_path / "enc.gmq").settings["head"]) == {"weights", "bias"}
    with pytest.raises(UsageError, match="around code of yours"):
        open_model(model)
    found = evaluate(EvalOptions(model, chosen.positive, chosen.negative, code=str(code)), quiet)
    assert found["report"]["auc"] > 0.9
    code.write_text(CODE + "\n# changed\n")
    with pytest.raises(InputError, match="not what the model was calibrated with"):
        open_model(model, str(code))


def test_a_function_is_calibrated(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    code = tmp_path / "mine.py"
    code.write_text(CODE)
    card = train(replace(trained[0], out=tmp_path, name="f", scorer=f"{code}:lines"), quiet)
    assert card["test"]["after"]["brier"] < card["test"]["before"]["brier"]


def test_an_onnx_model_gets_a_head(trained: tuple[TrainOptions, dict[str, Any]], tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    folder = tmp_path / "onnx"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(model_bytes(VECTORS, WEIGHTS))
    (folder / "tokenizer.json").write_bytes(tokenizer_bytes())
    (folder / "scorer.json").write_text(json.dumps({"output": "last_hidden_state", "pooling": "mean"}))
    for name, word in (("good", "good"), ("bad", "bad")):
        (tmp_path / name).mkdir()
        for number in range(40):
            (tmp_path / name / f"{number}.txt").write_text(f"{word} dull {'x ' * number}")
    sides = {"positive": (str(tmp_path / "good"),), "negative": (str(tmp_path / "bad"),)}
    card = train(replace(trained[0], out=tmp_path, name="o", scorer=str(folder), **sides), quiet)
    assert card["kind"] == "onnx"
    assert card["test"]["auc"] == 1.0
    made = open_model(str(tmp_path / "o.gmq"))
    assert made.scorer.score(["good"]) > made.scorer.score(["bad"])


def test_memory_of_any_content_makes_the_same_model(tmp_path: Path) -> None:
    """With one thread fastText leaves most of its matrix as malloc gave it: the parent's setting must undo that."""
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"__label__{'ab'[n % 2]} {prose(n, 40).lower()}\n" for n in range(200)).replace(".", " ."))
    job = {"lines": str(lines), "out": str(tmp_path / "m"), "dim": 4, "word_ngrams": 2, "bucket": 4096}
    job |= {"epochs": 3, "lr": 0.5, "min_count": 1, "max_features": 10**9}
    (tmp_path / "job.json").write_text(json.dumps(job))
    command = [sys.executable, "-m", "gristmill.pipeline.classifier.fit_child", str(tmp_path / "job.json")]

    def made(perturb: str) -> bytes:
        environment = {"PATH": "/usr/bin:/bin", "MALLOC_PERTURB_": perturb}
        subprocess.run(command, env=environment, capture_output=True, check=False)
        return (tmp_path / "m").read_bytes() if (tmp_path / "m").exists() else b""

    from gristmill.pipeline.classifier.fit import _ZEROED_MEMORY

    zeroed = _ZEROED_MEMORY["MALLOC_PERTURB_"]
    assert made(zeroed) == made(zeroed) != b""
    assert np.frombuffer(made(zeroed), np.uint8).size > 0
    assert made("77") != made(zeroed)
