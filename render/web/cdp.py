"""A browser, spoken to in its own protocol (CDP): JSON texts, each with a zero byte behind it, over two pipes.

The browser reads commands at file descriptor 3 and writes answers and events at 4, so it needs no network. One thread
speaks; events are handed on while an answer is waited for, in their order. A handler may `post` a command, it must not
wait for one. There is no driver in between: the usual one took 60 ms of processor time a record to carry pictures and
trees through a second process and to look for objects in them.
"""

import contextlib
import fcntl
import json
import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = ""
"""The session of the browser itself."""
START_SECONDS = 60.0
FOREVER = float("inf")
_CHUNK_BYTES = 1 << 20
_LONGEST_WAIT_SECONDS = 3600.0
_FIRST_SAFE_FD = 10

Handler = Callable[[str, Mapping[str, Any]], None]


class BrowserGone(Exception):
    """The browser closed its pipe."""


class PageGone(Exception):
    """The page that a command was for crashed or was closed."""


class Refused(Exception):
    """The browser answered a command with an error."""


class TooLate(Exception):
    """No answer in time; one that comes later is dropped."""


class Connection:
    """A browser that `program` starts, until `close`."""

    def __init__(self, program: Path, flags: Sequence[str]) -> None:
        self.handlers: dict[str, Handler] = {}
        self.connected = True
        self._gone: set[str] = set()
        self._number = 0
        self._pending = bytearray()
        self._messages: deque[dict[str, Any]] = deque()
        down, up = os.pipe(), os.pipe()
        self._down, self._up = down[1], up[0]
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._up, fcntl.F_SETPIPE_SZ, _CHUNK_BYTES)
        self.pid = _spawned(str(program), flags, down[0], up[1])

    def post(self, method: str, params: Mapping[str, Any] | None = None, session: str = ROOT) -> int:
        """Send a command, do not wait for its answer. Raises BrowserGone."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        # Lone surrogates stay escaped.
        view = memoryview(json.dumps(message).encode("ascii") + b"\0")
        try:
            while view:
                view = view[os.write(self._down, view) :]
        except OSError as error:
            self.connected = False
            raise BrowserGone(method) from error
        return self._number

    def send(
        self, method: str, params: Mapping[str, Any] | None = None, session: str = ROOT, deadline: float = FOREVER
    ) -> dict[str, Any]:
        """The answer to a command, by `deadline` (time.monotonic).

        Raises Refused, PageGone, BrowserGone and TooLate.
        """
        number = self.post(method, params, session)
        while True:
            message = self._next(deadline, method)
            if message.get("id") == number:
                break
            self._tell(message)
            if session in self._gone:
                raise PageGone(method)
        if "error" in message:
            raise Refused(f"{method}: {message['error'].get('message', '')}")
        return message["result"]

    def forget(self, session: str) -> None:
        """Hand on no more events of a session."""
        self.handlers.pop(session, None)
        self._gone.discard(session)

    def close(self) -> None:
        """End the browser."""
        self.connected = False
        for end in (self._down, self._up):
            with contextlib.suppress(OSError):
                os.close(end)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def _next(self, deadline: float, method: str) -> dict[str, Any]:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TooLate(method)
            if self._messages:
                return self._messages.popleft()
            if select.select([self._up], [], [], min(left, _LONGEST_WAIT_SECONDS))[0]:
                self._read(method)

    def _read(self, method: str) -> None:
        chunk = os.read(self._up, _CHUNK_BYTES)
        if not chunk:
            self.connected = False
            raise BrowserGone(method)
        *whole, rest = chunk.split(b"\0")
        for text in whole:
            self._messages.append(json.loads(self._pending + text))
            self._pending = bytearray()
        self._pending += rest

    def _tell(self, message: dict[str, Any]) -> None:
        method, session = message.get("method", ""), message.get("sessionId", ROOT)
        params = message.get("params", {})
        if method == "Inspector.targetCrashed":
            self._gone.add(session)
        elif method == "Target.detachedFromTarget":
            self._gone.add(params["sessionId"])
        handler = self.handlers.get(session)
        if method and handler is not None:
            handler(method, params)


def _spawned(program: str, flags: Sequence[str], reads: int, writes: int) -> int:
    """The process id of `program`, which has these two ends of pipes as 3 and 4."""
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_SAFE_FD) for end in (reads, writes)]
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
        (os.POSIX_SPAWN_DUP2, ends[0], 3),
        (os.POSIX_SPAWN_DUP2, ends[1], 4),
    ]
    try:
        return os.posix_spawn(program, [program, *flags], os.environ, file_actions=actions)
    finally:
        for end in (*ends, reads, writes):
            os.close(end)
