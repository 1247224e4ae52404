"""Jobs as Slurm arrays: submitted by datatrove's executor, watched by squeue.

The output lies on storage that every node sees. Slurm knows which of its jobs live; marks only tell of tasks. A driver
that ends, however it does, leaves the ids of its jobs behind: itself, or the next driver of the output, cancels them.
"""

import getpass
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

from gristmill.manifests.errors import EngineLostError, EngineMissingError, UsageError
from gristmill.pipeline.engines import needs
from gristmill.pipeline.engines.trove.job import Job, Worker
from gristmill.pipeline.engines.trove.slurm_executor import SlurmJob, slurm_executor
from gristmill.pipeline.profile import SlurmProfile
from gristmill.pipeline.task import Resources, Task

FIRST_POLL_S, LAST_POLL_S = 1.0, 15.0
SILENT_S = 600.0
"""So long may the controller not answer, as when it is restarted."""
CALM_END_S = 20.0
ENDED = (
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"),
    *("REVOKED", "TIMEOUT"),
)
NEVER = (
    *("AccountNotAllowed", "AssocGrpCPUMinutesLimit", "BadConstraints", "DependencyNeverSatisfied", "InvalidAccount"),
    *("InvalidQOS", "JobHeldAdmin", "JobHeldUser", "PartitionDown", "PartitionInactive", "PartitionNodeLimit"),
    *("PartitionTimeLimit", "QOSMaxWallDurationPerJobLimit", "ReservationDeleted", "launch_failed_requeued_held"),
)
"""Reasons for which a job that waits will wait until somebody does something."""


class SlurmLauncher:
    """See Launcher and the module. `workers`: tasks at once, None any number.

    Raises UsageError where Slurm's programs, or the environment that nodes are to use, are not there.
    """

    pause_s = 2.0
    stuck_s = float("inf")

    def __init__(self, profile: SlurmProfile, workers: int | None) -> None:
        missing = [name for name in needs.SLURM if shutil.which(name) is None]
        if missing:
            remedy = "run on a node that submits jobs, or leave the option out: results do not depend on the executor"
            raise EngineMissingError("Slurm's programs are not on PATH", "--executor slurm", missing[0], remedy)
        self._bin = Path(profile.venv or sys.prefix) / "bin"
        if not (self._bin / "launch_pickled_pipeline").exists():
            remedy = "name an environment with gristmill[datatrove] on storage that every node sees"
            raise UsageError("no environment with datatrove", "profile: slurm.venv", self._bin.parent, remedy)
        self._profile = profile
        self._workers = workers
        self._job: Job | None = None
        self._told = ""
        self._next_s = self._poll_s = self._answered_s = 0.0
        self._empty = 0

    def refuse(self, wanted: Iterable[tuple[str, Resources]]) -> None:
        """See Launcher: sbatch tells what no node has."""

    def ranks_for(self, tasks: Sequence[Task], resources: Resources) -> int:
        """See Launcher: a task each, for a limit of time holds for a job."""
        return len(tasks)

    def start(self, job: Job, ranks: int, resources: Resources) -> None:
        """See Launcher."""
        from loguru import logger

        self._job = job
        self._told, self._empty, self._poll_s = "", 0, FIRST_POLL_S
        self._answered_s = time.monotonic()
        self._next_s = self._answered_s + FIRST_POLL_S
        made_of = SlurmJob(str(job.folder), ranks, self._workers or -1, str(self._bin), resources, self._profile)
        logger.disable("datatrove")
        executor = slurm_executor(made_of)
        said = job.log / "sbatch.err"
        try:
            # Not `run`: it takes a driver that itself runs in an array job for one of its own.
            with _heard(said):
                executor.launch_job()
        except subprocess.CalledProcessError:
            reason = said.read_text(errors="replace").strip().rpartition("\n")[2] or "it does not say why"
            remedy = (
                "correct the table slurm of the profile, or wait for the cluster; then run the same command to resume"
            )
            raise EngineLostError("sbatch refused the job", "--executor slurm", reason, remedy) from None

    def is_gone(self, worker: Worker) -> bool:
        """See Launcher: a process on another node is Slurm's to tell of."""
        return False

    def over(self) -> str | None:
        """See Launcher. Asks rarely: squeue is answered by the one controller of a cluster."""
        if self._job is None or time.monotonic() < self._next_s:
            return None
        self._poll_s = min(1.5 * self._poll_s, LAST_POLL_S)
        self._next_s = time.monotonic() + self._poll_s
        states = self._states(self._job)
        if states is None:
            return None
        active = [reason for state, reason in states if state not in ENDED]
        never = [reason for reason in active if reason.replace(" ", "_") in NEVER]
        if never:
            remedy = "release the job or correct the profile, then run the same command to resume"
            raise EngineLostError("the Slurm job will not start", _named(self._job), never[0], remedy)
        self._empty = 0 if active else self._empty + 1
        if self._empty < 2:  # twice: a job that queues itself again is nowhere for a moment
            return None
        bad = sorted({state for state, _ in states} - {"COMPLETED"})
        if "CANCELLED" in bad:
            remedy = "run the same command to resume"
            raise EngineLostError("the Slurm job was cancelled", _named(self._job), None, remedy)
        return f"the array jobs have ended ({', '.join(bad) or 'COMPLETED'}{last_words(self._job)})"

    def _states(self, job: Job) -> list[tuple[str, str]] | None:
        """State and reason of each entry of our jobs that Slurm knows; None when it does not answer."""
        words = ["squeue", "-h", "-t", "all", "-u", getpass.getuser(), "-o", "%F|%T|%r"]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            if time.monotonic() - self._answered_s > SILENT_S:
                remedy = "run the same command to resume when Slurm answers again"
                raise EngineLostError("Slurm does not answer", "squeue", done.stderr.strip(), remedy)
            return None
        self._answered_s = time.monotonic()
        ids = set(ids_of(job))
        rows = [line.strip().split("|", 2) for line in done.stdout.splitlines()]
        return [(row[1], row[2]) for row in rows if len(row) == 3 and row[0] in ids]

    def stop(self, calm: bool) -> None:
        """See Launcher. Jobs that have done everything may end by themselves, for accounts' sake."""
        job, self._job = self._job, None
        if job is None:
            return
        until = time.monotonic() + (CALM_END_S if calm else 0)
        while time.monotonic() < until:
            states = self._states(job)
            if states is not None and all(state in ENDED for state, _ in states):
                return
            time.sleep(0.5)
        cancel(job)

    def close(self) -> None:
        """See Launcher."""
        self.stop(False)


def ids_of(job: Job) -> list[str]:
    """The ids of a job's arrays. The file lies in the output, which may be somebody else's: a word of it that is no
    number would be an option of scancel."""
    words = job.array_ids.read_bytes().split() if job.array_ids.exists() else []
    return [word.decode() for word in words if word.isdigit()]


def cancel(job: Job) -> None:
    """End what still waits or works for a job, as far as Slurm can be reached."""
    ids = ids_of(job)
    if ids:
        subprocess.run(["scancel", *ids], check=False, capture_output=True)


def _named(job: Job) -> str:
    return f"Slurm job {','.join(ids_of(job))}"


def last_words(job: Job) -> str:
    """The last line that an array job printed, for who must find out why it ended."""
    logs = sorted((job.log / "slurm_logs").glob("*.out"), key=os.path.getmtime)
    lines = logs[-1].read_text(errors="replace").strip().splitlines() if logs else []
    return f": {lines[-1][:200]}" if lines else ""


@contextmanager
def _heard(path: Path) -> Generator[None]:
    """Have what programs that are started here print for people go to a file: datatrove lets sbatch write to ours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    ours = os.dup(2)
    try:
        with path.open("wb") as heard:
            os.dup2(heard.fileno(), 2)
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)
