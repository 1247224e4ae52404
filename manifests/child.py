"""The killable child: hostile records are worked on in a process that may hang, crash or run out of memory.

`KillableChild("module:factory", init)` starts `python -m gristmill.manifests.child_main`, a clean process
and no fork, which calls `factory(init) -> function` once and then `function(payload: bytes) -> bytes` for
each record. Whatever a record does to the child costs that record alone, as a `ChildFailure`; the child is
started anew and the others go on. Invariants:

* answers come in the order of the payloads, one for each;
* a record's clock starts when the child has it whole and has answered the one before;
* a child that was killed from outside (a SIGKILL that we did not send: the kernel's OOM killer, an
  operator) costs nothing the first time: its record is tried once more;
* the child dies with its parent, ignores Ctrl-C, leaves neither zombie nor core file, and sees of the
  environment only ENV_PASSED (no secrets) and what `env` adds.

The module of the target should import little: it is imported anew after each death. A child also ends when
the thread that started it ends (PR_SET_PDEATHSIG); the next call then starts another.
"""

import functools
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from gristmill.manifests.child_main import ERROR, MEMORY, OK, STDERR_BYTES, TOO_LARGE
from gristmill.manifests.child_pipe import BrokenFrameError, Running, Sender, spawn

FailureKind = Literal["timeout", "died", "memory", "error", "output_too_large"]
Payload = bytes | memoryview

_READ_BYTES = 1 << 18
_EXIT_SECONDS = 5.0
_KILLED = "killed by SIGKILL"
_OUT_OF_MEMORY = (b"bad_alloc", b"memory allocation of", b"MemoryError", b"out of memory", b"Out of memory")


@dataclass(frozen=True)
class ChildLimits:
    """What one record may cost. `max_rss_bytes` bounds the child's private writable memory (RLIMIT_DATA),
    `max_file_bytes` each file that it writes, standard error among them (RLIMIT_FSIZE)."""

    max_seconds_per_record: float = 30.0
    max_rss_bytes: int = 2 << 30
    max_output_bytes: int = 1 << 30
    max_file_bytes: int = STDERR_BYTES


@dataclass(frozen=True)
class ChildFailure:
    """Why a record has no answer.

    timeout: over max_seconds_per_record; died: the process ended (signal, exit); memory: over
    max_rss_bytes; error: the function raised; output_too_large: over max_output_bytes.
    """

    kind: FailureKind
    detail: str


class KillableChild:
    """A persistent child process; may be shared by threads, and a forked process gets a child of its own."""

    def __init__(
        self,
        target: str,
        init: bytes = b"",
        limits: ChildLimits | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.target = target
        self.limits = limits or ChildLimits()
        self._init = init
        self._env = dict(env or {})
        self._lock = threading.Lock()
        self._running: Running | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Process id of the running child, None while there is none."""
        return self._running.process.pid if self._running is not None else None

    def call(self, payload: Payload) -> bytes | ChildFailure:
        """The answer for one record."""
        return self.call_many([payload])[0]

    def call_many(self, payloads: Sequence[Payload]) -> list[bytes | ChildFailure]:
        """The answer for each record, in order. Raises GristmillError when the child cannot start."""
        answers: list[bytes | ChildFailure] = []
        retried = -1
        with self._lock:
            while len(answers) < len(payloads):
                try:
                    failure = _exchange(self._start(), payloads, answers, self.limits)
                except BaseException:
                    self._stop()
                    raise
                if failure is None:
                    continue
                self._stop()
                if failure.detail == _KILLED and retried != len(answers):
                    retried = len(answers)
                else:
                    answers.append(failure)
        return answers

    def close(self) -> None:
        """End the child; a later call starts a new one."""
        with self._lock:
            self._stop()

    def _start(self) -> Running:
        running = self._running
        if running is not None and running.owner_pid == os.getpid() and running.process.poll() is None:
            return running
        self._stop()
        limits = self.limits
        sizes = (limits.max_rss_bytes, limits.max_output_bytes, limits.max_file_bytes)
        self._running = spawn(self.target, self._init, sizes, self._env)
        return self._running

    def _stop(self) -> None:
        if self._running is not None:
            self._running.end()
            self._running = None


@functools.lru_cache(maxsize=32)
def shared_child(target: str, init: bytes = b"", limits: ChildLimits | None = None) -> KillableChild:
    """This process's one child for a target, init and limits; it ends with the process."""
    return KillableChild(target, init, limits)


def _exchange(
    running: Running, payloads: Sequence[Payload], answers: list[bytes | ChildFailure], limits: ChildLimits
) -> ChildFailure | None:
    """Append answers until all are there (None), or until one record cost the child (its failure)."""
    sender = Sender(payloads, len(answers))
    clock = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(running.from_child, selectors.EVENT_READ)
        selector.register(running.to_child, selectors.EVENT_WRITE)
        while len(answers) < len(payloads):
            left = clock + limits.max_seconds_per_record - time.monotonic()
            ready = {key.fd for key, _ in selector.select(max(left, 0.0))}
            if left <= 0 and running.from_child not in ready:
                return ChildFailure("timeout", f"over {limits.max_seconds_per_record:g} s")
            if running.to_child in ready:
                # Bytes of later records say nothing about the one in work: they do not reset its clock.
                waits_for_bytes = sender.sent <= len(answers)
                if sender.write(running.to_child):
                    selector.unregister(running.to_child)
                if waits_for_bytes:
                    clock = time.monotonic()
            if running.from_child in ready:
                failure = _take(running, sender, answers, limits)
                if failure is not None:
                    return failure
                clock = time.monotonic()
    return None


def _take(
    running: Running, sender: Sender, answers: list[bytes | ChildFailure], limits: ChildLimits
) -> ChildFailure | None:
    """Append the answers that are there; a failure when the child is lost with the next record."""
    chunk = os.read(running.from_child, _READ_BYTES)
    if not chunk:
        return _death(running, limits)
    try:
        for status, body in running.frames.feed(chunk):
            if len(answers) >= sender.sent:
                return ChildFailure("died", "answered what was not asked")
            if status == OK and len(body) <= limits.max_output_bytes:
                answers.append(body)
            elif status == ERROR:
                answers.append(ChildFailure("error", body.decode("utf-8", "replace")))
            elif status == TOO_LARGE:
                answers.append(_too_large(body.decode("ascii", "replace"), limits))
            elif status == MEMORY:
                return _memory(limits)
            else:
                return ChildFailure("died", f"answered with status {status}")
    except BrokenFrameError as error:
        return _too_large(str(error.announced_bytes), limits)
    return None


def _death(running: Running, limits: ChildLimits) -> ChildFailure:
    try:
        code = running.process.wait(_EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        return ChildFailure("died", "closed its output")
    if any(word in running.stderr_tail() for word in _OUT_OF_MEMORY):
        return _memory(limits)
    if code >= 0:
        return ChildFailure("died", f"exited with {code}")
    return ChildFailure("died", f"killed by {signal.Signals(-code).name}")


def _memory(limits: ChildLimits) -> ChildFailure:
    return ChildFailure("memory", f"over {limits.max_rss_bytes} bytes")


def _too_large(found_bytes: str, limits: ChildLimits) -> ChildFailure:
    return ChildFailure("output_too_large", f"{found_bytes} bytes, over {limits.max_output_bytes}")
