"""Stages in pipelines that are not ours: in anybody's datatrove pipeline, and over anybody's Spark DataFrame.

    from gristmill.pipeline.adapters import as_datatrove, on_spark

A stage here is what a recipe's step names: a built-in stage (with parameters), `./my_filters.py:shouting`, or an
object, such as what `@doc_filter` makes. It is row-local: a filter or a mapper; what looks at whole datasets is refused
with what to do instead. Verdicts are those of a run, reason by reason. Nothing heavy is imported before a call.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datatrove.pipeline.base import PipelineStep
    from datatrove.pipeline.writers.disk_base import DiskWriter


def as_datatrove(
    stage: object,
    params: Mapping[str, object] | None = None,
    *,
    exclusion_writer: "DiskWriter | None" = None,
    measures: bool = False,
    batch_rows: int | None = None,
    batch_bytes: int | None = None,
    base_dir: str | Path = "",
) -> "PipelineStep":
    """A datatrove step that keeps, changes and drops Documents as the stage does; see `adapters.datatrove`.

    `params` are those of a stage given by name. Dropped Documents go to `exclusion_writer`, if there is one. With
    `measures`, what the stage measured goes to the metadata. Batches end at `batch_rows` Documents or `batch_bytes` of
    text, by default those of a run. Raises UsageError on a wrong stage or parameter, or where datatrove is missing.
    """
    from gristmill.pipeline.adapters import datatrove
    from gristmill.pipeline.adapters.shipped import row_stage

    found = row_stage(stage, params, Path(base_dir), "as_datatrove")
    return datatrove.make_step(
        found, exclusion_writer, datatrove.Options(measures).with_bounds(batch_rows, batch_bytes)
    )


def on_spark(
    df: Any,
    stage: object,
    params: Mapping[str, object] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    prefix: str = "",
    base_dir: str | Path = "",
) -> Any:
    """The DataFrame with the stage's verdict on each row in further columns; see `adapters.spark`.

    `columns` says which column holds what a stage looks at (`{"text": "body", "lang": "language"}`), where the name is
    not that of `manifests.schema.DOCUMENT`. `prefix` stands before the names of the new columns. Raises UsageError on
    a wrong stage, parameter or column, or where pyspark is missing.
    """
    from gristmill.pipeline.adapters import spark
    from gristmill.pipeline.adapters.shipped import row_stage

    found = row_stage(stage, params, Path(base_dir), "on_spark")
    return spark.judged(df, found, columns or {}, prefix)
