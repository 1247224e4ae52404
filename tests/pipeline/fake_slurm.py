"""A Slurm of one machine for tests, as far as the engine uses it: `install(folder)` makes its programs.

A script is called by the names sbatch, srun, squeue, scancel and scontrol, and keeps its state in the folder
$FAKE_SLURM: a file a job (`<id>.job`: base id, index, offset, state, reason, script, restarts, pid). Elements of arrays
run, two at a time, in a process that sbatch leaves behind. With $FAKE_SLURM_HOLD set, a reason, nothing ever starts.
"""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("sbatch", "srun", "squeue", "scancel", "scontrol")
AT_ONCE = 2


def install(folder: Path) -> dict[str, str]:
    """Make the programs and an empty state; the environment that finds them."""
    for name in ("bin", "state"):
        (folder / name).mkdir(parents=True)
    for name in PROGRAMS:
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {name} "$@"\n')
        script.chmod(0o755)
    return {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "FAKE_SLURM": str(folder / "state")}


def state_folder() -> Path:
    return Path(os.environ["FAKE_SLURM"])


@contextmanager
def locked() -> Generator[None]:
    with (state_folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def jobs(folder: Path | None = None) -> list[dict[str, Any]]:
    """Every job, in the order of their ids."""
    paths = sorted((folder or state_folder()).glob("*.job"), key=lambda path: int(path.stem))
    return [json.loads(path.read_text()) for path in paths]


def save(job: dict[str, Any]) -> None:
    path = state_folder() / f"{job['id']}.job"
    tmp = path.with_suffix(".tmp")
    tmp.write_text(json.dumps(job))
    tmp.replace(path)


def sbatch(words: list[str]) -> int:
    script = Path(words[-1]).read_text()
    offset = next((w.rpartition("=")[2] for w in words if w.startswith("--export=")), "0")
    (state_folder() / "calls").open("a").write(json.dumps(words[:-1]) + "\n")
    last = int(re.search(r"^#SBATCH --array=0-(\d+)", script, re.M).group(1))  # type: ignore[union-attr]
    if os.environ.get("FAKE_SLURM_REFUSE"):
        print("sbatch: error: invalid partition specified: nowhere", file=sys.stderr)
        return 1
    with locked():
        base = 1 + max((job["id"] for job in jobs()), default=100)
        (state_folder() / f"{base}.sh").write_text(script)
        hold = os.environ.get("FAKE_SLURM_HOLD")
        for index in range(last + 1):
            state = {"state": "PENDING", "reason": hold or "Priority", "restarts": 0, "pid": 0}
            save({"id": base + index, "base": base, "index": index, "offset": offset, **state})
    if not hold:
        arguments = [sys.executable, __file__, "run", str(base)]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.Popen(arguments, start_new_session=True, **quiet)  # type: ignore[call-overload]
    print(f"Submitted batch job {base}")
    return 0


def run(base: str) -> int:
    """Run the elements of an array to their ends."""
    running: dict[int, subprocess.Popen[bytes]] = {}
    while True:
        with locked():
            mine = [job for job in jobs() if job["base"] == int(base)]
            for job in mine:
                process = running.get(job["id"])
                if process is not None and process.poll() is not None:
                    del running[job["id"]]
                    if job["state"] == "RUNNING":
                        save({**job, "state": "COMPLETED" if process.returncode == 0 else "FAILED"})
                elif process is None and job["state"] == "PENDING" and len(running) < AT_ONCE:
                    running[job["id"]] = start(job)
                    save({**job, "state": "RUNNING", "reason": "None", "pid": running[job["id"]].pid})
            if not running and not any(job["state"] in ("PENDING", "RUNNING") for job in mine):
                return 0
        time.sleep(0.02)


def start(job: dict[str, Any]) -> "subprocess.Popen[bytes]":
    script = state_folder() / f"{job['base']}.sh"
    ids = {"SLURM_JOB_ID": str(job["id"]), "SLURM_ARRAY_JOB_ID": str(job["base"]), "SLURM_NODELIST": "localhost"}
    place = {"SLURM_ARRAY_TASK_ID": str(job["index"]), "RUN_OFFSET": job["offset"]}
    log = (state_folder() / f"{job['id']}.out").open("ab")
    environment = {**os.environ, **ids, **place, "SLURM_RESTART_COUNT": str(job["restarts"])}
    return subprocess.Popen(["bash", script], stdout=log, stderr=log, env=environment, start_new_session=True)


def squeue(words: list[str]) -> int:
    for job in jobs():
        print(f"{job['base']}|{job['state']}|{job['reason']}")
    return 0


def scancel(words: list[str]) -> int:
    (state_folder() / "cancelled").open("a").write(" ".join(words) + "\n")
    for job in jobs():
        if str(job["base"]) in words and job["state"] in ("PENDING", "RUNNING"):
            with locked():
                save({**job, "state": "CANCELLED"})
            if job["pid"]:
                os.kill(job["pid"], signal.SIGTERM)
    return 0


def scontrol(words: list[str]) -> int:
    if words[:2] == ["show", "hostnames"]:
        print(words[2])
        return 0
    job = next(job for job in jobs() if str(job["id"]) == words[-1])
    if words[0] == "show":
        print(f"JobId={job['id']} JobState={job['state']} Reason={job['reason']}")
        return 0
    assert words[0] == "requeue"
    with locked():
        save({**job, "state": "PENDING", "restarts": job["restarts"] + 1, "pid": 0})
    return 0


def srun(words: list[str]) -> int:
    program = words[words.index("-n") + 2 :]
    os.execvp(program[0], program)


if __name__ == "__main__":
    name, rest = sys.argv[1], sys.argv[2:]
    called = {"sbatch": sbatch, "srun": srun, "squeue": squeue, "scancel": scancel, "scontrol": scontrol}
    sys.exit(run(rest[0]) if name == "run" else called[name](rest))
