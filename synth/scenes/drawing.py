"""SVG to pixels: the pictures of records are drawn in the killable child of `render.svg`, the same bytes on every run.

In: a `Drawing`; out: a PNG of its size with its hash. Needs the extra `svg` and the system's libcairo2; `absent` says
what lacks. Bytes depend on the engine's version and on the fonts: `fingerprint` tells both.
"""

from functools import cache, lru_cache
from importlib import metadata

from gristmill.manifests.errors import InputError
from gristmill.render.protocol import Rejected
from gristmill.render.svg import probes
from gristmill.render.svg.engines import DRAW, ask
from gristmill.render.svg.fonts import fonts_digest
from gristmill.render.svg.wire import Message
from gristmill.synth.media import Shown, png
from gristmill.synth.protocol import Drawing

ENGINE = "cairosvg"
DRAWN_BEFORE = 1024
"""So many pictures are kept: some are drawn to be measured before they are planted."""


@lru_cache(maxsize=DRAWN_BEFORE)
def draw(drawing: Drawing) -> Shown:
    """The picture. Raises InputError where the engine refuses it, or fails."""
    request = {"what": "draw", "text": drawing.svg, "width": drawing.width, "height": drawing.height, "parts": []}
    try:
        answer = ask(DRAW, Message(request))
    except Rejected as error:
        raise InputError("the picture of a record cannot be drawn", "synth", str(error), absent() or "") from None
    return png(answer.blob, drawing.width, drawing.height)


@cache
def absent() -> str:
    """What lacks for pictures to be drawn, and what to do about it; "" where nothing does."""
    engine = next(state for state in probes.states() if state.name == ENGINE)
    return "" if engine.works else f"{ENGINE} does not work here: {engine.remedy or engine.detail}"


@cache
def fingerprint() -> tuple[tuple[str, str], ...]:
    """Versions of what decides the bytes of pictures: part of the key of whatever is made with them. Raises
    PackageNotFoundError where `absent` says that they cannot be drawn."""
    found = {name: metadata.version(name) for name in (ENGINE, "pillow")}
    return (*sorted(found.items()), ("fonts", fonts_digest()), ("libcairo", probes.libcairo_version()))
