"""The same work as a PySpark job that somebody writes by hand: what the engine spark is held against.

`python -m tests.bench.spark_by_hand FOLDER filters|minhash`: rules by `mapInArrow`, with our own measures (slower ones
would flatter us); near copies by band keys from our own signatures, `groupBy` and one keeper a band, without a ledger,
verification or clusters. Prints `{"start_s", "run_s", "rows"}`.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gristmill.manifests.schema import DOCUMENT, content_hashes, document_batch
from gristmill.pipeline.engines.java import java_home
from gristmill.stages import catalogue

WORKERS = 2
FILTERS = ("gopher_repetition", "gopher_quality", "c4", "fineweb")


def filtered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows that every rule keeps."""
    stages = [catalogue.load(name, {}, Path()) for name in FILTERS]
    for batch in batches:
        left = batch
        for stage in stages:
            left = _kept(stage, left)
        yield left


def _kept(stage: Any, batch: pa.RecordBatch) -> pa.RecordBatch:
    documents = _documents(batch)
    if not hasattr(stage, "rules"):
        mapped = stage.transform(documents)
        gone = np.zeros(batch.num_rows, bool)
        gone[[verdict.row for verdict in mapped.verdicts]] = True
        text = mapped.batch.column("text").cast(batch.schema.field("text").type)
        changed = batch.set_column(batch.schema.get_field_index("text"), "text", text)
        return changed.filter(pa.array(~gone))
    measures, keep = stage.measure(documents), np.ones(batch.num_rows, bool)
    for rule in stage.rules():
        value = measures[rule.measure]
        keep &= ~(value > rule.limit if rule.direction == "above" else value < rule.limit)
    return batch.filter(pa.array(keep))


def _documents(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as stages take them; emitting orders documents by their content's hash."""
    text = batch.column("text").cast(pa.large_string())
    hashes = content_hashes(text, pa.nulls(len(text), DOCUMENT.field("media").type))
    return document_batch({"text": text, "id": batch.column("id"), "content_hash": hashes})


def band_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """(band key, id) of every document."""
    keys = catalogue.load("minhash_dedup", {}, Path()).keys()  # pyright: ignore[reportAttributeAccessIssue]
    for batch in batches:
        found = keys.emit(_documents(batch), np.arange(batch.num_rows, dtype=np.uint64))
        ids = batch.column("id").take(pa.array(found.column("addr").to_numpy().astype(np.int64)))
        yield pa.RecordBatch.from_arrays([found.column("key").cast(pa.binary()), ids], names=["key", "id"])


def wanted(docs: Any, what: str) -> Any:
    """The DataFrame of what is kept."""
    from pyspark.sql import functions

    if what == "filters":
        return docs.mapInArrow(filtered, docs.schema)
    bands = docs.mapInArrow(band_rows, "key binary, id string")
    first = bands.groupBy("key").agg(functions.min("id").alias("keeper"))
    gone = bands.join(first, "key").where("id > keeper").select("id").distinct()
    return docs.join(gone, "id", "left_anti")


def main(folder: Path, what: str) -> None:
    """See the module."""
    from pyspark.sql import SparkSession

    started_s = time.perf_counter()
    os.environ["JAVA_HOME"] = java_home()
    os.environ["PYSPARK_PYTHON"] = sys.executable  # else workers run the python3 of PATH
    builder = SparkSession.builder.master(f"local[{WORKERS}]").config("spark.driver.host", "127.0.0.1")
    for name, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.parquet.compression.codec": "zstd",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    small = spark.read.parquet(str(folder / "w*.parquet")).repartition(WORKERS)  # so that each has its kernels
    wanted(small, what).count()
    start_s = time.perf_counter() - started_s
    started_s = time.perf_counter()
    docs = spark.read.parquet(str(folder / "p*.parquet"))
    made = wanted(docs, what)
    out = folder / "by-hand"
    made.write.mode("overwrite").parquet(str(out))
    run_s = time.perf_counter() - started_s
    rows = sum(pc.count(t.column("id")).as_py() for t in [pq.read_table(out, columns=["id"])])
    spark.stop()
    shutil.rmtree(out)
    print(json.dumps({"start_s": start_s, "run_s": run_s, "rows": rows}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
