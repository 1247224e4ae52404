"""Whether the engines work here, tried on a picture whose colours are known."""

import ctypes.util
from importlib import metadata

from gristmill.manifests.errors import GristmillError
from gristmill.render.protocol import EngineState, Rejected
from gristmill.render.svg import engines
from gristmill.render.svg.wire import Message

_PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 32" width="64" height="32">'
    '<rect width="32" height="32" fill="#c03020"/>'
    '<text x="36" y="22" font-family="DejaVu Sans" font-size="16">ab</text></svg>'
)
_REMEDY = "install the extra `svg` (pip install 'gristmill[svg]') and the system's libcairo2"
_SIZE = {"text": _PROBE, "width": 64, "height": 32, "parts": []}


def states() -> tuple[EngineState, ...]:
    """cairosvg and resvg; both need the packages of the extra `svg`. Never raises."""
    drawn = _drawn()
    judged = "needs a picture by cairosvg to be tried" if isinstance(drawn, str) else _judged(drawn)
    return _state("cairosvg", drawn if isinstance(drawn, str) else ""), _state("resvg", judged)


def libcairo_version() -> str:
    """Version of the system's cairo, "" where there is none."""
    name = ctypes.util.find_library("cairo")
    if name is None:
        return ""
    version = ctypes.CDLL(name).cairo_version_string
    version.restype = ctypes.c_char_p
    return version().decode("ascii", "replace")


def _state(name: str, fault: str) -> EngineState:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return EngineState(name, "", False, "not installed", _REMEDY)
    return EngineState(name, "" if fault else version, not fault, fault, _REMEDY if fault else "")


def _drawn() -> Message | str:
    """cairosvg's answer to the probe, or what is wrong with it."""
    try:
        answer = engines.ask(engines.DRAW, Message(_SIZE | {"what": "draw"}))
    except (Rejected, GristmillError) as error:
        return str(error)
    boxes = [row["bbox_visible"] for row in answer.head["rows"]]
    return answer if len(boxes) == 2 and boxes[0] == [0, 0, 32, 32] else f"the probe's boxes are {boxes}"


def _judged(drawn: Message) -> str:
    """What is wrong with resvg, "" if nothing."""
    request = _SIZE | {"rows": drawn.head["rows"], "audit": False}
    try:
        measures = engines.ask(engines.JUDGE, Message(request, drawn.blob)).head["measures"]
    except (Rejected, GristmillError) as error:
        return str(error)
    return "" if measures["box_off_px_max"] <= 1 else f"the probe's boxes are off by {measures['box_off_px_max']:g} px"
