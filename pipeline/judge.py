"""What stages say of single documents, without a recipe.

In: a file, read by the source that its suffix names, and row-local stages. Out: one `Judgement` for each of
its records in file order; what reading itself drops or quarantines (step `read`) comes behind the batch that
it stood in. The stages see what they would see in a run: same source, same chain, same rules.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.pipeline.sources import catalogue as sources
from gristmill.pipeline.sources.protocol import InputFile, Loss, ReadOptions
from gristmill.stages.chain import ChainResult, Fate, run_chain
from gristmill.stages.protocol import RowStage

READ_STEP = "read"
SHOWN_COLUMNS = ("lang", "domain", "url", "license", "meta")


@dataclass(frozen=True)
class Kind:
    """How files of a kind are read: the source, and the domain that their records have."""

    source: str
    domain: str | None


KINDS: Mapping[str, Kind] = {
    "html": Kind("html", "web"),
    "jsonl": Kind("jsonl", None),
    "parquet": Kind("parquet", None),
    "arrow": Kind("arrow", None),
    "warc": Kind("warc", "web"),
    "wet": Kind("wet", "web"),
    "code": Kind("tree", "code"),
    "math": Kind("text", "math"),
    "text": Kind("text", "knowledge"),
}
_SUFFIXES: Mapping[str, str] = {
    "html": "htm html xhtml",
    "jsonl": "json jsonl ndjson",
    "parquet": "parquet",
    "arrow": "arrow feather ipc",
    "warc": "warc",
    "wet": "wet",
    "math": "mm tex",
    "code": "bash c cc clj cpp cs css cu cxx dart el erl ex f90 go h hpp hs java jl js jsx kt lisp lua m ml"
    " mli nim php pl pm ps1 py pyi r rb rs scala scm sh sql swift tcl ts tsx v vb vhd yaml yml zig",
}
_COMPRESSED = (".gz", ".zst")


def kind_of_file(path: Path) -> str:
    """The kind that a file's suffix names (one of compression put aside); `text` for all others."""
    name = path.name.lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    last = name.rpartition(".")[2]
    return next((kind for kind, suffixes in _SUFFIXES.items() if last in suffixes.split()), "text")


@dataclass(frozen=True)
class Judgement:
    """What became of one record. `step` decided; `value` of `measure` broke `limit` (None: no number).

    `record` counts the records that reading let through, from 0; one that it did not has an `offset`, as in
    `sources.protocol.Loss`. `measures` are those of every step that saw the record, the later
    of two with one name as `step.measure`, `cut_chars` the characters that steps took out of the text, by reason
    (negative: that they wrote); `text` is the new text of a changed record, `changes`
    the other columns that have a new value.
    """

    file: str
    verdict: str
    record: int | None = None
    offset: int | None = None
    step: str | None = None
    reason: str | None = None
    measure: str | None = None
    value: float | None = None
    limit: float | None = None
    detail: str | None = None
    measures: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    cut_chars: Mapping[str, int] = field(default_factory=dict[str, int])
    text: str | None = None
    changes: Mapping[str, str | None] = field(default_factory=dict[str, str | None])


def judge_file(
    path: Path, name: str, kind: Kind, stages: Sequence[RowStage], labels: Sequence[str]
) -> Iterator[Judgement]:
    """Judge each record of a file that is called `name`. Raises InputError when it cannot be read at all."""
    source = sources.load(kind.source)
    options = ReadOptions("judge", kind.domain, extra=dict(source.OPTIONS))
    record = 0
    for read in source.read_file(as_input(path, Path(name)), options):
        for judgement in _judge_batch(read.batch, stages, labels):
            yield replace(judgement, file=name, record=record)
            record += 1
        for loss in read.losses:
            yield _lost(loss, name)


def as_input(path: Path, shown: Path | None = None) -> InputFile:
    """A local file as sources take it. Its name, for rules by path, is the path (`shown`, if it is called otherwise),
    from the working folder on where it lies below.

    Raises InputError when it cannot be read.
    """
    try:
        digest = blake3()
        with path.open("rb") as opened:
            while piece := opened.read(1 << 20):
                digest.update(piece)
            size = opened.tell()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError("cannot be read", str(path), reason, "name files that you may read") from None
    return InputFile(str(path.resolve()), _shown_path(shown or path), size, f"blake3:{digest.hexdigest()}")


def _shown_path(path: Path) -> str:
    here = Path.cwd()
    below = path.relative_to(here) if path.is_relative_to(here) else path
    name = "/".join(part for part in below.parts if part not in (below.anchor, ".."))
    # A name that is not UTF-8 can stand in no column.
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _lost(loss: Loss, name: str) -> Judgement:
    return Judgement(
        name,
        loss.verdict,
        offset=loss.offset,
        step=READ_STEP,
        reason=loss.reason,
        value=_number(loss.value),
        limit=_number(loss.limit),
        detail=loss.detail or None,
    )


def _judge_batch(batch: pa.RecordBatch, stages: Sequence[RowStage], labels: Sequence[str]) -> Iterator[Judgement]:
    """A judgement for each row, still without file and record."""
    result = run_chain(stages, batch)
    measures, cuts = _measures(result, labels, batch.num_rows), _cuts(result, batch.num_rows)
    fates = {fate.row: fate for fate in result.fates}
    kept = {row: index for index, row in enumerate(result.kept_rows.tolist())}
    for row in range(batch.num_rows):
        if row in fates:
            yield replace(_gone(fates[row], labels, measures[row]), cut_chars=cuts[row])
        else:
            yield replace(_stayed(batch, row, result.kept, kept[row], measures[row]), cut_chars=cuts[row])


def _measures(result: ChainResult, labels: Sequence[str], rows: int) -> list[dict[str, float | None]]:
    measures: list[dict[str, float | None]] = [{} for _ in range(rows)]
    for label, step in zip(labels, result.steps, strict=True):
        for name, values in step.measures.items():
            for row, value in zip(step.rows.tolist(), values.tolist(), strict=True):
                key = f"{label}.{name}" if name in measures[row] else name
                measures[row][key] = _number(value)
    return measures


def _cuts(result: ChainResult, rows: int) -> list[dict[str, int]]:
    """What each step that a row passed cut of its text; a row that a step dropped is not counted there."""
    cuts: list[dict[str, int]] = [{} for _ in range(rows)]
    for step in result.steps:
        for reason, chars in step.cut_chars.items():
            for at in np.flatnonzero(step.kept & (np.asarray(chars) != 0)).tolist():
                row = int(step.rows[at])
                cuts[row][reason] = cuts[row].get(reason, 0) + int(chars[at])
    return cuts


def _gone(fate: Fate, labels: Sequence[str], measures: Mapping[str, float | None]) -> Judgement:
    return Judgement(
        "",
        fate.verdict,
        step=labels[fate.step_index],
        reason=fate.reason,
        measure=fate.measure or None,
        value=_number(fate.value),
        limit=_number(fate.limit),
        detail=fate.detail or None,
        measures=measures,
    )


def _stayed(
    before: pa.RecordBatch,
    row: int,
    after: pa.RecordBatch,
    index: int,
    measures: Mapping[str, float | None],
) -> Judgement:
    changes: dict[str, str | None] = {}
    for column in SHOWN_COLUMNS:
        new = after.column(column)[index].as_py()
        if new != before.column(column)[row].as_py():
            changes[column] = new
    text = after.column("text")[index].as_py()
    if text == before.column("text")[row].as_py():
        return Judgement("", "keep", measures=measures, changes=changes)
    return Judgement("", "change", measures=measures, text=text, changes=changes)
