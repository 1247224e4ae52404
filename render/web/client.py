"""The parent's side of the browser: one killable worker for each process, started anew when it is spent.

A page costs at most MAX_SECONDS of wall clock and the memory of `worker.MAX_TREE_BYTES`; what it costs the browser it
costs itself alone, as `Rejected`. What time, memory or death decided is an external effect (`manifests.effects`): it
stands in the receipt of the task; a replay takes it from there, and is patient with all other pages.
"""

import json
import threading
from collections.abc import Sequence
from typing import Any

from gristmill.manifests.child import ChildFailure, ChildLimits, FailureKind, KillableChild, Payload
from gristmill.manifests.effects import Answer, patient, settled
from gristmill.manifests.errors import GristmillError
from gristmill.render.protocol import Rejected
from gristmill.render.web.browser import Found, find, refuses
from gristmill.render.web.frames import packed, unpacked

TARGET = "gristmill.render.web.worker:serve"
MAX_SECONDS = 25.0
PAGES_PER_BROWSER = 500
"""Loads after which a browser is started anew, as memory grows slowly (reference 1.2)."""
_LIMITS = ChildLimits(max_seconds_per_record=MAX_SECONDS, max_rss_bytes=2 << 30, max_output_bytes=256 << 20)
_ENV = {
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "PILLOW_BLOCKS_MAX": "16",
}
"""Pictures of 3 MB are made and dropped all the time: giving their memory back took 6 ms of faults each."""
_OF_CHILD = {"timeout": "page_hangs", "died": "worker_died", "memory": "memory", "output_too_large": "output_too_large"}
_KIND_OF: dict[str, FailureKind] = {
    "page_hangs": "timeout",
    "never_ready": "timeout",
    "page_crashed": "died",
    "page_lost": "died",
    "memory": "memory",
    "dialog": "timeout",
    "navigates": "timeout",
}
"""Faults of a page that the worker survives, and that machine and load decide."""
_DROPPED = frozenset({"dialog", "navigates"})
"""Of these: the page was late by what it did itself."""


class Client:
    """A worker with its browser; `version` is the browser's once a page was done."""

    def __init__(self, found: Found | None = None, max_seconds: float = MAX_SECONDS) -> None:
        self.found = found or find()
        self.version = ""
        self.tree_bytes = 0
        self._limits = ChildLimits(max_seconds, _LIMITS.max_rss_bytes, _LIMITS.max_output_bytes)
        self._child = self._made(1)
        self._patience = 1
        self._pages = 0
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """Of the worker, None while there is none."""
        return self._child.pid

    def ask(self, head: dict[str, Any], body: bytes = b"", trusted: bool = True) -> tuple[dict[str, Any], bytes]:
        """The worker's answer for one page. Raises Rejected."""
        refusal = refuses(self.found, trusted)
        if refusal:
            raise Rejected("no_engine", f"{refusal}: {self.found.remedy}")
        with self._lock:
            (answer,) = settled(TARGET, [packed(head, body)], self._call_many)
        if isinstance(answer, ChildFailure):
            raise _rejected(answer)
        result, png = unpacked(answer)
        if "fault" in result:
            raise Rejected(result["fault"], result["detail"])
        return result, png

    def close(self) -> None:
        """End the worker and its browser; the next page starts others."""
        with self._lock:
            self._end()

    def _call_many(self, frames: Sequence[Payload], patience: int) -> list[Answer]:
        if patience != self._patience:
            self._end()
            self._child, self._patience = self._made(patience), patience
        return [self._call(frame) for frame in frames]

    def _made(self, patience: int) -> KillableChild:
        init = json.dumps({"path": self.found.path, "cage": self.found.cage, "patience": patience}).encode()
        return KillableChild(TARGET, init, patient(self._limits, patience), _ENV)

    def _call(self, frame: Payload) -> Answer:
        if self._pages >= PAGES_PER_BROWSER:
            self._end()
        self._pages += 1
        answer = self._child.call(frame)
        if isinstance(answer, ChildFailure):
            self._pages = 0
            return answer
        result, _ = unpacked(answer)
        self.version, self.tree_bytes = result["version"], max(self.tree_bytes, result["tree_bytes"])
        if result["spent"]:
            self._end()
        fault = result.get("fault")
        return ChildFailure(_KIND_OF[fault], f"{fault}: {result['detail']}") if fault in _KIND_OF else answer

    def _end(self) -> None:
        self._child.close()
        self._pages = 0


def _rejected(failure: ChildFailure) -> Rejected:
    """What a page is rejected for. Raises GristmillError where the worker itself is at fault."""
    fault, _, detail = failure.detail.partition(": ")
    if fault in _KIND_OF:
        return Rejected(fault, detail, "drop" if fault in _DROPPED else "quarantine")
    if failure.kind not in _OF_CHILD:
        raise GristmillError("the browser's worker failed", TARGET, failure.detail, "report this as a bug")
    return Rejected(_OF_CHILD[failure.kind], failure.detail, "quarantine")
