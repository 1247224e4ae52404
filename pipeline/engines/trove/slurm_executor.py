"""datatrove's SlurmPipelineExecutor as we submit it, and what its array jobs do when Slurm tells them to stop.

An array job is told (SIGUSR1) some time before its limit, or at any time (SIGTERM, as before a node goes down): it
ends at once, for what it has committed is safe, and queues itself again. One that a person cancelled stays so. A
task that was at work at MAX_REQUEUES such ends is given up: it takes longer than its job may.
"""

import math
import os
import re
import shlex
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import EngineLostError
from gristmill.pipeline.engines.trove.job import Job
from gristmill.pipeline.engines.trove.step import at_work, log_folder, split_step
from gristmill.pipeline.profile import SlurmProfile
from gristmill.pipeline.task import Resources

if TYPE_CHECKING:
    from datatrove.executor.slurm import SlurmPipelineExecutor

MAX_REQUEUES = 3
DEFAULT_MEM_BYTES = 2 << 30
"""Of a task that does not say what it takes: twice what a worker may keep."""
_MIB = 1 << 20
_STOPPED = 143


@dataclass(frozen=True)
class SlurmJob:
    """What an executor is made of, on the driver and again in each array job. `workers`: tasks at once, -1 any number;
    `bin`: the folder of the programs of the environment that every node sees."""

    folder: str
    ranks: int
    workers: int
    bin: str
    resources: Resources
    profile: SlurmProfile


def slurm_executor(made_of: SlurmJob) -> "SlurmPipelineExecutor":
    """The executor. It is pickled as a call of this function."""
    from datatrove.executor.slurm import SlurmPipelineExecutor

    job, profile = Job(Path(made_of.folder)), made_of.profile

    class Arrays(SlurmPipelineExecutor):
        def __reduce__(self) -> tuple[Any, ...]:
            return slurm_executor, (made_of,)

        def run(self) -> None:
            for name in (signal.SIGUSR1, signal.SIGTERM):
                signal.signal(name, _requeue)
            super().run()

        def launch_merge_stats(self) -> None:
            """Nobody reads them; and a job that depends on failed ones would stay queued for ever."""

        def get_sbatch_args(self, max_array: int = 1) -> dict[str, Any]:
            given = super().get_sbatch_args(max_array)
            return sbatch_options(made_of, {**given, "job-name": "gristmill"})

        def get_launch_file_contents(self, sbatch_args: dict[str, Any], run_script: str) -> str:
            return super().get_launch_file_contents(sbatch_args, _command(job, profile))

    return Arrays(
        [split_step(made_of.folder)],
        tasks=made_of.ranks,
        time=profile.time,
        partition=profile.partition or "",
        cpus_per_task=max(made_of.resources.cpus, 1),
        gpus_per_task=made_of.resources.gpus,
        workers=made_of.workers,
        qos=profile.qos or "",
        env_command=f'export PATH={shlex.quote(made_of.bin)}:"$PATH"',
        max_array_size=profile.max_array_size,
        max_array_launch_parallel=made_of.workers == -1,
        job_id_retriever=_Ids(str(job.array_ids)),
        logging_dir=log_folder(job),
        skip_completed=False,
        requeue_signals=None,  # ours are set in `run`
        tasks_per_job=profile.tasks_per_job,
        with_srun=profile.srun,
    )


@dataclass(frozen=True)
class _Ids:
    """Takes the id of a job from what sbatch prints, and notes it at once: a driver may die between two jobs."""

    path: str

    def __call__(self, printed: str) -> str:
        found = re.search(r"\d+", printed)
        if found is None:
            raise EngineLostError(
                "sbatch told no job's id", "sbatch", printed.strip(), "submit a job by hand to see why"
            )
        with Path(self.path).open("a") as ids:
            ids.write(found.group() + "\n")
        return found.group()


def sbatch_options(made_of: SlurmJob, given: dict[str, Any]) -> dict[str, Any]:
    """What a job asks for: datatrove's options, memory and accelerators as tasks need them, then the profile's."""
    profile, resources = made_of.profile, made_of.resources
    cpus = max(resources.cpus, 1)
    mib = math.ceil((resources.mem_bytes or DEFAULT_MEM_BYTES) / cpus / _MIB)
    log = str(Path(made_of.folder) / "log" / "slurm_logs").replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    told = "" if profile.srun else "B:"  # without srun it is the batch script that becomes our process
    options = {
        **given,
        "mem-per-cpu": f"{mib}M",
        "output": f'"{log}/%A_%a.out"',
        "error": f'"{log}/%A_%a.out"',
        "signal": f"{told}USR1@{profile.requeue_before_s}",
        **({"gres": f"gpu:{resources.gpus}"} if resources.gpus else {}),
        **profile.sbatch,
    }
    dropped = {"gpus"} | ({"mem-per-cpu"} if "mem" in profile.sbatch else set())
    return {k: v for k, v in options.items() if k not in dropped and (v or k != "partition")}


def _command(job: Job, profile: SlurmProfile) -> str:
    """`exec`: else the signal would go to a shell that only waits."""
    program = f"launch_pickled_pipeline {shlex.quote(str(job.log / 'executor.pik'))}"
    return f"exec srun -l -n 1 {program}" if profile.srun else f"exec {program}"


def _requeue(number: int, frame: FrameType | None) -> None:
    """Queue this job again and end, at once: what a handler raises, some `except` between would swallow."""
    del frame
    if number == signal.SIGTERM and _is_cancelled():
        os._exit(_STOPPED)
    if at_work and _too_often(*at_work[-1]):
        os._exit(0)
    subprocess.run(["scontrol", "requeue", os.environ["SLURM_JOB_ID"]], check=False)
    os._exit(_STOPPED)


def _is_cancelled() -> bool:
    """Whether somebody ended this job for good; a limit of time or a node that goes down is no reason not to go on."""
    told = subprocess.run(
        ["scontrol", "show", "job", "-o", os.environ["SLURM_JOB_ID"]], check=False, capture_output=True, text=True
    ).stdout
    state = re.search(r"JobState=(\S+)", told)
    ending = state is not None and state.group(1) in ("CANCELLED", "COMPLETING")
    return ending and "Reason=TimeLimit" not in told


def _too_often(job: Job, number: int, label: str) -> bool:
    """Count an end in the middle of a task; at the last the task is given up."""
    counted = job.folder / f"requeued-{number}"
    with counted.open("a") as file:
        file.write("x")
    if counted.stat().st_size < MAX_REQUEUES:
        return False
    what = f"the job was ended {MAX_REQUEUES} times in the middle of the same split"
    remedy = "give jobs more time ([PROFILE.slurm] time), then run the same command to resume"
    job.end(number, EngineLostError(what, label, None, remedy))
    return True
