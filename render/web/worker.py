"""The worker: a killable child that owns one browser, and answers `take` and `judge` for one page after another.

Requests and answers are `frames`. A request has `job` (`take` or
`judge`), `html`, `view`, `seed`, `scripts`, and what the job wants; an answer has the job's result, or `fault` and
`detail`; and `spent`, which says that the browser is gone or too large, and that the child wants to be started anew.
"""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gristmill.render.protocol import View
from gristmill.render.web import frozen, judge
from gristmill.render.web.browser import Found, write_launcher
from gristmill.render.web.cdp import BrowserGone, PageGone, Refused, TooLate
from gristmill.render.web.frames import packed, unpacked
from gristmill.render.web.memory import Watchdog, descendants, proportional_bytes
from gristmill.render.web.session import PageFault, Session

MAX_TREE_BYTES = 1200 << 20
"""Of all processes of the browser together: over it they are killed."""
RECYCLE_TREE_BYTES = 900 << 20
"""Over it the browser is started anew after the page."""
PAGES_PER_WEIGHING = 50
LOST = (BrowserGone, PageGone, Refused, TooLate)
"""Of the browser, when no page is at work; such a browser is started anew."""


def serve(init: bytes) -> Callable[[bytes], bytes]:
    """Start the browser, and answer for pages; `init`: JSON of `path`, `cage`, `patience` (times the usual limits)."""
    settings = json.loads(init)
    with tempfile.TemporaryDirectory() as folder:
        found = Found(settings["path"], settings["cage"])
        launcher = write_launcher(Path(folder), found)
        session = Session(launcher, found.cage == "bubblewrap", settings["patience"])
    watchdog = Watchdog(os.getpid(), MAX_TREE_BYTES)
    pages = [0, 0]

    def answer(frame: bytes) -> bytes:
        head, body = unpacked(frame)
        try:
            result, png = _work(session, head, body)
        except (PageFault, *LOST) as error:
            result, png = _fault(watchdog, error), b""
        pages[0] += 1
        if pages[0] % PAGES_PER_WEIGHING == 0:
            pages[1] = proportional_bytes(descendants(os.getpid()))
        state = {"spent": _is_spent(session, watchdog, pages[1]), "tree_bytes": pages[1]}
        return packed(result | state | {"version": session.version, "sandboxed": session.sandboxed}, png)

    return answer


def _work(session: Session, head: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    loaded = session.load(head["html"], View(*head["view"]), head["seed"], head["scripts"])
    try:
        if head["job"] == "judge":
            return judge.measured(loaded, head, session.picture(body)), b""
        taken = frozen.take(loaded, head["ids"])
        return taken, session.emitted(taken.pop("pixels"))
    finally:
        session.done(loaded)


def _fault(watchdog: Watchdog, error: Exception) -> dict[str, Any]:
    if watchdog.fired_bytes:
        return {"fault": "memory", "detail": f"over {MAX_TREE_BYTES} bytes"}
    if isinstance(error, PageFault):
        return {"fault": error.reason, "detail": error.detail}
    return {"fault": "page_lost", "detail": str(error).partition("\n")[0][:200]}


def _is_spent(session: Session, watchdog: Watchdog, tree_bytes: int) -> bool:
    return bool(watchdog.fired_bytes) or not session.connection.connected or tree_bytes > RECYCLE_TREE_BYTES
