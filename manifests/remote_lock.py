"""One driver for one output in object storage: an object `.lock` that is put if absent, renewed, and deleted.

It holds `host` (name, boot and process namespace), `pid`, `born` (the process's start, in ticks of that host), `nonce`
and `beat`. A lock is stale, and is taken over by a conditional put that one taker wins, when its process is
provably gone (same host, no such process), or when it was not renewed for `STALE_S` by the clocks and is then
not renewed while it is watched for `WATCH_S`, which takes no clock's word. A driver whose lock was taken
over (it stood still for minutes) stops before it would publish anything.
"""

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from gristmill.manifests.errors import EngineLostError, GristmillError, UsageError
from gristmill.manifests.process_birth import born_ticks, pids_place
from gristmill.manifests.remote import delete, get, head, put_if_absent, replace_if
from gristmill.manifests.remote_access import RemotePlace

LOCK = ".lock"
BEAT_S = 15.0
STALE_S = 90.0
WATCH_S = 40.0
_held: dict[RemotePlace, "RemoteLock"] = {}


class RemoteLock:
    """The lock of one output while this process holds it."""

    def __init__(self, place: RemotePlace) -> None:
        self._place = place
        self._me: dict[str, Any] = {"host": _host(), "pid": os.getpid(), "born": _born(os.getpid())}
        self._me |= {"nonce": uuid.uuid4().hex, "beat": 0}
        self._etag = ""
        self._renewed_s = 0.0
        self._lost = False
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="gristmill-lock", daemon=True)

    def acquire(self) -> None:
        """Take the lock. Raises UsageError when another driver has it, or the server knows no conditional puts."""
        etag = put_if_absent(self._place, LOCK, self._data())
        self._etag = self._take_over() if etag is None else etag
        if put_if_absent(self._place, LOCK, self._data()) is not None:
            raise UsageError(
                "the server overwrites objects that are put if absent, so that no run would be safe from another",
                self._place.url,
                None,
                "use a server that keeps If-None-Match",
            )
        self._renewed_s = time.monotonic()
        self._thread.start()

    def check(self) -> None:
        """Raise EngineLostError when the lock is no longer ours."""
        if self._lost or time.monotonic() - self._renewed_s > STALE_S:
            raise EngineLostError(
                "this run stood still or was cut off for so long that its lock may be another's",
                self._place.url,
                None,
                "run the same command again; what is committed stays",
            )

    def release(self) -> None:
        """Give the lock back, if it is ours."""
        self._end.set()
        self._thread.join()
        with suppress(GristmillError):
            found = get(self._place, LOCK)
            if found is not None and found[1] == self._etag:
                delete(self._place, LOCK)

    def _data(self) -> bytes:
        return json.dumps(self._me).encode()

    def _renew(self) -> None:
        while not self._end.wait(BEAT_S):
            self._me["beat"] += 1
            try:
                etag = replace_if(self._place, LOCK, self._data(), self._etag)
            except GristmillError:
                continue  # `check` counts the time
            if etag is None and not self._is_mine():
                self._lost = True
                return
            self._etag = etag or self._etag
            self._renewed_s = time.monotonic()

    def _is_mine(self) -> bool:
        """Whether the lock is ours after all: an answer that was lost on the way looks like another's put."""
        found = get(self._place, LOCK)
        if found is None or _holder(found[0]).get("nonce") != self._me["nonce"]:
            return False
        self._etag = found[1]
        return True

    def _take_over(self) -> str:
        found = get(self._place, LOCK)
        if found is None:
            etag = put_if_absent(self._place, LOCK, self._data())
        else:
            holder = _holder(found[0])
            if holder.get("nonce") == self._me["nonce"]:
                return found[1]
            if not _is_gone(holder) and not self._is_abandoned(found[1]):
                raise self._busy(holder)
            etag = replace_if(self._place, LOCK, self._data(), found[1])
        if etag is None:
            raise self._busy({})
        return etag

    def _is_abandoned(self, etag: str) -> bool:
        seen = head(self._place, LOCK)
        if seen is None or time.time() - seen.modified_s < STALE_S:
            return False
        time.sleep(WATCH_S)
        seen = head(self._place, LOCK)
        return seen is not None and seen.etag == etag

    def _busy(self, holder: dict[str, Any]) -> UsageError:
        who = f"process {holder.get('pid')} on {str(holder.get('host')).partition(' ')[0]}" if holder else "another run"
        return UsageError(
            "another run is writing to this output",
            self._place.url,
            who,
            f"wait for it, stop it, or choose another --out; one that was killed on another machine holds it for "
            f"{STALE_S:.0f} s",
        )


@contextmanager
def locked(place: RemotePlace) -> Generator[None]:
    """Hold the lock of an output."""
    lock = RemoteLock(place)
    lock.acquire()
    _held[place] = lock
    try:
        yield
    finally:
        del _held[place]
        lock.release()


def check_lock(place: RemotePlace) -> None:
    """Raise EngineLostError when this process held the lock of a place and lost it."""
    if place in _held:
        _held[place].check()


def _holder(data: bytes) -> dict[str, Any]:
    try:
        holder = json.loads(data)
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) else {}


def _is_gone(holder: dict[str, Any]) -> bool:
    """Whether the holder ran here and does not run any more."""
    pid = holder.get("pid")
    return holder.get("host") == _host() and isinstance(pid, int) and _born(pid) != holder.get("born")


def _host() -> str:
    """This machine since it was started, as processes of one namespace see it."""
    return f"{socket.gethostname()} {pids_place() or uuid.uuid4().hex}"


def _born(pid: int) -> str:
    """When a process started; "" for one that is not there."""
    return str(born_ticks(pid) or "")
