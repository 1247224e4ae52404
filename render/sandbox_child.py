"""What the sandbox's child runs: one program in, what became of it out. It starts bubblewrap and watches.

Loaded in the killable child alone, which dies with the driver and takes bubblewrap, and with it the program, along.
`init` is JSON, the fields of `sandbox.ProgramLimits`, `bwrap` (its path) and `as_root`. A request is packed by `pack`:
the head `{"packages": bool}`, the source, standard input. The answer likewise: the head `{"kind", "detail",
"exit_code"}`, what the program wrote to standard output, and the end of what it wrote to standard error. `kind` is
`ran` (it ended by itself), one of `manifests.child.FailureKind`, or `broken` (the sandbox did not stand).

A program is never believed: what it prints is bytes, and how it ended comes from bubblewrap by a pipe that it
does not have.
"""

import contextlib
import dataclasses
import json
import os
import resource
import select
import selectors
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gristmill.render.sandbox_bwrap import Descriptors, Form, command
from gristmill.render.sandbox_seccomp import filter_bytes
from gristmill.render.sandbox_watch import use_of

_LOOK_SECONDS = 0.02
_END_SECONDS = 5.0
_STDERR_BYTES = 4000
_CHUNK_BYTES = 1 << 16
_SIGNALLED = 128
_LENGTHS = struct.Struct("<III")


@dataclass(frozen=True)
class Settings:
    """See the module; units as in `sandbox.ProgramLimits`."""

    bwrap: str
    as_root: bool
    max_seconds: float
    max_memory_bytes: int
    max_address_bytes: int
    max_output_bytes: int
    max_file_bytes: int
    max_box_bytes: int
    max_files: int
    max_threads: int


def make(init: bytes) -> Callable[[bytes], bytes]:
    """The function of the child."""
    settings = Settings(**json.loads(init))
    return lambda request: _answer(settings, request)


def pack(head: Mapping[str, Any], first: bytes, second: bytes) -> bytes:
    """One frame of a head and two bodies."""
    told = json.dumps(head).encode()
    return b"".join((_LENGTHS.pack(len(told), len(first), len(second)), told, first, second))


def unpack(frame: bytes) -> tuple[dict[str, Any], bytes, bytes]:
    """Inverse of `pack`."""
    told, first, second = _LENGTHS.unpack_from(frame)
    at = _LENGTHS.size
    head = json.loads(frame[at : at + told])
    at += told
    return head, frame[at : at + first], frame[at + first : at + first + second]


def _answer(settings: Settings, request: bytes) -> bytes:
    head, source, stdin = unpack(request)
    run = _Run(settings, source, head["packages"])
    try:
        kind, detail = run.watch(stdin)
    finally:
        run.end()
    kind, detail, exit_code = run.ended(kind, detail)
    return pack({"kind": kind, "detail": detail, "exit_code": exit_code}, bytes(run.stdout), bytes(run.stderr))


class _Run:
    """A program while it runs."""

    def __init__(self, settings: Settings, source: bytes, with_packages: bool) -> None:
        self.settings = settings
        self.stdout, self.stderr = bytearray(), bytearray()
        self.told = bytearray()
        self.first: int | None = None
        code = filter_bytes()
        if code is None:
            raise RuntimeError("no filter of system calls for this machine")
        self.status, status_end = os.pipe()
        files = Descriptors(_memory_file(source), _memory_file(code), status_end)
        try:
            self.process = subprocess.Popen(
                command(settings.bwrap, files, Form(settings.max_box_bytes, with_packages, settings.as_root)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={},
                bufsize=0,
                pass_fds=dataclasses.astuple(files),
                start_new_session=True,
                preexec_fn=lambda: _limit(settings),  # noqa: PLW1509  the child has one thread
            )
        finally:
            for fd in dataclasses.astuple(files):
                os.close(fd)

    def watch(self, stdin: bytes) -> tuple[str, str]:
        """Until it ends, or takes too much: (kind, detail)."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        left, deadline = memoryview(stdin), time.monotonic() + self.settings.max_seconds
        with selectors.DefaultSelector() as selector:
            for pipe in (self.process.stdout, self.process.stderr, self.status):
                selector.register(pipe, selectors.EVENT_READ)
            os.set_blocking(self.process.stdin.fileno(), False)
            selector.register(self.process.stdin, selectors.EVENT_WRITE)
            while selector.get_map():
                for key, _ in selector.select(_LOOK_SECONDS):
                    if key.fileobj is self.process.stdin:
                        left = self._feed(selector, left)
                    elif not self._read(key.fd):
                        selector.unregister(key.fileobj)
                kind, detail = self._too_much(deadline)
                if kind:
                    return kind, detail
                if self.process.poll() is not None and self._is_drained(selector):
                    break
        return "ran", ""

    def _is_drained(self, selector: selectors.BaseSelector) -> bool:
        """Whether nothing more comes: the program has gone, so what is in the pipes is all."""
        return not any(key.events & selectors.EVENT_READ for key, _ in selector.select(0))

    def _feed(self, selector: selectors.BaseSelector, left: memoryview) -> memoryview:
        assert self.process.stdin
        with contextlib.suppress(BlockingIOError):
            try:
                left = left[os.write(self.process.stdin.fileno(), left[:_CHUNK_BYTES]) :]
            except BrokenPipeError:
                left = left[:0]
        if not left:
            selector.unregister(self.process.stdin)
            self.process.stdin.close()
        return left

    def _read(self, fd: int) -> bool:
        chunk = os.read(fd, _CHUNK_BYTES)
        if fd == self.status:
            self.told += chunk
            self._meet_first()
        elif self.process.stdout and fd == self.process.stdout.fileno():
            self.stdout += chunk
        else:
            self.stderr = (self.stderr + chunk)[-_STDERR_BYTES:]
        return bool(chunk)

    def _too_much(self, deadline: float) -> tuple[str, str]:
        limits = self.settings
        if len(self.stdout) > limits.max_output_bytes:
            return "output_too_large", f"over {limits.max_output_bytes} bytes"
        if time.monotonic() > deadline:
            return "timeout", f"over {limits.max_seconds:g} s"
        pid = self._said("child-pid")
        if pid is None:
            return "", ""
        use = use_of(pid, limits.max_box_bytes)
        if use.memory_bytes > limits.max_memory_bytes:
            return "memory", f"over {limits.max_memory_bytes} bytes"
        if use.files > limits.max_files:
            return "memory", f"over {limits.max_files} files"
        if use.threads > limits.max_threads:
            return "memory", f"over {limits.max_threads} threads"
        return "", ""

    def _said(self, name: str) -> int | None:
        """A number that bubblewrap told, None where it did not (yet)."""
        for line in bytes(self.told).splitlines():
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                if name in found:
                    return int(found[name])
        return None

    def end(self) -> None:
        """Nothing of the program is left."""
        self._meet_first()
        if self.first is not None:
            # The first process of a namespace takes all others with it. It outlives bubblewrap by a moment.
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.first, signal.SIGKILL)
            select.select([self.first], [], [], _END_SECONDS)
            os.close(self.first)
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        os.close(self.status)

    def _meet_first(self) -> None:
        """Hold the first process of the namespace as soon as it is known, so that no other is ever killed for it."""
        pid = self._said("child-pid")
        if pid is not None and self.first is None:
            with contextlib.suppress(ProcessLookupError):
                self.first = os.pidfd_open(pid)

    def ended(self, kind: str, detail: str) -> tuple[str, str, int | None]:
        """How it ended: (kind, detail, exit code)."""
        if kind != "ran":
            return kind, detail, None
        code = self._said("exit-code")
        if code is None:
            killed = self.process.returncode < 0
            why = "bubblewrap was killed" if killed else bytes(self.stderr).decode("utf-8", "replace").strip()
            return ("died" if killed else "broken"), why, None
        if _is_signal(code - _SIGNALLED):
            return "died", f"killed by {signal.Signals(code - _SIGNALLED).name}", None
        return "ran", "", code


def _is_signal(number: int) -> bool:
    return number in set(signal.Signals)


def _memory_file(content: bytes) -> int:
    fd = os.memfd_create("sandbox", 0)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _limit(settings: Settings) -> None:
    """Between fork and exec: bubblewrap and the program have these limits."""
    seconds = int(settings.max_seconds) + 2
    wanted: Sequence[tuple[int, int]] = (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, settings.max_address_bytes),
        (resource.RLIMIT_FSIZE, settings.max_file_bytes),
        (resource.RLIMIT_CORE, 0),
    )
    for kind, value in wanted:
        _, hard = resource.getrlimit(kind)
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (limit, limit))
