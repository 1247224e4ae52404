"""One browser and its pages, inside the worker: load a page, freeze it, ask it, photograph it.

Pages without script share one page of a context whose scripting is off; a page with script gets a page and a context
of its own, with a frozen clock, seeded `Math.random` and nothing left of the page before. In both, every request but
`data:`, `about:` and `blob:` is refused and counted, dialogs are dismissed, popups closed, downloads refused.
"""

import base64
import contextlib
import functools
import io
import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from gristmill.render.protocol import View
from gristmill.render.web.browser import FLAGS, NO_SANDBOX
from gristmill.render.web.cdp import (
    FOREVER,
    START_SECONDS,
    BrowserGone,
    Connection,
    PageGone,
    Refused,
    TooLate,
)
from gristmill.render.web.events import Events

Pixels = npt.NDArray[np.uint8]

TIME_MS = 1_715_679_660_000
"""The time of every page with script: 2024-05-14T09:41:00Z."""
LOAD_SECONDS = 5.0
"""Of a page to answer a command while it loads."""
SETTLE_SECONDS = 10.0
"""Of fonts and pictures to load, which lie in the page: only a machine under load takes so long."""
CLOSE_SECONDS = 10.0
MAX_ELEMENTS = 3000

_ACTIVE = re.compile(r"<script|\son\w+\s*=|javascript:|http-equiv|<i?frame|<object|<embed|<portal", re.IGNORECASE)
_LOST = (PageGone, BrowserGone, Refused, TooLate)
_SETUP: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Page.enable", {}),
    ("Runtime.enable", {}),
    ("Log.enable", {}),
    ("Network.enable", {}),
    ("Network.setBypassServiceWorker", {"bypass": True}),
    (
        "Network.emulateNetworkConditions",
        {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
    ),
    ("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}),
    ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
    ("Emulation.setLocaleOverride", {"locale": "en-US"}),
    ("Emulation.setTimezoneOverride", {"timezoneId": "UTC"}),
    (
        "Emulation.setEmulatedMedia",
        {
            "features": [
                {"name": "prefers-color-scheme", "value": "light"},
                {"name": "prefers-reduced-motion", "value": "reduce"},
                {"name": "prefers-contrast", "value": "no-preference"},
                {"name": "forced-colors", "value": "none"},
            ]
        },
    ),
)


class PageFault(Exception):
    """A page that cannot be photographed: `reason` is one of `rules.REASONS`, `broken` says that the page must go."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def is_active(html: str) -> bool:
    """Whether a page may do something by itself: such a page never shares a browser page with others."""
    return _ACTIVE.search(html) is not None


class Loaded:
    """A page of the browser, with what happened in it; commands must be answered by `deadline` (time.monotonic)."""

    def __init__(self, connection: Connection, context: str, target: str) -> None:
        self.connection = connection
        self.context = context
        self.view = View(0, 0)
        self.world = 0
        self.deadline = FOREVER
        self.patience = 1
        attached = connection.send("Target.attachToTarget", {"targetId": target, "flatten": True})
        self.session: str = attached["sessionId"]
        self.happened = Events(lambda method, params: connection.post(method, params, self.session))
        connection.handlers[self.session] = self.happened.take
        self.frame: str = self.send("Page.getFrameTree")["frameTree"]["frame"]["id"]

    @property
    def events(self) -> Counter[str]:
        """Counts of what happened."""
        return self.happened.counts

    def set_view(self, view: View) -> None:
        """The viewport and how many pixels one of CSS takes."""
        if view != self.view:
            metrics = {"width": view.width_px, "height": view.height_px}
            self.send(
                "Emulation.setDeviceMetricsOverride", metrics | {"deviceScaleFactor": view.scale, "mobile": False}
            )
            self.view = view

    def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """A command of the browser's own protocol. Raises PageFault when the page is lost."""
        try:
            return self.connection.send(method, params, self.session, self.deadline)
        except _LOST as error:
            raise PageFault(self._fault(error), _first_line(error)) from error

    def _fault(self, error: Exception) -> str:
        if self.events["crashes"]:
            return "page_crashed"
        if not isinstance(error, TooLate):
            return "page_lost"
        if self.events["dialogs"]:
            return "dialog"
        return "navigates" if self.events["navigations"] else "page_hangs"

    def enter_world(self) -> None:
        """Open a world of our own beside the page's scripts, for `page.js`."""
        settings = {"frameId": self.frame, "worldName": "gristmill"}
        self.world = self.send("Page.createIsolatedWorld", settings)["executionContextId"]

    def ask(self, expression: str) -> Any:
        """The value of an expression in that world. Raises PageFault."""
        settings = {"expression": expression, "contextId": self.world, "returnByValue": True}
        answer = self.send("Runtime.evaluate", settings)
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"].get("exception", {}).get("description", "")
            raise PageFault("page_lost", thrown.partition("\n")[0])
        return answer["result"].get("value")

    def call(self, function: str, *args: Any) -> Any:
        """What `gm.<function>` of `page.js` answers; a text of JSON costs less than a tree of values."""
        answer = self.ask(f"JSON.stringify(gm.{function}({','.join(json.dumps(arg) for arg in args)}))")
        return json.loads(answer) if answer is not None else None

    def hurry(self) -> None:
        """From now on, LOAD_SECONDS are left."""
        self.deadline = time.monotonic() + LOAD_SECONDS * self.patience

    def settle(self) -> None:
        """Wait until fonts and pictures are there, then stop what moves. Raises PageFault."""
        deadline = time.monotonic() + SETTLE_SECONDS * self.patience
        found = self.ask(f"{_page_script()}gm.settle({MAX_ELEMENTS})")
        while found < 0:
            if time.monotonic() > deadline:
                raise PageFault("never_ready", f"fonts or pictures not loaded in {SETTLE_SECONDS:g} s")
            time.sleep(0.01)
            self.hurry()
            found = self.call("settle", MAX_ELEMENTS)
        if found > MAX_ELEMENTS:
            raise PageFault("too_many_elements", str(found))

    def shot(self) -> Pixels:
        """The viewport, rows x columns x red, green, blue. Raises PageFault when its size is not that of the view."""
        answer = self.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        with Image.open(io.BytesIO(base64.b64decode(answer["data"])), formats=["PNG"]) as image:
            wanted = (round(self.view.width_px * self.view.scale), round(self.view.height_px * self.view.scale))
            if image.size != wanted:
                raise PageFault("wrong_size", f"{image.size[0]}x{image.size[1]} for {wanted[0]}x{wanted[1]}")
            return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))


class Session:
    """The browser with its pages."""

    def __init__(self, launcher: Path, caged: bool, patience: int = 1) -> None:
        self.sandboxed = True
        self.patience = patience
        self.connection, product = self._launch(launcher, caged)
        self.version = product.rpartition("/")[2]
        self._quiet: Loaded | None = None
        self._open_pages: dict[str, Loaded] = {}
        self._emitted: tuple[bytes, Pixels] | None = None
        self.connection.handlers[""] = self._told
        self.connection.send("Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]})

    def _launch(self, launcher: Path, caged: bool) -> tuple[Connection, str]:
        """With Chromium's own sandbox where it starts; without it in a cage alone. Raises BrowserGone and TooLate."""
        try:
            return _started(launcher, FLAGS)
        except (BrowserGone, TooLate):
            if not caged:
                raise
        self.sandboxed = False
        return _started(launcher, (*FLAGS, NO_SANDBOX))

    def load(self, html: str, view: View, seed: int, scripts: bool) -> Loaded:
        """The page, settled; `scripts` allows those that it has. Raises PageFault."""
        alone = scripts and is_active(html)
        quiet = self._quiet
        # What a page was drawn at another scale before shows: 49,258 pixels of one picture were others.
        if quiet is not None and not alone and quiet.view not in (View(0, 0), view):
            self.done(quiet, broken=True)
        loaded = self._page(scripts=True) if alone else self._quiet or self._page(scripts=False)
        self._quiet = self._quiet if alone else loaded
        try:
            loaded.set_view(view)
            loaded.hurry()
            if alone:
                self._begin(loaded, seed)
            loaded.send("Page.setDocumentContent", {"frameId": loaded.frame, "html": html})
            loaded.enter_world()
            loaded.settle()
            loaded.deadline = FOREVER
            return loaded
        except BaseException:
            self.done(loaded, broken=True)
            raise

    def done(self, loaded: Loaded, broken: bool = False) -> None:
        """Close a page that is not to be used again."""
        if loaded is self._quiet and not broken and not _left_traces(loaded.events):
            loaded.events.clear()
            return
        if loaded is self._quiet:
            self._quiet = None
        self._open_pages.pop(loaded.context, None)
        self.connection.forget(loaded.session)
        deadline = time.monotonic() + CLOSE_SECONDS
        with contextlib.suppress(Refused):
            self.connection.send("Target.disposeBrowserContext", {"browserContextId": loaded.context}, "", deadline)

    def emitted(self, pixels: Pixels) -> bytes:
        """The PNG of a picture, which is most often the next one to be judged."""
        png = png_of(pixels)
        self._emitted = png, pixels
        return png

    def picture(self, png: bytes) -> Pixels:
        """The pixels of a PNG; those that it was made of where it is the last one."""
        known = self._emitted
        return known[1] if known is not None and known[0] == png else pixels_of(png)

    def _begin(self, loaded: Loaded, seed: int) -> None:
        """A new document for a page with script, with a clock that stands still."""
        loaded.send("Page.addScriptToEvaluateOnNewDocument", {"source": _clock(seed & 0x7FFFFFFF)})
        loaded.send("Page.navigate", {"url": "about:blank"})
        loaded.frame = loaded.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        loaded.events.clear()

    def _page(self, scripts: bool) -> Loaded:
        context: str = self.connection.send("Target.createBrowserContext")["browserContextId"]
        behaviour = {"behavior": "deny", "browserContextId": context, "eventsEnabled": True}
        self.connection.send("Browser.setDownloadBehavior", behaviour)
        target = self.connection.send("Target.createTarget", {"url": "about:blank", "browserContextId": context})
        loaded = Loaded(self.connection, context, target["targetId"])
        loaded.patience = self.patience
        for method, params in _SETUP:
            loaded.send(method, params)
        if not scripts:
            loaded.send("Emulation.setScriptExecutionDisabled", {"value": True})
        self._open_pages[context] = loaded
        return loaded

    def _told(self, method: str, params: Mapping[str, Any]) -> None:
        """Windows that pages opened."""
        target = params.get("targetInfo", {})
        loaded = self._open_pages.get(target.get("browserContextId", ""))
        if method == "Target.targetCreated" and loaded is not None and target.get("openerId"):
            loaded.happened.popup(target["targetId"])


def _started(launcher: Path, flags: tuple[str, ...]) -> tuple[Connection, str]:
    """A browser, and its name with its version. Raises BrowserGone and TooLate."""
    connection = Connection(launcher, flags)
    try:
        answer = connection.send("Browser.getVersion", deadline=time.monotonic() + START_SECONDS)
        return connection, answer["product"]
    except BaseException:
        connection.close()
        raise


def _left_traces(events: Counter[str]) -> bool:
    return any(events[name] for name in ("navigations", "popups", "crashes", "dialogs", "downloads"))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


def _clock(seed: int) -> str:
    text = Path(__file__).with_name("clock.js").read_text(encoding="utf-8")
    return text.replace("SEED,", f"{seed},").replace("TIME_MS,", f"{TIME_MS},")


@functools.cache
def _page_script() -> str:
    return Path(__file__).with_name("page.js").read_text(encoding="utf-8")


def png_of(pixels: Pixels) -> bytes:
    """The emitted picture's bytes: one encoder at fixed settings."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=6)
    return out.getvalue()


def pixels_of(png: bytes) -> Pixels:
    """The pixels of such a picture."""
    with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
        return np.asarray(image.convert("RGB"))
