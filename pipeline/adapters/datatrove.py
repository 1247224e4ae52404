"""A row-local stage as a datatrove `PipelineStep`.

Documents are gathered into batches of DOCUMENT, bounded by rows and bytes, judged as a run judges them, and passed on
in their order: the same objects, with `id`, `media` and `metadata` untouched but for what the stage changed:

* a mapper's text goes into `text`; media that it found are appended to `media`;
* a changed `lang`, `license`, `url`, `source`, `domain` goes to the metadata key that it came from (METADATA of
  `stages.datatrove.documents`: `language` is `lang`);
* scores go to `gristmill.STAGE.scores.NAME`, what a stage writes into `meta` to `gristmill.STAGE.meta.NAME`, and with
  `measures` every measure to `gristmill.STAGE.MEASURE` (null: does not apply).

A Document that goes bears `filter_reason` in its metadata, as datatrove's filters write it, and `filter_step`,
`filter_verdict` (drop, or quarantine for what could not be judged), `filter_measure`, `filter_value`, `filter_limit`,
`filter_detail`; it goes to the exclusion writer, if there is one. Reasons besides the stage's: `bad_field` (a text that
is no string), `bad_utf8` (a lone surrogate), `too_large` (above `MAX_DOC_BYTES`). An empty text, null, an id of 0 are
values like others.

Statistics: total, forwarded, dropped, `dropped_REASON`, `quarantined`, and `cut_chars_REASON` for the characters that a
mapper took out of texts that stay (negative: that it wrote).
"""

import contextlib
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import BATCH_BYTES, BATCH_ROWS
from gristmill.pipeline.adapters.documents import PREFIX, Held, batch_of, batches, rows_of, write_back
from gristmill.pipeline.adapters.judged import Gone, Judged, judge, number_or_none
from gristmill.pipeline.adapters.shipped import Shipped
from gristmill.stages.protocol import Mapper, RowStage


@dataclass(frozen=True)
class Options:
    """Whether measures go to the metadata, and where batches end."""

    measures: bool = False
    batch_rows: int = BATCH_ROWS
    batch_bytes: int = BATCH_BYTES

    def with_bounds(self, rows: int | None, size: int | None) -> "Options":
        """With other bounds, where they are given. Raises UsageError."""
        for name, value in (("batch_rows", rows), ("batch_bytes", size)):
            if value is not None and value < 1:
                raise UsageError("not a bound", f"as_datatrove {name}", value, "give 1 or more")
        return replace(self, batch_rows=rows or self.batch_rows, batch_bytes=size or self.batch_bytes)


@dataclass(frozen=True)
class _Outcome:
    """What became of a Document: why it goes (None: it stays), and what was cut out of its text, by reason."""

    gone: Gone | None = None
    cut: dict[str, int] = field(default_factory=dict[str, int])


def make_step(shipped: Shipped, exclusion_writer: Any, options: Options) -> Any:
    """The step. Raises UsageError where datatrove is not installed."""
    return _step_class()(shipped, exclusion_writer, options)


@functools.lru_cache(maxsize=1)
def _step_class() -> Any:
    try:
        from datatrove.pipeline.base import PipelineStep
    except ImportError as error:
        remedy = "pip install 'gristmill[datatrove]'"
        raise UsageError("datatrove is not installed", "as_datatrove", str(error), remedy) from error

    class StageStep(PipelineStep):
        """See the module."""

        type = "GRISTMILL"

        def __init__(self, shipped: Shipped, exclusion_writer: Any, options: Options) -> None:
            self.name = shipped.stage.name
            super().__init__()
            self.shipped, self.exclusion_writer, self.options = shipped, exclusion_writer, options

        def __reduce__(self) -> tuple[Any, ...]:
            return make_step, (self.shipped, self.exclusion_writer, self.options)

        def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Any:
            """Judge Documents; yields those that stay."""
            return _run(self, data or (), rank)

    return StageStep


def _run(step: Any, data: Iterable[Any], rank: int) -> Iterator[Any]:
    options: Options = step.options
    with step.exclusion_writer or contextlib.nullcontext() as writer:
        for held in batches(data, options.batch_rows, options.batch_bytes):
            with step.track_time("batch"):
                outcomes = _judge(step.shipped.stage, held, options)
            for one, outcome in zip(held, outcomes, strict=True):
                document = one.document
                _count(step, document, outcome)
                if outcome.gone is None:
                    yield document
                    continue
                document.metadata.update(_told(outcome.gone, step.name))
                if writer is not None:
                    writer.write(document, rank)


def _count(step: Any, document: Any, outcome: _Outcome) -> None:
    step.stat_update("total")
    if outcome.gone is None:
        step.stat_update("forwarded")
        for reason, chars in outcome.cut.items():
            step.stat_update(f"cut_chars_{reason}", value=chars)
        if document.text is not None:
            step.update_doc_stats(document)
        return
    step.stat_update("dropped", f"dropped_{outcome.gone.reason}")
    if outcome.gone.verdict == "quarantine":
        step.stat_update("quarantined")


def _told(gone: Gone, step: str) -> dict[str, Any]:
    """The same keys in every Document that goes, so that a writer's schema fits them all."""
    return {
        "filter_reason": gone.reason,
        "filter_step": step,
        "filter_verdict": gone.verdict,
        "filter_measure": gone.measure,
        "filter_value": gone.value,
        "filter_limit": gone.limit,
        "filter_detail": gone.detail,
    }


def _judge(stage: RowStage, held: Sequence[Held], options: Options) -> list[_Outcome]:
    """What becomes of each Document; those that stay are changed as the stage says."""
    outcomes = [_Outcome(one.fault) for one in held]
    places = [place for place, one in enumerate(held) if one.fault is None]
    documents = [held[place].document for place in places]
    batch = batch_of([held[place] for place in places])
    judged = judge(stage, batch)
    for row, gone in judged.gone.items():
        outcomes[places[row]] = _Outcome(gone)
    if options.measures:
        _write_measures(documents, judged, stage.name)
    if isinstance(stage, Mapper):
        kept = [documents[row] for row in judged.kept_rows.tolist()]
        write_back(kept, rows_of(batch, judged.kept_rows), judged.kept, stage.name)
        for row, cut in _cuts(judged).items():
            outcomes[places[row]] = _Outcome(None, cut)
    return outcomes


def _write_measures(documents: Sequence[Any], judged: Judged, stage: str) -> None:
    for name, values in judged.measures.items():
        for document, value in zip(documents, np.asarray(values, np.float64).tolist(), strict=True):
            document.metadata[f"{PREFIX}.{stage}.{name}"] = number_or_none(value)


def _cuts(judged: Judged) -> dict[int, dict[str, int]]:
    """Row -> what was cut out of a text that stays."""
    cuts: dict[int, dict[str, int]] = {}
    trace = judged.trace
    for reason, chars in trace.cut_chars.items():
        for row in np.flatnonzero(trace.kept & (np.asarray(chars) != 0)).tolist():
            cuts.setdefault(row, {})[reason] = int(chars[row])
    return cuts
