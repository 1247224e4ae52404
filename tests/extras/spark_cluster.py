"""A real standalone Spark master and its workers on the loopback, in processes of their own."""

import os
import signal
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from gristmill.pipeline.engines.java import java_home
from tests.processes import wait_until

HOSTS = ("127.0.0.1", "127.0.0.2")
"""Of the workers: Spark starts no second copy of a task on a host where one runs."""
SCRUBBED = ("JAVA_TOOL_OPTIONS", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "PYTHONSTARTUP")
_DEPLOY = "org.apache.spark.deploy"


@dataclass
class Cluster:
    """A running cluster. `workers[i]` is the worker on HOSTS[i]."""

    url: str
    folder: Path
    environment: dict[str, str]
    master: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    def start_worker(self, host: str) -> subprocess.Popen[bytes]:
        """One more worker of one core."""
        work = str(self.folder / f"work-{host}")
        options = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", work]
        worker = launch(self.environment, self.folder, f"{_DEPLOY}.worker.Worker", *options, self.url)
        self.workers.append(worker)
        return worker


def clean_environment() -> dict[str, str]:
    """The environment, without what would change Spark, and with this machine's Java."""
    kept = {name: value for name, value in os.environ.items() if name not in SCRUBBED}
    return {**kept, "JAVA_HOME": java_home(), "SPARK_LOCAL_IP": HOSTS[0], "SPARK_NO_DAEMONIZE": "1"}


def launch(environment: dict[str, str], folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """A class of Spark in a process group of its own."""
    import pyspark

    program = Path(str(pyspark.__file__)).parent / "bin" / "spark-class"
    with (folder / f"{words[0].rpartition('.')[2]}.log").open("ab") as log:
        return subprocess.Popen(
            [str(program), *words], env=environment, stdout=log, stderr=log, cwd=folder, start_new_session=True
        )


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as found:
        found.bind((HOSTS[0], 0))
        return int(found.getsockname()[1])


@contextmanager
def cluster(folder: Path) -> Generator[Cluster]:
    """A master with a worker on each of HOSTS."""
    port, environment = free_port(), clean_environment()
    options = ["--host", HOSTS[0], "--port", str(port), "--webui-port", "0"]
    master = launch(environment, folder, f"{_DEPLOY}.master.Master", *options)
    running = Cluster(f"spark://{HOSTS[0]}:{port}", folder, environment, master)
    try:
        wait_until(lambda: _listens(port), 60, "a Spark master")
        for host in HOSTS:
            running.start_worker(host)
        log = folder / "Master.log"
        wait_until(lambda: log.read_text().count("Registering worker") >= len(HOSTS), 60, "Spark workers")
        yield running
    finally:
        for process in (*running.workers, master):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _listens(port: int) -> bool:
    with suppress(OSError):
        socket.create_connection((HOSTS[0], port), 1).close()
        return True
    return False
