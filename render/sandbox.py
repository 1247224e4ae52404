"""Where code that others wrote is run: three tiers, and a sandbox for programs that fails closed.

| tier | what | how |
|---|---|---|
| `template` | our own templates with drawn parameters | killable child with rlimits (`manifests.child`) |
| `declarative` | input without programs: SVG, HTML without scripts, JSON | the same, behind an allow-list parser |
| `program` | programs that somebody else wrote, or a model | this sandbox, or not at all |

Engines of the first two are asked by `effects.ask_child`. `run_programs` serves the third: each program runs alone in
bubblewrap, without network, files, processes or privileges (`sandbox_bwrap`), behind a filter of system calls
(`sandbox_seccomp`), under rlimits, a clock and a watch on memory (`sandbox_watch`), started and watched by a killable
child that stays warm (`sandbox_child`). There is no other way to run one: where no sandbox works `require_sandbox`
refuses (EngineMissingError), and so does `run_programs`.

One program costs one record: what it does to itself is its `ChildFailure`, the next one runs. Time-outs, deaths and
memory are external effects (`manifests.effects`): recorded with the task, replayed from there. What a program writes
is bytes to be judged, and is not a pure function of its source unless it is run twice and says the same.
"""

import functools
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import cast

from gristmill.manifests.child import ChildFailure, ChildLimits, FailureKind, Payload, shared_child
from gristmill.manifests.effects import LEAST_PATIENT_S, Answer, settled
from gristmill.manifests.errors import EngineLostError, EngineMissingError, GristmillError
from gristmill.render.protocol import EngineState
from gristmill.render.sandbox_bwrap import bubblewrap
from gristmill.render.sandbox_child import pack, unpack
from gristmill.render.sandbox_probe import PROBE, faults_of
from gristmill.render.sandbox_seccomp import filter_bytes

CHILD_TARGET = "gristmill.render.sandbox_child:make"
NAME = "sandbox"

_SLACK_SECONDS = 20.0
"""What starting, watching and ending a program may take beside its own time."""
_INSTALL = "install bubblewrap (Debian: apt-get install bubblewrap)"
_ALLOW = (
    "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container: a seccomp profile that has unshare and mount)"
)


@dataclass(frozen=True)
class ProgramLimits:
    """What one program may take.

    `max_memory_bytes`: what it holds, its files among it; `max_address_bytes`: what it may ask for (RLIMIT_AS);
    `max_output_bytes`: standard output; `max_file_bytes`: one file; `max_box_bytes`, `max_files`: all of them.
    """

    max_seconds: float = 10.0
    max_memory_bytes: int = 1 << 30
    max_address_bytes: int = 4 << 30
    max_output_bytes: int = 32 << 20
    max_file_bytes: int = 64 << 20
    max_box_bytes: int = 256 << 20
    max_files: int = 10_000
    max_threads: int = 256


@dataclass(frozen=True)
class Program:
    """A program in Python. `packages`: those of this interpreter can be imported; the project never can."""

    source: bytes
    stdin: bytes = b""
    packages: bool = False


@dataclass(frozen=True)
class Ran:
    """A program that ended by itself: its exit code, its standard output, the end of its standard error."""

    exit_code: int
    stdout: bytes
    stderr: bytes


def run_programs(programs: Sequence[Program], limits: ProgramLimits | None = None) -> list[Ran | ChildFailure]:
    """What became of each program, in order.

    Raises EngineMissingError where no sandbox works, EngineLostError where it broke, and as `effects.settled`.
    """
    require_sandbox()
    return _run(programs, limits or ProgramLimits())


def require_sandbox() -> None:
    """Raises EngineMissingError, with why and what to do, where programs cannot be run safely."""
    state = sandbox_state()
    if not state.works:
        raise EngineMissingError("programs cannot be run safely here", NAME, state.detail, state.remedy)


@functools.lru_cache(maxsize=1)
def sandbox_state() -> EngineState:
    """Whether the sandbox works here, tried once on a program that tries to get out. Never raises."""
    bwrap = bubblewrap()
    if bwrap is None:
        return EngineState(NAME, "", False, "there is no bwrap", _INSTALL)
    if filter_bytes() is None:
        return EngineState(NAME, "", False, "system calls of this machine are not known", "run on x86_64 or aarch64")
    try:
        (answer,) = _run([Program(PROBE)], ProgramLimits())
    except (GristmillError, OSError) as error:
        return EngineState(NAME, "", False, str(error), _ALLOW)
    if isinstance(answer, ChildFailure):
        return EngineState(NAME, "", False, f"the probe: {answer.kind}, {answer.detail}", _ALLOW)
    faults = faults_of(answer.exit_code, answer.stdout)
    if faults:
        return EngineState(NAME, "", False, f"it does not hold: {faults}", "use another machine or version of bwrap")
    return EngineState(NAME, _version(bwrap), True, "programs run without network, files, processes or privileges")


def _version(bwrap: str) -> str:
    import subprocess

    told = subprocess.run([bwrap, "--version"], capture_output=True, text=True, check=False, timeout=10)
    return told.stdout.strip()


def _run(programs: Sequence[Program], limits: ProgramLimits) -> list[Ran | ChildFailure]:
    payloads = [pack({"packages": p.packages}, p.source, p.stdin) for p in programs]
    answers = settled(NAME, payloads, functools.partial(_call, limits))
    return [answer if isinstance(answer, ChildFailure) else _ran(answer) for answer in answers]


def _call(limits: ProgramLimits, payloads: Sequence[Payload], patience: int) -> list[Answer]:
    seconds = limits.max_seconds if patience == 1 else max(limits.max_seconds * patience, LEAST_PATIENT_S)
    init = json.dumps({**asdict(limits), "max_seconds": seconds, "bwrap": bubblewrap(), "as_root": os.geteuid() == 0})
    outer = ChildLimits(
        max_seconds_per_record=seconds + _SLACK_SECONDS,
        max_rss_bytes=limits.max_address_bytes,
        max_output_bytes=limits.max_output_bytes + (1 << 20),
        max_file_bytes=limits.max_file_bytes,
    )
    return [_failure_or(a) for a in shared_child(CHILD_TARGET, init.encode(), outer).call_many(payloads)]


def _failure_or(answer: Answer) -> Answer:
    """What the sandbox's child says of a program that failed, as a failure. Raises EngineLostError."""
    if isinstance(answer, ChildFailure):
        if answer.kind == "error":
            raise EngineLostError("the sandbox does not start", NAME, answer.detail, _ALLOW)
        return answer
    head, _, _ = unpack(answer)
    if head["kind"] == "broken":
        raise EngineLostError("the sandbox does not stand", NAME, head["detail"], _ALLOW)
    return answer if head["kind"] == "ran" else ChildFailure(cast(FailureKind, head["kind"]), head["detail"])


def _ran(answer: bytes) -> Ran:
    head, stdout, stderr = unpack(answer)
    return Ran(head["exit_code"], stdout, stderr)
