"""The Spark context of a run: settings, start and end, and what its failures are called.

Settings of a profile (table `spark`) and of `spark-submit` go before ours. What the JVM prints goes to a log file: a
terminal shows one line of ours instead. `local` masters listen on 127.0.0.1 alone.
"""

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from gristmill.manifests.errors import EngineLostError, EngineMissingError, UsageError
from gristmill.pipeline.engines.probe import no_answer
from gristmill.pipeline.engines.spark.worker import SHIPPED
from gristmill.pipeline.recipe_files import RecipeFiles, write_archive

MAX_FAILURES = 4
"""Attempts at a task (`spark.task.maxFailures`, Spark's own default; local masters make one only)."""
_CONNECT_S = 5.0
_MAX_CAUSES = 4
_LOOPBACK = "127.0.0.1"
_MASTER = re.compile(r"local(\[(\*|[1-9]\d*)(, *[1-9]\d*)?\])?|spark://[^/\s]+:\d+(,[^/\s]+:\d+)*|k8s://\S+|yarn")
_SPARK_MASTER = "spark://"
_K8S_MASTER = "k8s://"
_YARN = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
_GATEWAY = "PYSPARK_GATEWAY_PORT"
"""Set where `spark-submit` started this process."""

Context = Any
"""A pyspark.SparkContext."""


def master_of(master: str | None, workers: int) -> str:
    """The master to ask for: `local` ones try a task again, as clusters do. Raises UsageError on what is none."""
    asked = master or f"local[{max(1, workers)}]"
    if _MASTER.fullmatch(asked) is None:
        remedy = "give local[N], spark://HOST:PORT, yarn or k8s://URL"
        raise UsageError("no Spark master", "--master", asked, remedy)
    found = re.fullmatch(r"local(?:\[([^,\]]+)\])?", asked)  # one that says how often is left as it is
    return f"local[{found.group(1) or 1},{MAX_FAILURES}]" if found else asked


def refuse_unreachable(master: str) -> None:
    """Raise EngineLostError where no host of a `spark://` or `k8s://` master answers, EngineMissingError where nothing
    says where yarn is; Spark itself tries for minutes. A JVM that is there already has found its cluster."""
    if _GATEWAY in os.environ:
        return
    if master == "yarn" and not any(os.environ.get(name) for name in _YARN):
        remedy = "set HADOOP_CONF_DIR to the folder with the cluster's yarn-site.xml"
        raise EngineMissingError("nothing says where the cluster is", "--master yarn", None, remedy)
    reasons: list[str] = []
    for address in _addresses(master):
        error = no_answer(address, _CONNECT_S)
        if error is None:
            return
        reasons.append(f"{address}: {getattr(error, 'strerror', None) or error}")
    if not reasons:
        return
    raise EngineLostError("the Spark master cannot be reached", "--master", "; ".join(reasons), "start it, then resume")


def _addresses(master: str) -> list[str]:
    """HOST:PORT of each host that a master may be; [] where none is named."""
    if master.startswith(_SPARK_MASTER):
        return master.removeprefix(_SPARK_MASTER).split(",")
    if not master.startswith(_K8S_MASTER):
        return []
    url = urlsplit(master.removeprefix(_K8S_MASTER) if "://" in master[len(_K8S_MASTER) :] else f"https:{master[4:]}")
    return [f"{url.hostname}:{url.port or (80 if url.scheme == 'http' else 443)}"]


def is_local(master: str) -> bool:
    """Whether a master is a process of this machine, made for the run."""
    return master.startswith("local")


def start_context(master: str, settings: Mapping[str, str | int | float | bool], log: Path) -> Context:
    """A running context, with the Java of `$JAVA_HOME`. Raises EngineLostError where Spark does not start."""
    # Unset, workers run whatever `python3` is on their PATH, which lacks what this one has.
    asked = settings.get("spark.pyspark.python")
    os.environ["PYSPARK_PYTHON"] = str(asked) if asked else os.environ.get("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark import SparkConf, SparkContext

    try:
        with log.open("ab") as printed, tempfile.TemporaryDirectory(prefix="gristmill-spark-") as folder:
            wanted = {**_defaults(master), **as_text(settings)}
            gateway = _gateway(wanted, Path(folder), printed)
            conf = SparkConf(_jvm=gateway.jvm).setMaster(master)
            for name, value in wanted.items():  # under spark-submit the JVM was there before
                conf.setIfMissing(name, value)
            return SparkContext(conf=conf, gateway=gateway)
    except Exception as error:
        how = ": ".join(filter(None, (first_line(error), _complaint(log))))
        remedy = f"look into {log}, correct the profile's table spark, then run the same command"
        raise EngineLostError("Spark did not start", master, how, remedy) from error


def _complaint(log: Path) -> str:
    """The last line in which a JVM that did not start says why."""
    with suppress(OSError):
        lines = log.read_text(errors="replace").splitlines()[-30:]
        return next((line.strip() for line in reversed(lines) if line.startswith(("Invalid", "Error", "Unrecog"))), "")
    return ""


def _gateway(settings: Mapping[str, str], folder: Path, printed: IO[bytes]) -> Any:
    """The JVM. Its settings stand in a file: a command line is read by everybody on a machine, and they may hold
    credentials for executors."""
    from pyspark.java_gateway import launch_gateway

    path = folder / "spark.properties"
    write_properties(path, settings)
    own = os.environ.get("PYSPARK_SUBMIT_ARGS")
    ours = f"--load-spark-defaults --properties-file {shlex.quote(str(path))}"
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{ours} {own or 'pyspark-shell'}"
    try:
        return launch_gateway(None, {"stdout": printed, "stderr": printed, "start_new_session": True})
    finally:
        os.environ.pop("PYSPARK_SUBMIT_ARGS")
        if own is not None:
            os.environ["PYSPARK_SUBMIT_ARGS"] = own


def as_text(settings: Mapping[str, str | int | float | bool]) -> dict[str, str]:
    """Settings of a profile as Spark reads them."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in settings.items()}


def write_properties(path: Path, settings: Mapping[str, str]) -> None:
    """A file of settings that its owner alone may read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="ascii") as file:
        file.writelines(f"{_escaped(name)}={_escaped(value)}\n" for name, value in settings.items())


def _escaped(text: str) -> str:
    """As java.util.Properties reads it back."""
    return "".join(
        char
        if char.isascii() and (char.isalnum() or char in "._-/")
        else "".join(f"\\u{unit:04x}" for unit in _units(char))
        for char in text
    )


def _units(char: str) -> Iterator[int]:
    raw = char.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2))


def is_idle(context: Context) -> bool:
    """Whether executors have joined and none of them has a task."""
    infos = context._jsc.sc().statusTracker().getExecutorInfos()
    return bool(executors_of(context)) and not sum(info.numRunningTasks() for info in infos)


def executors_of(context: Context) -> int:
    """Executors that have joined; a local master is one."""
    if is_local(context.master):
        return 1
    return len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1  # the driver is listed, too


def _defaults(master: str) -> dict[str, str]:
    settings = {
        "spark.app.name": "gristmill",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "WARN",
        "spark.task.maxFailures": str(MAX_FAILURES),
        "spark.python.daemon.module": "gristmill.pipeline.engines.spark.daemon",
        "spark.python.worker.reuse": "true",
        "spark.python.worker.faulthandler.enabled": "true",
        "spark.driver.maxResultSize": "4g",
    }
    if is_local(master):
        settings |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
        settings["spark.local.dir"] = tempfile.gettempdir()
    kernels = os.environ.get("NUMBA_CACHE_DIR")
    return settings | ({"spark.executorEnv.NUMBA_CACHE_DIR": kernels} if kernels else {})


def ship(context: Context, shipped: RecipeFiles, folder: Path) -> None:
    """Have files on every executor, as the folder SHIPPED of its own. Executors ask for them when they begin: what is
    put into `folder` must stay as long as the context."""
    archive = folder / f"{SHIPPED}.zip"
    write_archive(shipped, archive)
    context.addArchive(f"{archive}#{SHIPPED}")


def stop_context(context: Context) -> None:
    """End it, its executors and its JVM, whatever state they are in."""
    gateway = context._gateway
    with suppress(Exception):
        context.stop()
    with suppress(Exception):
        gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        with suppress(Exception):
            process.stdin.close()
            process.wait(timeout=10)
        if process.poll() is None:
            process.kill()
            process.wait()
    type(context)._gateway = None
    type(context)._jvm = None


def first_line(error: BaseException) -> str:
    """What a failure says, without the stack of the JVM."""
    java = getattr(error, "java_exception", None)
    texts = [str(error)]
    if java is not None:
        texts = []
        while java is not None and len(texts) < _MAX_CAUSES:
            texts.append(str(java.getMessage() or java.getClass().getSimpleName()))
            java = java.getCause()
    firsts = [next((line.strip() for line in text.splitlines() if line.strip()), "") for text in texts]
    distinct = [text for text in dict.fromkeys(firsts) if text]
    return ": ".join(distinct) or type(error).__name__
