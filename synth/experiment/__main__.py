"""The command of the experiment; `python -m gristmill.synth.experiment --help` says how it goes."""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from gristmill.manifests.errors import GristmillError
from gristmill.synth.experiment import report, scoring, sequences, training
from gristmill.synth.experiment.model import need_torch
from gristmill.synth.experiment.settings import ARMS, Arm, Data, Shape, Training

ABOUT = """\
Does a small model learn to look things up far away from the sequences of `synth`?

  make    sequences of 8,192 tokens of each arm, and the questions to score with, on all processors
  train   one model an arm: the same first weights, documents, steps; resumes from its checkpoint
  score   right answers by distance and hops, full attention and windows; losses; copies
  table   results of several seeds as Markdown, JSON and pictures

Arms: plain (documents joined), permuted (their parts mixed), tasks (mixed, with questions planted), random (as tasks,
but every answer a random candidate: what the form of the questions alone teaches). One seed on a GPU:

  python -m gristmill.synth.experiment make  --work w1 --seed 1 --corpus demo/out/corpus --sequences 12800
  python -m gristmill.synth.experiment train --work w1 --seed 1 --minutes 2.5 --shift
  python -m gristmill.synth.experiment score --work w1
  python -m gristmill.synth.experiment table w1/result.json w2/result.json --out results

`--smoke` does all of it with a tiny model on a CPU in under a minute: it shows that everything runs, and nothing else.
"""
SMOKE_SHAPE = Shape(layers=1, width=32, heads=2)
SMOKE_ARMS: tuple[Arm, ...] = ("plain", "tasks")
SMOKE_DATA = Data(seed=1, sequences=2, scored=1, documents=2)
SMOKE_DOCUMENTS = 90


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    parser = _parser()
    asked = parser.parse_args(argv)
    try:
        if asked.smoke:
            _smoke(asked.corpus_smoke)
        elif asked.command is None:
            parser.print_help()
            return 2
        else:
            {"make": _make, "train": _train, "score": _score, "table": _table}[asked.command](asked)
    except GristmillError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m gristmill.synth.experiment", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true", help="everything tiny, on a CPU")
    parser.add_argument("--smoke-corpus", dest="corpus_smoke", default="stdlib", help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command")
    made = commands.add_parser("make", help="make the sequences")
    _common(made)
    made.add_argument("--corpus", default="stdlib", help="folder of Parquet documents; stdlib: Python's own sources")
    made.add_argument("--sequences", type=int, default=12_800, help="of each arm (12,800: 105M tokens)")
    made.add_argument("--scored", type=int, default=384, help="sequences of each evaluation set")
    made.add_argument("--documents", type=int, default=None, help="use so many documents at most")
    made.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    trained = commands.add_parser("train", help="train the arms")
    _common(trained)
    trained.add_argument("--minutes", type=float, default=2.5, help="time box of an arm, compilation apart")
    trained.add_argument("--rows", type=int, default=4, help="sequences a step")
    trained.add_argument("--rate", type=float, default=1.5e-3, help="highest learning rate")
    trained.add_argument("--layers", type=int, default=8)
    trained.add_argument("--width", type=int, default=512)
    trained.add_argument("--heads", type=int, default=8)
    trained.add_argument("--shift", action="store_true", help="mix each key with that of the token before")
    trained.add_argument("--short", type=float, default=0.3, help="share of the steps that see windows of 1,024 tokens")
    trained.add_argument("--wait", type=float, default=0.0, help="seconds to wait for sequences that are being made")
    trained.add_argument("--device", default="cuda")
    scored = commands.add_parser("score", help="score the trained arms")
    _common(scored)
    scored.add_argument("--device", default="cuda")
    told = commands.add_parser("table", help="table and pictures of several seeds")
    told.add_argument("results", nargs="+", type=Path, help="result.json of each seed")
    told.add_argument("--out", type=Path, required=True, help="folder for table.md, results.json and pictures")
    return parser


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--work", type=Path, required=True, help="working folder of this seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arms", default="plain,tasks,random", help=f"some of {','.join(ARMS)}")


def _arms(asked: argparse.Namespace) -> list[Arm]:
    from gristmill.manifests.errors import UsageError

    names = asked.arms.split(",")
    wrong = [name for name in names if name not in get_args(Arm)]
    if wrong:
        raise UsageError("no such arm", "--arms", wrong[0], f"name some of {', '.join(ARMS)}")
    return names


def _say(text: str) -> None:
    print(text, flush=True)


def _make(asked: argparse.Namespace) -> None:
    data = Data(asked.seed, asked.sequences, asked.scored)
    sequences.make(asked.corpus, asked.work, _arms(asked), data, asked.processes, asked.documents)


def _train(asked: argparse.Namespace) -> None:
    shape = Shape(layers=asked.layers, width=asked.width, heads=asked.heads, shift=asked.shift)
    settings = Training(minutes=asked.minutes, rows=asked.rows, rate=asked.rate, short=asked.short)
    training.train(asked.work, _arms(asked), shape, settings, asked.seed, asked.device, asked.wait, _say)


def _score(asked: argparse.Namespace) -> None:
    need_torch(asked.device)
    for arm in _arms(asked):
        if (asked.work / f"{arm}.weights.pt").exists():
            scoring.score(asked.work, arm, asked.device)
    report.collect(asked.work)


def _table(asked: argparse.Namespace) -> None:
    _told(report.read_results(asked.results), asked.out)


def _told(results: Sequence[report.Result], folder: Path) -> None:
    import json

    folder.mkdir(parents=True, exist_ok=True)
    text = report.table(results)
    (folder / "table.md").write_text(text)
    (folder / "results.json").write_text(json.dumps(results) + "\n")
    report.plots(results, folder)
    _say(text)


def _smoke(corpus: str) -> None:
    """Everything tiny, in a folder that is thrown away."""
    need_torch("cpu")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sequences.make(corpus, folder, SMOKE_ARMS, SMOKE_DATA, 1, SMOKE_DOCUMENTS)
        small = Training(minutes=1, rows=2)
        training.train(folder, SMOKE_ARMS, SMOKE_SHAPE, small, 1, "cpu", 0, _say)
        for arm in SMOKE_ARMS:
            scoring.score(folder, arm, "cpu")
        _told([report.collect(folder)], folder / "told")


if __name__ == "__main__":
    sys.exit(main())
