"""`classifier eval`: a finished model on labelled documents of one's own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gristmill.manifests.commit import replace_file
from gristmill.manifests.errors import UsageError
from gristmill.pipeline.classifier import plots
from gristmill.pipeline.classifier.evaluate import report, score_rows
from gristmill.pipeline.classifier.inputs import DEFAULT_MAX_DOCS, Reading, check_some, read_side
from gristmill.pipeline.classifier.split import Labelled
from gristmill.stages.quality.model import open_model

_USER_MARK = ".py:"


@dataclass(frozen=True)
class EvalOptions:
    """What an evaluation is told; `threshold` None is the model's own."""

    model: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    code: str | None = None
    threshold: float | None = None
    prior: float | None = None
    seed: int = 0
    kind: str | None = None
    domain: str = ""
    max_docs: int = DEFAULT_MAX_DOCS
    out: Path | None = None


def evaluate(options: EvalOptions, log: Callable[[str], None]) -> dict[str, Any]:
    """The model's digest and name, what was read, and the report. Raises InputError, UsageError."""
    if options.prior is not None and not 0 < options.prior < 1:
        raise UsageError("must lie between 0 and 1", "--prior", options.prior)
    if options.threshold is not None and not 0 <= options.threshold <= 1:
        raise UsageError("not a score", "--threshold", options.threshold, "give a number in [0, 1]")
    path, _, name = options.model.rpartition(":") if _USER_MARK in options.model else (options.model, "", "")
    model = open_model(path, options.code, name)
    reading = Reading(model.windows, options.kind, options.domain, options.max_docs, options.seed)
    sides = {False: read_side(options.negative, reading), True: read_side(options.positive, reading)}
    rows = [Labelled(one, positive) for positive, side in sides.items() for one in side.documents]
    for positive, side in sides.items():
        check_some(side, "--positive" if positive else "--negative")
    both = {one.digest for one in sides[False].documents} & {one.digest for one in sides[True].documents}
    if both:
        log(f"{len(both)} texts are given as good and as bad; they count as both")
    threshold = model.threshold if options.threshold is None else options.threshold
    scored = score_rows(model, rows, options.prior)
    found = report(scored, rows, threshold)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        title = f"{model.card.get('name', Path(path).name)}: evaluation"
        replace_file(options.out / "reliability.png", plots.reliability_png(found, title))
        image = plots.scores_png(scored.scores, scored.positive, threshold, title)
        replace_file(options.out / "scores.png", image)
        log(f"plots in {options.out}")
    digests = {str(positive): [i.digest for i in side.inputs] for positive, side in sides.items()}
    return {
        "model": {"scorer": model.scorer.fingerprint, "name": model.card.get("name")},
        "inputs": {"negative": digests["False"], "positive": digests["True"]},
        "report": found,
    }
