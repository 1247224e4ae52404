"""The parent's side of the pipes to a killable child: start and end of it, frames, batched writes."""

import contextlib
import fcntl
import io
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from gristmill.manifests.child_main import ANSWER, READY, REQUEST
from gristmill.manifests.errors import EngineLostError, GristmillError

ENV_PASSED = frozenset(
    ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "XDG_CACHE_HOME"]
)
ENV_PREFIXES_PASSED = ("GRISTMILL_", "NUMBA_", "OMP_", "OPENBLAS_", "PYTHON", "RAYON_")

_START_SECONDS = 120.0
_END_SECONDS = 5.0
_PIPE_BYTES = 1 << 20
_READ_BYTES = 1 << 16
_BUFFERS_PER_WRITE = 256
_BYTES_PER_WRITE = 1 << 22
_STDERR_SHOWN = 4000
_ANSWER_SLACK_BYTES = 1 << 16


class BrokenFrameError(Exception):
    """A frame's head announces more than may come."""

    def __init__(self, announced_bytes: int) -> None:
        super().__init__(announced_bytes)
        self.announced_bytes = announced_bytes


class Frames:
    """Answer frames out of chunks as they are read; a large body is gathered without a second copy."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._head = b""
        self._status = 0
        self._body: io.BytesIO | None = None
        self._missing = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """(status, body) of each frame that ends in this chunk. Raises BrokenFrameError."""
        if self._body is not None:
            part = memoryview(chunk)[: self._missing]
            self._body.write(part)
            self._missing -= len(part)
            if self._missing:
                return
            body, self._body = self._body.getvalue(), None
            chunk = chunk[len(part) :]
            yield self._status, body
        buffer, at = self._head + chunk, 0
        self._head = b""
        while len(buffer) - at >= ANSWER.size:
            status, length = ANSWER.unpack_from(buffer, at)
            if length > self._max_bytes:
                raise BrokenFrameError(length)
            at += ANSWER.size
            body = buffer[at : at + length]
            at += length
            if len(body) < length:
                self._status, self._missing, self._body = status, length - len(body), io.BytesIO()
                self._body.write(body)
                return
            yield status, body
        self._head = buffer[at:]


class Sender:
    """Request frames into a non-blocking pipe, several to a system call. `sent` payloads are in it whole."""

    def __init__(self, payloads: Sequence[bytes | memoryview], first: int) -> None:
        self._payloads = payloads
        self._next = first
        self._queue: deque[memoryview] = deque()
        self._queued_bytes = 0
        self._ends: deque[int] = deque()
        self._written = 0
        self._accepted = 0
        self.sent = first

    def write(self, fd: int) -> bool:
        """Write what fits; True when nothing is left to send, or when the child has gone."""
        self._refill()
        buffers = [self._queue[i] for i in range(min(len(self._queue), _BUFFERS_PER_WRITE))]
        try:
            count = os.writev(fd, buffers)
        except BlockingIOError:
            return False
        except BrokenPipeError:
            # What it answered before it went is still to be read.
            return True
        self._advance(count)
        return not self._queue and self._next == len(self._payloads)

    def _refill(self) -> None:
        while (
            self._next < len(self._payloads)
            and self._queued_bytes < _BYTES_PER_WRITE
            and len(self._queue) < _BUFFERS_PER_WRITE
        ):
            payload = memoryview(self._payloads[self._next]).cast("B")
            frame = (memoryview(REQUEST.pack(len(payload))), payload)
            self._queue.extend(view for view in frame if len(view))
            self._queued_bytes += REQUEST.size + len(payload)
            self._accepted += REQUEST.size + len(payload)
            self._ends.append(self._accepted)
            self._next += 1

    def _advance(self, count: int) -> None:
        self._written += count
        self._queued_bytes -= count
        while count:
            head = self._queue[0]
            if count < len(head):
                self._queue[0] = head[count:]
                break
            count -= len(head)
            self._queue.popleft()
        while self._ends and self._ends[0] <= self._written:
            self._ends.popleft()
            self.sent += 1


class Running:
    """A child process with its pipes; `end` kills and reaps it, once, also when this object goes."""

    def __init__(self, process: subprocess.Popen[bytes], stderr: IO[bytes], max_answer_bytes: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.owner_pid = os.getpid()
        self.to_child = process.stdin.fileno()
        self.from_child = process.stdout.fileno()
        self.frames = Frames(max_answer_bytes + _ANSWER_SLACK_BYTES)
        self._stderr = stderr
        self.end = weakref.finalize(self, _end, process, stderr, self.owner_pid)
        for fd in (self.to_child, self.from_child):
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def stderr_tail(self) -> bytes:
        """The last bytes that the child wrote to standard error."""
        fd = self._stderr.fileno()
        return os.pread(fd, _STDERR_SHOWN, max(os.fstat(fd).st_size - _STDERR_SHOWN, 0))


def spawn(target: str, init: bytes, limits: tuple[int, int, int], env: Mapping[str, str]) -> Running:
    """Start a child and wait until it is ready. `limits`: bytes of memory, of one answer, of a file.

    Raises GristmillError when it does not get ready, EngineLostError when it was killed from outside twice.
    """
    with contextlib.suppress(EngineLostError):
        return _spawn_once(target, init, limits, env)
    return _spawn_once(target, init, limits, env)


def _spawn_once(target: str, init: bytes, limits: tuple[int, int, int], env: Mapping[str, str]) -> Running:
    names = ("memory_bytes", "output_bytes", "file_bytes")
    settings = {**dict(zip(names, limits, strict=True)), "parent_pid": os.getpid()}
    command = [sys.executable, "-P", "-m", "gristmill.manifests.child_main", target, json.dumps(settings)]
    stderr = tempfile.TemporaryFile()  # noqa: SIM115  `Running.end` closes it
    fcntl.fcntl(stderr.fileno(), fcntl.F_SETFL, os.O_APPEND)
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=_environment(env),
        bufsize=0,
        process_group=0,
    )
    running = Running(process, stderr, limits[1])
    try:
        _await_ready(running, target, init)
    except BaseException:
        running.end()
        raise
    os.set_blocking(running.to_child, False)
    os.set_blocking(running.from_child, False)
    return running


def _await_ready(running: Running, target: str, init: bytes) -> None:
    remedy = "check that the target can be imported and made in a fresh interpreter"
    with contextlib.suppress(BrokenPipeError):
        _write_all(running.to_child, memoryview(REQUEST.pack(len(init)) + init))
    deadline = time.monotonic() + _START_SECONDS
    while True:
        if not _is_readable(running.from_child, max(deadline - time.monotonic(), 0.0)):
            raise GristmillError(f"child process not ready after {_START_SECONDS:g} s", target, remedy=remedy)
        chunk = os.read(running.from_child, _READ_BYTES)
        if not chunk:
            _refuse_killed(running, target)
            tail = running.stderr_tail().decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise GristmillError("child process did not start", target, tail, remedy)
        for status, body in running.frames.feed(chunk):
            if status == READY:
                return
            detail = body.decode("utf-8", "replace")
            raise GristmillError("child process did not start", target, detail, remedy)


def _is_readable(fd: int, seconds: float) -> bool:
    """Whether there is something to read within so many seconds. `select` itself fails beyond 1,024 open files."""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def _refuse_killed(running: Running, target: str) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        if running.process.wait(_END_SECONDS) == -signal.SIGKILL:
            remedy = "run the same command to resume, with fewer --workers if memory ran out"
            raise EngineLostError("a child process was killed while it started", target, remedy=remedy)


def _write_all(fd: int, view: memoryview) -> None:
    while len(view):
        view = view[os.write(fd, view) :]


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    passed = {
        name: value for name, value in os.environ.items() if name in ENV_PASSED or name.startswith(ENV_PREFIXES_PASSED)
    }
    passed["PYTHONPATH"] = os.pathsep.join(os.path.abspath(entry or ".") for entry in sys.path)
    return passed | dict(extra)


def _end(process: subprocess.Popen[bytes], stderr: IO[bytes], owner_pid: int) -> None:
    if owner_pid == os.getpid():
        process.kill()
        process.wait()
    elif process.returncode is None:
        # A fork holds another process's child: it may neither kill nor wait for it, nor be warned of it.
        process.returncode = 0
    for pipe in (process.stdin, process.stdout, stderr):
        if pipe is not None:
            pipe.close()
