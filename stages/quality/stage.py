"""Scores each document with a trained model, and keeps, samples or only labels by the score.

Columns in: `text`, `content_hash`, `scores`. Columns out: `scores` gains (or has replaced) the entry `score`; other
entries stay. Measure: `quality_score` in [0, 1], calibrated and rounded to 1e-4 before any decision. Drops:
`low_quality` (mode keep: below the threshold), `not_sampled` (mode sample: the draw, given as the limit, is not below
the probability of keeping, given as the value). Draws come from content hash, seed and the score's name. A long text is
seen in windows (see `features`), never by its start alone.
"""

from dataclasses import MISSING, dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import with_column
from gristmill.stages.params import file_param, param
from gristmill.stages.protocol import Floats, Mapped, Reason, RowVerdict, Rule
from gristmill.stages.quality.model import Model, open_model
from gristmill.stages.quality.sampling import GPT3_ALPHA, Curve, check_curve, draws

MEASURE = "quality_score"


@dataclass(frozen=True)
class Quality:
    """Score documents with a trained model; keep those above its threshold, or sample by score."""

    name: ClassVar[str] = "quality"
    version: ClassVar[int] = 1

    model: str = file_param(MISSING, "a .gmq of `gristmill classifier train`, or your own .py with `object`")
    code: str | None = file_param(None, "your .py file, for a .gmq that was calibrated around it")
    object: str = param("", "name of the scorer in your .py file")
    score: str = param("quality", "name of the score in the column `scores`")
    mode: Literal["keep", "sample", "score_only"] = param(
        "keep", "keep: drop below the threshold; sample: keep with a probability that rises with the score; score_only"
    )
    threshold: float | None = param(None, "mode keep: drop below this score; the model's own unless given")
    alpha: float = param(GPT3_ALPHA, "mode sample: keep with probability (2 - score) ** -alpha (GPT-3: 9)")
    table: tuple[tuple[float, float], ...] = param((), "mode sample: points [score, probability], instead of alpha")
    seed: int = param(0, "mode sample: seed of the draws")

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise UsageError("not a score", "stage quality.threshold", self.threshold, "give a number in [0, 1]")
        if not self.score:
            raise UsageError("must not be empty", "stage quality.score")
        check_curve(Curve(self.alpha, self.table), "stage quality")

    def reasons(self) -> tuple[Reason, ...]:
        """The two drops."""
        return (
            Reason("low_quality", "drop", "the score is below the threshold"),
            Reason("not_sampled", "drop", "the draw of the content is not below the probability of keeping"),
        )

    def rules(self) -> tuple[Rule, ...]:
        """Mode keep: the threshold as a rule, so that it can be tuned from stored scores. Opens the model."""
        if self.mode != "keep":
            return ()
        source = "the model's threshold" if self.threshold is None else ""
        return (Rule(MEASURE, "below", self._limit(self._opened()), "low_quality", source),)

    def prepare(self) -> None:
        """Open the model, so that a wrong one is told before the run."""
        self._opened()

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """Add the score; verdicts for the rows to drop."""
        model = self._opened()
        scores = model.scores(batch.column("text"))
        scored = with_column(batch, "scores", with_score(batch.column("scores"), self.score, scores))
        return Mapped(scored, self._verdicts(batch, scores, model), measures={MEASURE: scores})

    def _verdicts(self, batch: pa.RecordBatch, scores: Floats, model: Model) -> tuple[RowVerdict, ...]:
        if self.mode == "keep":
            limit = self._limit(model)
            low = np.flatnonzero(scores < limit).tolist()
            return tuple(RowVerdict(row, "drop", "low_quality", MEASURE, float(scores[row]), limit) for row in low)
        if self.mode == "sample":
            chance = Curve(self.alpha, self.table).keep_probability(scores)
            drawn = draws(batch.column("content_hash"), self.seed, self.score)
            return tuple(
                RowVerdict(row, "drop", "not_sampled", "keep_probability", float(chance[row]), float(drawn[row]))
                for row in np.flatnonzero(drawn >= chance).tolist()
            )
        return ()

    def _limit(self, model: Model) -> float:
        return model.threshold if self.threshold is None else self.threshold

    def _opened(self) -> Model:
        return open_model(self.model, self.code, self.object)


def with_score(column: pa.MapArray, name: str, scores: Floats) -> pa.Array:
    """The column `scores` with one more entry in each row, behind those that it has; one of that name is replaced."""
    if column.null_count == len(column):
        bounds = pa.array(np.arange(len(scores) + 1, dtype=np.int32))
        return pa.MapArray.from_arrays(bounds, pa.repeat(pa.scalar(name), len(scores)), pa.array(scores))
    rows = zip(column.to_pylist(), scores.tolist(), strict=True)
    entries = [[*((k, v) for k, v in old or () if k != name), (name, score)] for old, score in rows]
    return pa.array(entries, column.type)
