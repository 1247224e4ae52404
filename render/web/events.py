"""What happened in a page, out of the browser's events: counts by name, and the frames that stand in it.

Counted: `dialogs` (dismissed), `popups` (closed), `downloads` (refused), `navigations` of the page itself, `errors`
(thrown, or written to the console as errors), `requests` (all but `data:`, `about:` and `blob:`; every one is refused),
`crashes`.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

_LOCAL = ("data:", "about:", "blob:")
Post = Callable[[str, Mapping[str, Any]], object]


class Events:
    """The counts of one page; `post` sends it a command that nobody waits for."""

    def __init__(self, post: Post) -> None:
        self.counts: Counter[str] = Counter()
        self.frames: set[str] = set()
        self._post = post
        self._takes: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            "Page.javascriptDialogOpening": self._dialog,
            "Page.downloadWillBegin": lambda _: self._count("downloads"),
            "Page.frameNavigated": self._navigated,
            "Page.navigatedWithinDocument": self._moved,
            "Page.frameAttached": lambda told: self.frames.add(told["frameId"]),
            "Page.frameDetached": self._detached,
            "Runtime.exceptionThrown": lambda _: self._count("errors"),
            "Runtime.consoleAPICalled": lambda told: self._count("errors", told["type"] == "error"),
            "Log.entryAdded": lambda told: self._count("errors", told["entry"]["level"] == "error"),
            "Network.requestWillBeSent": self._request,
            "Network.webSocketCreated": lambda _: self._count("requests"),
            "Fetch.requestPaused": self._paused,
            "Inspector.targetCrashed": lambda _: self._count("crashes"),
        }

    def take(self, method: str, told: Mapping[str, Any]) -> None:
        """An event of the page."""
        taker = self._takes.get(method)
        if taker is not None:
            taker(told)

    def popup(self, target: str) -> None:
        """A window that the page opened."""
        self._count("popups")
        self._post("Target.closeTarget", {"targetId": target})

    def _count(self, name: str, counts: bool = True) -> None:
        self.counts[name] += counts

    def _dialog(self, _: Mapping[str, Any]) -> None:
        self._count("dialogs")
        self._post("Page.handleJavaScriptDialog", {"accept": False})

    def _navigated(self, told: Mapping[str, Any]) -> None:
        self._count("navigations", not told["frame"].get("parentId"))

    def _moved(self, told: Mapping[str, Any]) -> None:
        self._count("navigations", told["frameId"] not in self.frames)

    def _detached(self, told: Mapping[str, Any]) -> None:
        # A frame that another process takes over is detached too, and is still there.
        if told.get("reason") != "swap":
            self.frames.discard(told["frameId"])

    def _request(self, told: Mapping[str, Any]) -> None:
        self._count("requests", not told["request"]["url"].startswith(_LOCAL))

    def _paused(self, told: Mapping[str, Any]) -> None:
        """A request of the network is refused; one that needs none goes on.

        A page that would go elsewhere stays as it is: an aborted navigation brings no page of errors, which would come
        sooner or later than the picture.
        """
        number = told["requestId"]
        if told["request"]["url"].startswith(_LOCAL):
            self._post("Fetch.continueRequest", {"requestId": number})
        else:
            reason = "Aborted" if told.get("resourceType") == "Document" else "Failed"
            self._post("Fetch.failRequest", {"requestId": number, "errorReason": reason})
