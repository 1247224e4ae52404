"""A stage's verdict on each row of a Spark DataFrame, by `mapInArrow`.

Every column of the DataFrame stays as it is, every row too, in its place; behind them come (each behind `prefix`)

| column | type | |
|---|---|---|
| kept | boolean | whether the stage keeps the row |
| verdict | string | keep, drop, or quarantine for a row that cannot be judged |
| step | string | the stage |
| reason, measure, detail | string | null for a kept row |
| value, limit | double | what was measured, against what; null where there is no number |
| MEASURE | double | one column for each measure; null where it does not apply |
| text_after, lang_after | string | mappers: text and language of a kept row as the stage leaves them |
| cut_chars | map<string, bigint> | mappers: characters taken out of a kept row's text, by reason (negative: written) |
| scores | map<string, double> | mappers: what classifiers said |

The stage looks at the columns of `manifests.schema.DOCUMENT` of type string that the DataFrame has under the same name,
or that `columns` names; those that it has not are null. A null text is judged as "". Text that is not
UTF-8, which Spark does not refuse, is quarantined as `bad_utf8`, one above MAX_DOC_BYTES as `too_large`.

Batches are Spark's: `spark.sql.execution.arrow.maxRecordsPerBatch` rows, `spark.sql.execution.arrow.maxBytesPerBatch`
bytes (64 MiB by default, below 2 GiB in any case, which is what a column of type string can hold). Workers need the
package gristmill; the stage is shipped to them, with the file of a user's stage. A DataFrame that is asked for a few
rows (`limit`) is judged batch by batch until Spark has enough.
"""

import functools
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import DOCUMENT, MAX_DOC_BYTES, content_hashes, document_batch
from gristmill.pipeline.adapters.judged import BAD_UTF8, TOO_LARGE, Gone, Judged, judge
from gristmill.pipeline.adapters.shipped import Shipped
from gristmill.pipeline.sources.tabular import not_utf8
from gristmill.pipeline.suggest import did_you_mean
from gristmill.stages.doc_filter import DocFilter
from gristmill.stages.protocol import Mapper, RowStage

SHOWN = ("text", "id", "url", "lang", "license", "source", "domain", "meta")
"""Columns of DOCUMENT that a DataFrame may have."""

_SETUP = "on_spark"


@dataclass(frozen=True)
class Plan:
    """What a worker needs besides the stage: DOCUMENT's columns by the DataFrame's, and the measures, in order."""

    columns: Mapping[str, str]
    measures: tuple[str, ...]
    changes: bool


def judged(df: Any, shipped: Shipped, columns: Mapping[str, str], prefix: str) -> Any:
    """The DataFrame with the verdict columns. Raises UsageError."""
    types = _types()
    stage = shipped.stage
    plan = Plan(_columns(df, columns), _measures(stage), isinstance(stage, Mapper) and not isinstance(stage, DocFilter))
    new = [types.StructField(f"{prefix}{name}", kind) for name, kind in _fields(plan, types)]
    _refuse_twice([*df.columns, *(field.name for field in new)], prefix)
    schema = types.StructType([*df.schema.fields, *new])
    return df.mapInArrow(functools.partial(_judge_partition, shipped, plan), schema)


def _types() -> Any:
    try:
        return importlib.import_module("pyspark.sql.types")
    except ImportError as error:
        remedy = "pip install 'gristmill[spark]'"
        raise UsageError("pyspark is not installed", _SETUP, str(error), remedy) from error


def _columns(df: Any, given: Mapping[str, str]) -> dict[str, str]:
    """DOCUMENT's column -> the DataFrame's. Raises UsageError."""
    kinds = {field.name: field.dataType.typeName() for field in df.schema.fields}
    for name in given:
        if name not in SHOWN:
            raise UsageError("not a column that stages look at", f"{_SETUP} columns", name, did_you_mean(name, SHOWN))
    found = {name: name for name in SHOWN if name not in given and kinds.get(name) == "string"} | dict(given)
    for name, own in found.items():
        if own not in kinds:
            raise UsageError("no such column", f"{_SETUP} {name}", own, did_you_mean(own, kinds))
        if kinds[own] not in ("string", "varchar", "char"):
            raise UsageError("not a column of strings", f"{_SETUP} {name}", f"{own}: {kinds[own]}", "cast it")
    if "text" not in found:
        has = f"; it has {', '.join(kinds)}"
        raise UsageError("no column `text` of strings", _SETUP, None, f'name yours: columns={{"text": "body"}}{has}')
    return found


def _measures(stage: RowStage) -> tuple[str, ...]:
    """Names of what the stage measures, from a batch of one ordinary row."""
    text = pa.array(["An ordinary text."], pa.large_string())
    hashes = content_hashes(text, pa.nulls(1, DOCUMENT.field("media").type))
    return tuple(judge(stage, document_batch({"text": text, "content_hash": hashes})).measures)


def _fields(plan: Plan, types: Any) -> list[tuple[str, Any]]:
    text, number = types.StringType(), types.DoubleType()
    words = [(name, text) for name in ("verdict", "step", "reason", "measure", "detail")]
    fields = [("kept", types.BooleanType()), *words, ("value", number), ("limit", number)]
    fields += [(name, number) for name in plan.measures]
    if plan.changes:
        fields += [("text_after", text), ("lang_after", text)]
        fields += [("cut_chars", types.MapType(text, types.LongType())), ("scores", types.MapType(text, number))]
    return fields


def _refuse_twice(names: Sequence[str], prefix: str) -> None:
    # Spark tells columns apart without regard to case.
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            remedy = "rename yours" if prefix else 'give a prefix="gristmill_", or rename yours'
            raise UsageError("two columns of one name", _SETUP, name, remedy)
        seen.add(name.lower())


def _judge_partition(shipped: Shipped, plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            # Spark 3.5 hands lists of columns to mapInArrow under window functions (feast#6441).
            raise TypeError(f"mapInArrow gave a {type(batch).__name__}, not a RecordBatch; use Spark 4 or later")
        yield _with_verdicts(shipped.stage, plan, batch)


def _with_verdicts(stage: RowStage, plan: Plan, batch: pa.RecordBatch) -> pa.RecordBatch:
    documents, faults = _documents(batch, plan.columns)
    found = judge(stage, documents)
    gone = {**found.gone, **faults}
    arrays = [*batch.columns, *_verdict_arrays(stage.name, gone, batch.num_rows)]
    for name in plan.measures:
        values = np.asarray(found.measures.get(name, np.full(batch.num_rows, np.nan)), np.float64)
        arrays.append(pa.array(values, pa.float64(), from_pandas=True))
    if plan.changes:
        arrays += _change_arrays(found, batch.num_rows, faults)
    # Spark goes by position; names are those of the schema that it was told.
    names = [*batch.schema.names, *(f"_{number}" for number in range(len(arrays) - batch.num_columns))]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _documents(batch: pa.RecordBatch, columns: Mapping[str, str]) -> tuple[pa.RecordBatch, dict[int, Gone]]:
    """Rows of DOCUMENT, and those that cannot be judged, whose text is "" there."""
    given = {name: batch.column(batch.schema.get_field_index(own)) for name, own in columns.items()}
    faults: dict[int, Gone] = {}
    raw = pc.fill_null(given["text"].cast(pa.large_binary()), b"")
    for row in not_utf8(raw):
        faults[row] = Gone("quarantine", BAD_UTF8)
    sizes = pc.binary_length(raw).to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(sizes > MAX_DOC_BYTES).tolist():
        faults[row] = Gone("quarantine", TOO_LARGE, "text_bytes", float(sizes[row]), float(MAX_DOC_BYTES))
    found = {name: _sound(column) for name, column in given.items() if name != "text"}
    if faults:
        mask = np.zeros(batch.num_rows, np.bool_)
        mask[list(faults)] = True
        raw = pc.if_else(pa.array(mask), pa.scalar(b"", pa.large_binary()), raw)
    text = raw.cast(pa.large_string())
    hashes = content_hashes(text, pa.nulls(len(text), DOCUMENT.field("media").type))
    return document_batch({**found, "text": text, "content_hash": hashes}), faults


def _sound(column: pa.Array) -> pa.Array:
    """The column; null where it is not UTF-8."""
    raw = column.cast(pa.large_binary())
    bad = np.zeros(len(raw), np.bool_)
    bad[not_utf8(raw)] = True
    return pc.if_else(pa.array(bad), pa.scalar(None, pa.large_binary()), raw).cast(pa.binary()).cast(pa.string())


def _verdict_arrays(stage: str, gone: Mapping[int, Gone], rows: int) -> list[pa.Array]:
    told = [gone.get(row) for row in range(rows)]
    reasons, measures, details = (
        pa.array([g and getattr(g, name) for g in told], pa.string()) for name in ("reason", "measure", "detail")
    )
    return [
        pa.array([g is None for g in told], pa.bool_()),
        pa.array(["keep" if g is None else g.verdict for g in told], pa.string()),
        pa.array([stage] * rows, pa.string()),
        *(reasons, measures, details),
        pa.array([g and g.value for g in told], pa.float64()),
        pa.array([g and g.limit for g in told], pa.float64()),
    ]


def _change_arrays(found: Judged, rows: int, faults: Mapping[int, Gone]) -> list[pa.Array]:
    """What a mapper made of the rows that stay; null for the others."""
    places = np.full(rows, -1, np.int64)
    places[found.kept_rows] = np.arange(len(found.kept_rows))
    places[list(faults)] = -1
    at = pa.array(places, mask=places < 0)
    cuts: dict[int, list[tuple[str, int]]] = {row: [] for row in np.flatnonzero(places >= 0).tolist()}
    for reason, chars in found.trace.cut_chars.items():
        for row in np.flatnonzero((np.asarray(chars) != 0) & (places >= 0)).tolist():
            cuts[row].append((reason, int(chars[row])))
    texts, langs, scores = (found.kept.column(name).take(at) for name in ("text", "lang", "scores"))
    kind = pa.map_(pa.string(), pa.int64())
    return [
        texts.cast(pa.string()),
        langs.cast(pa.string()),
        pa.array([cuts.get(row) for row in range(rows)], kind),
        scores,
    ]
