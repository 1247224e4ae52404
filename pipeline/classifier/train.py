"""From good and bad documents to a calibrated model in one file.

Out, in a folder: `NAME.gmq` (the model, what a recipe names), `NAME.card.json` and `NAME.card.md`, `NAME.inputs.json`
(every file with its digest), `NAME.reliability.png`, `NAME.scores.png` (both of the test part). The model file is
written last. Equal documents, options and versions give equal bytes of all of them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from gristmill.manifests.commit import replace_file
from gristmill.manifests.errors import UsageError
from gristmill.pipeline.classifier import card as cards
from gristmill.pipeline.classifier import metrics, plots
from gristmill.pipeline.classifier.evaluate import labels_of, raw_scores, report, score_rows
from gristmill.pipeline.classifier.fit import FastTextParams
from gristmill.pipeline.classifier.inputs import DEFAULT_MAX_DOCS, Reading, Side, check_some, read_side
from gristmill.pipeline.classifier.split import Split, split
from gristmill.pipeline.classifier.trained import Trained, train_scorer
from gristmill.stages.quality.calibration import calibrated, fit
from gristmill.stages.quality.features import Windows
from gristmill.stages.quality.model import DEFAULT_THRESHOLD, Model, rounded
from gristmill.stages.quality.model_file import SUFFIX, ModelFile, packed


@dataclass(frozen=True)
class TrainOptions:
    """What a training is told. At most one of `target_precision` and `keep_rate`; neither: a score of 0.5.

    `prior` is the share of good documents where the model will be used (None: as in the documents given); `pool` names
    unlabelled documents that `keep_rate` refers to (none: the calibration part). `scorer` is "fasttext", a fastText
    model's file, a folder with an ONNX model, or FILE.py:NAME.
    """

    positive: tuple[str, ...]
    negative: tuple[str, ...]
    out: Path
    name: str
    target_precision: float | None = None
    keep_rate: float | None = None
    pool: tuple[str, ...] = ()
    prior: float | None = None
    seed: int = 0
    calibration: str = "auto"
    scorer: str = "fasttext"
    label: str = ""
    kind: str | None = None
    domain: str = ""
    max_docs: int = DEFAULT_MAX_DOCS
    license: str = ""
    note: str = ""
    windows: Windows = field(default_factory=Windows)
    params: FastTextParams = field(default_factory=FastTextParams)


def train(options: TrainOptions, log: Callable[[str], None]) -> dict[str, Any]:
    """Make the model and return its card. Raises UsageError, InputError, NoVerdictError."""
    _check(options)
    reading = Reading(options.windows, options.kind, options.domain, options.max_docs, options.seed)
    sides = {
        name: _side(name, given, reading, options, log)
        for name, given in (("positive", options.positive), ("negative", options.negative))
    }
    pool = _side("pool", options.pool, reading, options, log) if options.pool else None
    found = split(sides["negative"].documents, sides["positive"].documents, options.seed)
    found = replace(found, warnings=(*found.warnings, *_easy_precision(found, options)))
    counts = {part: len(rows) for part, rows in found.parts.items()}
    log(
        f"{options.name}: {counts['train']} documents to train with, {counts['calibrate']} to calibrate,"
        f" {counts['test']} to test"
    )
    for warning in found.warnings:
        log(f"{options.name}: {warning}")
    trained = train_scorer(options.scorer, found.parts["train"], options)
    model = _calibrated(trained, found, options)
    threshold, by = _threshold(model, found, pool, options)
    model = replace(model, threshold=threshold)
    scored = score_rows(model, found.parts["test"], options.prior)
    test = report(scored, found.parts["test"], threshold)
    card = _card(options, sides, found, trained, test, by)
    _write(
        options,
        model,
        trained,
        card,
        sides,
        {
            "reliability": plots.reliability_png(test, f"{options.name}: test part"),
            "scores": plots.scores_png(scored.scores, scored.positive, threshold, f"{options.name}: test part"),
        },
    )
    return card


def _side(name: str, given: Sequence[str], reading: Reading, options: TrainOptions, log: Callable[[str], None]) -> Side:
    side = read_side(given, reading)
    check_some(side, f"--{name}")
    lost = ", ".join(f"{reason} {count}" for reason, count in side.lost.items())
    used = "" if len(side.documents) == side.seen else f", {len(side.documents)} of them used"
    log(f"{options.name}: {name}: {side.seen} documents read{used}" + (f"; not used: {lost}" if lost else ""))
    return side


def _check(options: TrainOptions) -> None:
    if options.target_precision is not None and options.keep_rate is not None:
        raise UsageError("give --target-precision or --keep-rate, not both", "classifier train")
    for name, value in (
        ("--target-precision", options.target_precision),
        ("--keep-rate", options.keep_rate),
        ("--prior", options.prior),
    ):
        if value is not None and not 0 < value < 1:
            raise UsageError("must lie between 0 and 1", name, value)
    if options.pool and options.keep_rate is None:
        raise UsageError("a pool without a keep rate", "--pool", options.pool[0], "add --keep-rate")


def _calibrated(trained: Trained, found: Split, options: TrainOptions) -> Model:
    model = Model(trained.scorer, options.windows, {"method": "identity"}, DEFAULT_THRESHOLD, {})
    rows = found.parts["calibrate"]
    positive = labels_of(rows)
    raw = raw_scores(model, [row.document.windows for row in rows])
    weight = metrics.class_weights(positive, options.prior)
    return replace(model, calibration=fit(options.calibration, raw, positive, weight))


def _threshold(model: Model, found: Split, pool: Side | None, options: TrainOptions) -> tuple[float, str]:
    """The threshold and what it was chosen by, in words."""
    scored = score_rows(model, found.parts["calibrate"], options.prior)
    if options.target_precision is not None:
        level = metrics.threshold_for_precision(scored.scores, scored.positive, scored.weight, options.target_precision)
        return level, f"precision {options.target_precision:g} on the calibration part"
    if options.keep_rate is None:
        return DEFAULT_THRESHOLD, "as likely good as bad"
    if pool is None:
        level = metrics.threshold_for_keep_rate(scored.scores, scored.weight, options.keep_rate)
        return level, f"{options.keep_rate:g} of the calibration part kept"
    raw = raw_scores(model, [one.windows for one in pool.documents])
    scores = rounded(calibrated(model.calibration, raw))
    level = metrics.threshold_for_keep_rate(scores, scores * 0 + 1, options.keep_rate)
    return level, f"{options.keep_rate:g} of a pool of {len(pool.documents)} documents kept"


def _easy_precision(found: Split, options: TrainOptions) -> list[str]:
    """A warning where keeping everything has the target precision: the threshold then asks nothing."""
    share = labels_of(found.parts["calibrate"]).mean() if options.prior is None else options.prior
    if options.target_precision is None or share < options.target_precision:
        return []
    return [
        f"{share:.1%} of the documents are taken to be good, so that keeping all of them has the target precision of"
        f" {options.target_precision:g}; say with --prior how many are where the model will be used"
    ]


def _card(
    options: TrainOptions,
    sides: Mapping[str, Side],
    found: Split,
    trained: Trained,
    test: Mapping[str, Any],
    threshold_by: str,
) -> dict[str, Any]:
    return {
        "name": options.name,
        "note": options.note,
        "kind": trained.kind,
        "license": options.license,
        "seed": options.seed,
        "prior": options.prior,
        "threshold_by": threshold_by,
        "inputs": cards.inputs_json(sides),
        "split": cards.split_json(found),
        "warnings": list(found.warnings),
        "params": {**trained.params, **asdict(options.windows), "max_docs": options.max_docs},
        "versions": cards.versions(),
        "test": dict(test),
    }


def _write(
    options: TrainOptions,
    model: Model,
    trained: Trained,
    card: Mapping[str, Any],
    sides: Mapping[str, Side],
    images: Mapping[str, bytes],
) -> None:
    file = ModelFile(
        kind=trained.kind,
        settings=trained.settings,
        windows=asdict(options.windows),
        calibration=model.calibration,
        threshold=model.threshold,
        card=card,
        members=trained.members,
    )
    options.out.mkdir(parents=True, exist_ok=True)
    stem = str(options.out / options.name)
    for name, image in images.items():
        replace_file(Path(f"{stem}.{name}.png"), image)
    replace_file(Path(f"{stem}.inputs.json"), _json(cards.files_json(sides)))
    replace_file(Path(f"{stem}.card.json"), _json(card))
    replace_file(Path(f"{stem}.card.md"), cards.markdown(card).encode("utf-8", "backslashreplace"))
    replace_file(Path(f"{stem}{SUFFIX}"), packed(file))


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
