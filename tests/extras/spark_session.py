"""A local Spark session for tests: on the loopback, without UI, its workers in this interpreter."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.extras.spark_cluster import SCRUBBED

CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
}


@contextmanager
def local_session(**conf: str) -> Iterator[Any]:
    """A session of `local[2]`; what a shell left in the environment has no part in it."""
    from pyspark.sql import SparkSession

    saved = {name: os.environ.pop(name, None) for name in SCRUBBED}
    saved |= {name: os.environ.get(name) for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")}
    saved["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("gristmill-tests")
    for key, value in {**CONF, **conf}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
