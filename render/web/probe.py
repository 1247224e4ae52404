"""A page whose picture is known: whether the browser here draws as it must."""

from typing import Any

from gristmill.render.protocol import EngineState
from gristmill.render.web.client import Client
from gristmill.render.web.session import pixels_of

_HTML = (
    "<!doctype html><title>probe</title><style>body{margin:0;background:#fff}div{position:absolute;left:10px;top:20px;"
    "width:40px;height:30px;background:#0050c8}</style><div role=img aria-label=probe></div>"
)
_WIDTH, _HEIGHT = 80, 60


def run_probe(client: Client) -> EngineState:
    """The state of the browser. Raises Rejected where it cannot render at all."""
    head: dict[str, Any] = {"job": "take", "ids": [], "html": _HTML, "view": [_WIDTH, _HEIGHT, 1.0], "seed": 0}
    taken, png = client.ask(head | {"scripts": False})
    pixels = pixels_of(png)
    box = [int(v) for v in taken["things"][0]["visible"]] if taken["things"] else []
    right = pixels.shape == (_HEIGHT, _WIDTH, 3) and tuple(pixels[35, 30]) == (0, 80, 200) and box == [10, 20, 50, 50]
    cage = "bubblewrap and Chromium's sandbox" if taken["sandboxed"] else "bubblewrap"
    detail = f"{client.found.path}, held by {cage if client.found.cage == 'bubblewrap' else 'Chromium sandbox alone'}"
    if right:
        return EngineState("chromium", taken["version"], True, detail)
    return EngineState(
        "chromium", "", False, f"{detail}: the probe came out wrong: {box}", "use another build of Chromium"
    )
