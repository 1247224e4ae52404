"""The parent's side of the browser: one killable worker for each process, started anew when it is spent.

A page costs at most MAX_SECONDS of wall clock and the memory of `worker.MAX_TREE_BYTES`; what it costs the browser it
costs itself alone, as `Rejected`.
"""

import json
import threading
from typing import Any

from gristmill.manifests.child import ChildFailure, ChildLimits, KillableChild
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
QUARANTINED = frozenset({"page_hangs", "worker_died", "memory", "output_too_large", "page_crashed", "page_lost"})
"""Reasons that cost an engine its life or its time."""


class Client:
    """A worker with its browser; `version` is the browser's once a page was done."""

    def __init__(self, found: Found | None = None, max_seconds: float = MAX_SECONDS) -> None:
        self.found = found or find()
        self.version = ""
        self.tree_bytes = 0
        init = json.dumps({"path": self.found.path, "cage": self.found.cage}).encode()
        limits = ChildLimits(max_seconds, _LIMITS.max_rss_bytes, _LIMITS.max_output_bytes)
        self._child = KillableChild(TARGET, init, limits, _ENV)
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
            answer = self._call(packed(head, body))
        if isinstance(answer, ChildFailure):
            reason = _OF_CHILD.get(answer.kind)
            if reason is None:
                raise GristmillError("the browser's worker failed", TARGET, answer.detail, "report this as a bug")
            raise Rejected(reason, answer.detail, "quarantine")
        result, png = answer
        if "fault" in result:
            reason = result["fault"]
            raise Rejected(reason, result["detail"], "quarantine" if reason in QUARANTINED else "drop")
        return result, png

    def close(self) -> None:
        """End the worker and its browser; the next page starts others."""
        with self._lock:
            self._end()

    def _call(self, frame: bytes) -> tuple[dict[str, Any], bytes] | ChildFailure:
        if self._pages >= PAGES_PER_BROWSER:
            self._end()
        self._pages += 1
        answer = self._child.call(frame)
        if isinstance(answer, ChildFailure):
            self._pages = 0
            return answer
        result, png = unpacked(answer)
        self.version, self.tree_bytes = result["version"], max(self.tree_bytes, result["tree_bytes"])
        if result["spent"]:
            self._end()
        return result, png

    def _end(self) -> None:
        self._child.close()
        self._pages = 0
