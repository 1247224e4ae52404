"""The child's side of `manifests.child`: `python -m gristmill.manifests.child_main MODULE:FACTORY LIMITS`.

Frames on standard input: `<Q` length, payload; the first is the factory's `init`. Frames on standard
output: `<BQ` status and length, payload: READY once, then one answer for each record, each written as
soon as it is known, so that a death later on loses none of them. Standard input and output are moved
away before foreign code runs, so that a library that prints cannot break the framing. End of input ends
the child. LIMITS is JSON: memory_bytes, output_bytes, file_bytes, parent_pid.
Kept free of heavy imports: it is started anew after each death.
"""

import contextlib
import ctypes
import importlib
import json
import os
import re
import resource
import signal
import struct
import sys
from collections.abc import Callable
from typing import BinaryIO

REQUEST = struct.Struct("<Q")
ANSWER = struct.Struct("<BQ")
READY, OK, ERROR, MEMORY, TOO_LARGE = range(5)

EXIT_NOT_READY = 3
STDERR_BYTES = 1 << 20
_OPEN_FILES = 256
_DETAIL_CHARS = 500
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38

Function = Callable[[bytes], bytes]


def main(target: str, limits: dict[str, int]) -> None:
    """Serve records until the input ends."""
    _die_with_parent(limits["parent_pid"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = _take_over_stdio()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    init = _read(requests)
    try:
        function = _load(target)(init if init is not None else b"")
    except Exception as error:
        answer(answers, ERROR, _describe(error))
        sys.exit(EXIT_NOT_READY)
    _limit(limits["memory_bytes"], limits["file_bytes"])
    answer(answers, READY, b"")
    _serve(function, requests, answers, limits["output_bytes"])


def answer(fd: int, status: int, payload: bytes) -> None:
    """Write one answer frame, whole."""
    view = memoryview(ANSWER.pack(status, len(payload)))
    written = os.writev(fd, [view, payload])
    if written < len(view):
        _write_all(fd, view[written:])
        written = len(view)
    _write_all(fd, memoryview(payload)[written - len(view) :])


def _write_all(fd: int, view: memoryview) -> None:
    while len(view):
        view = view[os.write(fd, view) :]


def _serve(function: Function, requests: BinaryIO, answers: int, max_output_bytes: int) -> None:
    # A MemoryError may have struck while a payload was half read: the only way back to a frame's start is
    # a new child, so it ends after its answer.
    while True:
        try:
            payload = _read(requests)
            if payload is None:
                return
            # Each record may print STDERR_BYTES; what earlier ones printed must not fail it.
            if os.fstat(2).st_size:
                os.ftruncate(2, 0)
            result = function(payload)
        except MemoryError:
            answer(answers, MEMORY, b"MemoryError")
            return
        except Exception as error:
            answer(answers, ERROR, _describe(error))
            continue
        if len(result) > max_output_bytes:
            answer(answers, TOO_LARGE, str(len(result)).encode())
        else:
            answer(answers, OK, result)


def _read(requests: BinaryIO) -> bytes | None:
    """The next payload; None at the end of the input, within a frame too."""
    head = requests.read(REQUEST.size)
    if len(head) < REQUEST.size:
        return None
    (length,) = REQUEST.unpack(head)
    payload = requests.read(length)
    return payload if len(payload) == length else None


def _load(target: str) -> Callable[[bytes], Function]:
    module, _, factory = target.partition(":")
    return getattr(importlib.import_module(module), factory)


def _describe(error: BaseException) -> bytes:
    # Addresses differ from run to run, and details stand in ledgers that must not.
    text = re.sub(r"0x[0-9a-fA-F]+", "0x?", f"{type(error).__name__}: {error}")
    return " ".join(text.split())[:_DETAIL_CHARS].encode("utf-8", "replace")


def _take_over_stdio() -> tuple[BinaryIO, int]:
    requests = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
    answers = os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return requests, answers


def _die_with_parent(parent_pid: int) -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(0)


def _limit(memory_bytes: int, file_bytes: int) -> None:
    """RLIMIT_DATA counts private writable memory: what a parser allocates, not the libraries it maps."""
    _set_limit(resource.RLIMIT_DATA, memory_bytes)
    _set_limit(resource.RLIMIT_FSIZE, file_bytes)
    _set_limit(resource.RLIMIT_NOFILE, _OPEN_FILES)


def _set_limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main(sys.argv[1], json.loads(sys.argv[2]))
