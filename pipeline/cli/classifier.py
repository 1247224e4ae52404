"""`gristmill classifier`: train a quality classifier, and judge one on labelled documents."""

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import EXIT_DONE, UsageError
from gristmill.pipeline.cli.command import Command
from gristmill.pipeline.cli.output import emit_json, print_line, print_table, say
from gristmill.pipeline.cli.run import output_folder

TRAIN_HELP = """train a classifier that tells good documents from bad ones

A and B are files, folders or patterns (text, .jsonl, .parquet, .arrow, .html, .warc, code ...), or the folder of a
dataset of a run; both options may be repeated. Sources are split into training, calibration and test, so that no source
is in two of them. The model is one file, DIR/NAME.gmq; beside it lie its card, the list of inputs and two plots.
Its threshold is a score of 0.5, unless a precision or a keep rate is asked for. Exits 7 when no threshold reaches the
precision.

for instance:
  gristmill classifier train --positive good/ --negative 'bad/*.jsonl' --out models/web
  gristmill classifier train --positive out/handbook --negative out/spam --out models/web --target-precision 0.95
  gristmill classifier train --positive good/ --negative pool/ --out models/web --keep-rate 0.1 --pool 'crawl/*.warc.gz'
  gristmill classifier train --positive good/ --negative bad/ --out models/mine --scorer ./mine.py:scorer

in a recipe:
  - quality: {model: models/web/web.gmq}"""

EVAL_HELP = """tell how good a model is on labelled documents

Give documents that the model was not trained with. With --out the plots are written there.

for instance:
  gristmill classifier eval models/web/web.gmq --positive other/good/ --negative other/bad/ --out report/"""


DEMO_HELP = """train the classifiers of the demo, one for each domain

INPUT is the folder that `gristmill demo-data` filled. Good and bad text comes from it and from packages of this
machine; what cannot be had is left out and named. A second call is instant.

for instance:
  gristmill classifier demo demo/input --out demo/classifiers"""


def _input_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--positive", action="append", required=True, metavar="A", help="good documents (repeatable)")
    parser.add_argument("--negative", action="append", required=True, metavar="B", help="bad documents (repeatable)")
    parser.add_argument("--as", dest="kind", metavar="KIND", help="read every file as html, jsonl, text, code ...")
    parser.add_argument("--domain", default="", metavar="D", help="domain of all documents, for the report")
    parser.add_argument("--max-docs", type=int, default=20_000, metavar="N", help="use at most N of a class (20000)")
    parser.add_argument("--prior", type=float, metavar="P", help="share of good documents where it will be used")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the split and of all draws (0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _train_arguments(parser: argparse.ArgumentParser) -> None:
    _input_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the model")
    parser.add_argument("--name", metavar="NAME", help="name of the model (default: the name of DIR)")
    parser.add_argument("--target-precision", type=float, metavar="P", help="threshold with this precision")
    parser.add_argument("--keep-rate", type=float, metavar="R", help="threshold that keeps this share")
    pool_help = "unlabelled documents that the keep rate refers to (repeatable)"
    parser.add_argument("--pool", action="append", default=[], metavar="C", help=pool_help)
    parser.add_argument("--calibration", default="auto", choices=("auto", "platt", "isotonic"), help="auto: by size")
    scorer_help = "fasttext (default), a fastText .bin or .ftz, FILE.py:NAME, or a folder with model.onnx"
    parser.add_argument("--scorer", default="fasttext", metavar="SCORER", help=scorer_help)
    parser.add_argument("--label", default="", metavar="LABEL", help="label of good documents of a fastText file")
    parser.add_argument("--license", default="", metavar="TEXT", help="licence of the inputs, for the card")
    parser.add_argument("--note", default="", metavar="TEXT", help="what the model is for, for the card")
    for option, kind, text in (
        ("--dim", int, "width of fastText's vectors (16)"),
        ("--word-ngrams", int, "longest sequence of words that is a feature (2)"),
        ("--bucket", int, "places for hashed sequences (524288)"),
        ("--epochs", int, "passes over the documents (10)"),
        ("--lr", float, "learning rate (0.5)"),
        ("--min-count", int, "words must occur this often (2)"),
        ("--max-features", int, "features kept in the model, about 9 bytes each at --dim 16 (50000)"),
        ("--window-bytes", int, "bytes of a window of the text (4096)"),
        ("--max-windows", int, "windows of a text that are seen (8)"),
    ):
        parser.add_argument(option, type=kind, metavar="N", help=text)


def _train(args: argparse.Namespace) -> int:
    from gristmill.pipeline.classifier.fit import FastTextParams
    from gristmill.pipeline.classifier.train import TrainOptions, train
    from gristmill.stages.quality.features import Windows

    name = args.name or args.out.resolve().name
    options = TrainOptions(
        positive=tuple(args.positive),
        negative=tuple(args.negative),
        out=args.out,
        name=_file_name(name),
        target_precision=args.target_precision,
        keep_rate=args.keep_rate,
        pool=tuple(args.pool),
        prior=args.prior,
        seed=args.seed,
        calibration=args.calibration,
        scorer=args.scorer,
        label=args.label,
        kind=args.kind,
        domain=args.domain,
        max_docs=_positive(args.max_docs, "--max-docs"),
        license=args.license,
        note=args.note,
        windows=Windows(**_given(args, "window_bytes", "max_windows")),
        params=FastTextParams(
            **_given(args, "dim", "word_ngrams", "bucket", "epochs", "lr", "min_count", "max_features")
        ),
    )
    output_folder(str(args.out))
    card = train(options, say)
    if args.json:
        emit_json({"model": str(args.out / f"{name}.gmq"), "card": card})
    else:
        print_line(f"{args.out / name}.gmq")
        _print_report(card["test"])
        print_line(f"threshold by: {card['threshold_by']}; the card: {args.out / name}.card.md")
    return EXIT_DONE


def _eval_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a .gmq, or your own FILE.py:NAME")
    parser.add_argument("--code", metavar="FILE", help="your .py file, for a .gmq that was calibrated around it")
    _input_arguments(parser)
    parser.add_argument("--threshold", type=float, metavar="T", help="instead of the model's own")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the plots there")


def _eval(args: argparse.Namespace) -> int:
    from gristmill.pipeline.classifier.evaluation import EvalOptions, evaluate

    options = EvalOptions(
        model=args.model,
        code=args.code,
        positive=tuple(args.positive),
        negative=tuple(args.negative),
        threshold=args.threshold,
        prior=args.prior,
        seed=args.seed,
        kind=args.kind,
        domain=args.domain,
        max_docs=_positive(args.max_docs, "--max-docs"),
        out=args.out,
    )
    if args.out:
        output_folder(str(args.out))
    found = evaluate(options, say)
    if args.json:
        emit_json(found)
    else:
        _print_report(found["report"])
    return EXIT_DONE


def _demo_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", type=Path, metavar="INPUT", help="the folder that demo-data filled")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the models")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where packages are kept, as for demo-data")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _demo(args: argparse.Namespace) -> int:
    from gristmill.pipeline.demo_classifiers import make
    from gristmill.stages.text.lid_model import cache_folder

    output_folder(str(args.out))
    # Beside the models: where `demo-data` keeps its packages.
    made = make(args.input, args.out, args.cache or cache_folder().parent / "demo-data", say)
    if args.json:
        emit_json(made)
        return EXIT_DONE
    headers = ("model", "AUC", "threshold", "precision", "recall", "kept")
    rows = [
        (
            args.out / m["model"],
            f"{m['auc']:.4f}",
            *(f"{m['decision'][k]:.4f}" for k in headers[2:5]),
            f"{m['decision']['keep_rate']:.4f}",
        )
        for m in made.models.values()
    ]
    print_table(headers, rows)
    for line in made.left_out:
        print_line(f"left out: {line}")
    return EXIT_DONE


def _print_report(report: Mapping[str, Any]) -> None:
    docs, decision = report["docs"], report["decision"]
    before, after = report["before"], report["after"]
    print_line(f"{docs['positive']} good and {docs['negative']} bad documents: AUC {report['auc']:.4f}")
    print_line(
        f"Brier {before['brier']:.4f} raw, {after['brier']:.4f} calibrated;"
        f" ECE {before['ece']:.4f} raw, {after['ece']:.4f} calibrated"
    )
    print_line(
        f"at {decision['threshold']:.4g}: precision {_share(decision['precision'])} ({decision['precision_low']:.4f} to"
        f" {decision['precision_high']:.4f}), recall {decision['recall']:.4f}, kept {decision['keep_rate']:.4f}"
    )
    headers = ("good kept", "bad kept", "good dropped", "bad dropped")
    for key in ("by_domain", "by_input", "by_language"):
        rows = [(r["group"], r["tp"], r["fp"], r["fn"], r["tn"]) for r in report[key]]
        print_table((key.removeprefix("by_"), *headers), rows)


def _share(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "unknown, as nothing is kept"


def _given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    found = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    for name, value in found.items():
        _positive(value, f"--{name.replace('_', '-')}")
    return found


def _positive(value: Any, option: str) -> Any:
    if not value > 0:
        raise UsageError("must be positive", option, value)
    return value


def _file_name(name: str) -> str:
    if not name or "/" in name or name.startswith(".") or not name.isprintable():
        raise UsageError("not a file's name", "--name", name, "for instance --name web")
    return name


COMMANDS: Mapping[str, Command] = {
    "train": Command(TRAIN_HELP, _train_arguments, _train),
    "eval": Command(EVAL_HELP, _eval_arguments, _eval),
    "demo": Command(DEMO_HELP, _demo_arguments, _demo),
}
