"""What a row-local stage says of a batch, row by row, for engines that are not ours."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from gristmill.stages.chain import ChainResult, Ints, StepTrace, run_chain
from gristmill.stages.protocol import Floats, RowStage

BAD_FIELD, BAD_UTF8, TOO_LARGE = "bad_field", "bad_utf8", "too_large"
"""Reasons for which a record is not judged, as in `sources.protocol.REASONS`."""


@dataclass(frozen=True)
class Gone:
    """Why a record goes; `value` and `limit` are None where there is no number."""

    verdict: str
    reason: str
    measure: str = ""
    value: float | None = None
    limit: float | None = None
    detail: str = ""


@dataclass(frozen=True)
class Judged:
    """The rows that stay, `kept_rows` of the batch, as the stage left them; why each other one goes."""

    result: ChainResult
    gone: Mapping[int, Gone]

    @property
    def kept(self) -> pa.RecordBatch:
        """What stays."""
        return self.result.kept

    @property
    def kept_rows(self) -> Ints:
        """Rows of the batch that stay, in order."""
        return self.result.kept_rows

    @property
    def trace(self) -> StepTrace:
        """The account of the step."""
        return self.result.steps[0]

    @property
    def measures(self) -> Mapping[str, Floats]:
        """Each measure of every row."""
        return self.trace.measures


def judge(stage: RowStage, batch: pa.RecordBatch) -> Judged:
    """What a run would say of these rows of DOCUMENT."""
    result = run_chain([stage], batch)
    gone = {
        f.row: Gone(f.verdict, f.reason, f.measure, number_or_none(f.value), number_or_none(f.limit), f.detail)
        for f in result.fates
    }
    return Judged(result, gone)


def number_or_none(value: float) -> float | None:
    """A measured value as data; None for NaN, which says that it does not apply."""
    return None if math.isnan(value) else value
