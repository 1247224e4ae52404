"""One browser and its pages, inside the worker: load a page, freeze it, ask it, photograph it.

Pages without script share one page of a context whose scripting is off; a page with script gets a page and a context
of its own, with a frozen clock, seeded `Math.random` and nothing left of the page before. In both, every request but
`data:` and `about:` is aborted and counted, dialogs are dismissed, popups closed, downloads refused.
"""

import base64
import functools
import io
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, CDPSession, Dialog, Page, Playwright, Request, Route
from playwright.sync_api import Error as PlaywrightError

from gristmill.render.protocol import View
from gristmill.render.web.browser import FLAGS

Pixels = npt.NDArray[np.uint8]

CLOCK = "2024-05-14T09:41:00Z"
"""The time of every page with script."""
_CLOCK_STARTS = "2024-05-14T09:40:00Z"
LOAD_SECONDS = 5.0
SETTLE_SECONDS = 2.0
MAX_ELEMENTS = 3000

_ACTIVE = re.compile(r"<script|\son\w+\s*=|javascript:|http-equiv|<i?frame|<object|<embed|<portal", re.IGNORECASE)
_RANDOM = """(() => { let s = %d; Math.random = () => { s = (s + 0x6D2B79F5) | 0;
let t = Math.imul(s ^ (s >>> 15), 1 | s); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
return ((t ^ (t >>> 14)) >>> 0) / 4294967296; }; })()"""


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
    """A page of the browser, with what happened in it."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.context = context
        self.page = page
        self.view = View(0, 0)
        self.events: Counter[str] = Counter()
        self.cdp: CDPSession = context.new_cdp_session(page)
        self.frame: str = self.cdp.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self.world = 0
        self._listen()

    def _listen(self) -> None:
        page, events = self.page, self.events
        page.on("dialog", self._dialog)
        page.on("popup", self._popup)
        page.on("download", lambda _: events.update(["downloads"]))
        page.on("pageerror", lambda _: events.update(["errors"]))
        page.on("crash", lambda _: events.update(["crashes"]))
        page.on("framenavigated", lambda frame: events.update([] if frame.parent_frame else ["navigations"]))
        page.on("requestfailed", self._failed)
        page.on("console", lambda message: events.update(["errors"] if message.type == "error" else []))

    def _dialog(self, dialog: Dialog) -> None:
        self.events["dialogs"] += 1
        dialog.dismiss()

    def _popup(self, popup: Page) -> None:
        self.events["popups"] += 1
        popup.close()

    def _failed(self, request: Request) -> None:
        if not request.url.startswith(("data:", "about:")):
            self.events["requests"] += 1

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
            return self.cdp.send(method, params or {})
        except PlaywrightError as error:
            raise PageFault("page_crashed" if self.events["crashes"] else "page_lost", _first_line(error)) from error

    def enter_world(self) -> None:
        """Put `page.js` into a world of its own beside the page's scripts."""
        settings = {"frameId": self.frame, "worldName": "gristmill"}
        self.world = self.send("Page.createIsolatedWorld", settings)["executionContextId"]
        self.ask(_page_script())

    def ask(self, expression: str) -> Any:
        """The value of an expression in that world. Raises PageFault."""
        settings = {"expression": expression, "contextId": self.world, "returnByValue": True}
        answer = self.send("Runtime.evaluate", settings)
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"].get("exception", {}).get("description", "")
            raise PageFault("page_lost", thrown.partition("\n")[0])
        return answer["result"].get("value")

    def call(self, function: str, *args: Any) -> Any:
        """What `gm.<function>` of `page.js` answers, out of its JSON."""
        answer = self.ask(f"gm.{function}({','.join(json.dumps(arg) for arg in args)})")
        return json.loads(answer) if isinstance(answer, str) else answer

    def settle(self) -> None:
        """Wait until fonts and pictures are there, then stop what moves. Raises PageFault."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while not self.ask("gm.ready()"):
            if time.monotonic() > deadline:
                raise PageFault("never_ready", f"fonts or pictures not loaded in {SETTLE_SECONDS:g} s")
            time.sleep(0.01)
        found = self.ask("gm.count()")
        if found > MAX_ELEMENTS:
            raise PageFault("too_many_elements", str(found))
        self.ask("gm.freeze()")

    def shot(self) -> Pixels:
        """The viewport, rows x columns x red, green, blue. Raises PageFault when its size is not that of the view."""
        answer = self.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        with Image.open(io.BytesIO(base64.b64decode(answer["data"])), formats=["PNG"]) as image:
            wanted = (round(self.view.width_px * self.view.scale), round(self.view.height_px * self.view.scale))
            if image.size != wanted:
                raise PageFault("wrong_size", f"{image.size[0]}x{image.size[1]} for {wanted[0]}x{wanted[1]}")
            return np.asarray(image.convert("RGB"))


class Session:
    """The browser with its pages."""

    def __init__(self, playwright: Playwright, launcher: Path) -> None:
        self.sandboxed = True
        self.browser = self._launch(playwright, str(launcher))
        self.version = self.browser.version
        self._quiet: Loaded | None = None

    def _launch(self, playwright: Playwright, launcher: str) -> Browser:
        """With Chromium's own sandbox where it starts in the cage; see `browser` for when it may go without."""
        launch = functools.partial(playwright.chromium.launch, executable_path=launcher, args=list(FLAGS), timeout=60e3)
        try:
            return launch(chromium_sandbox=True)
        except PlaywrightError:
            self.sandboxed = False
            return launch(chromium_sandbox=False)

    def load(self, html: str, view: View, seed: int, scripts: bool) -> Loaded:
        """The page, settled; `scripts` allows those that it has. Raises PageFault."""
        loaded = self._scripted(html, view, seed) if scripts and is_active(html) else self._plain(html, view)
        try:
            loaded.enter_world()
            loaded.settle()
            return loaded
        except BaseException:
            self.done(loaded)
            raise

    def done(self, loaded: Loaded) -> None:
        """Close a page that is not to be used again."""
        if loaded is self._quiet and not _left_traces(loaded.events):
            loaded.events.clear()
            return
        if loaded is self._quiet:
            self._quiet = None
        loaded.context.close()

    def _plain(self, html: str, view: View) -> Loaded:
        if self._quiet is None:
            self._quiet = self._open(scripts=False)
        loaded = self._quiet
        loaded.set_view(view)
        loaded.send("Page.setDocumentContent", {"frameId": loaded.frame, "html": html})
        return loaded

    def _scripted(self, html: str, view: View, seed: int) -> Loaded:
        loaded = self._open(scripts=True)
        try:
            loaded.set_view(view)
            loaded.page.add_init_script(_RANDOM % (seed & 0x7FFFFFFF))
            loaded.page.clock.install(time=_CLOCK_STARTS)
            loaded.page.goto("about:blank")
            loaded.page.clock.pause_at(CLOCK)
            loaded.frame = loaded.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
            loaded.events.clear()
            loaded.page.set_content(html, timeout=LOAD_SECONDS * 1e3, wait_until="load")
        except PlaywrightError as error:
            reason = "page_crashed" if loaded.events["crashes"] else _load_fault(loaded)
            loaded.context.close()
            raise PageFault(reason, _first_line(error)) from error
        return loaded

    def _open(self, scripts: bool) -> Loaded:
        context = self.browser.new_context(
            java_script_enabled=scripts,
            locale="en-US",
            timezone_id="UTC",
            reduced_motion="reduce",
            offline=True,
            accept_downloads=False,
            service_workers="block",
        )
        context.route("**/*", _refuse)
        return Loaded(context, context.new_page())


def _refuse(route: Route) -> None:
    route.abort()


def _load_fault(loaded: Loaded) -> str:
    if loaded.events["dialogs"]:
        return "dialog"
    return "navigates" if loaded.events["navigations"] else "page_hangs"


def _left_traces(events: Counter[str]) -> bool:
    return any(events[name] for name in ("navigations", "popups", "crashes", "dialogs", "downloads"))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


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


def points_json(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    """Points as `gm.hits` takes them."""
    return [[round(x, 3), round(y, 3)] for x, y in points]
