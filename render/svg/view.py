"""How large an SVG is by its own word."""

import re

from lxml import etree

from gristmill.render.svg.vocabulary import MAX_ABS_NUMBER, Refused

_LENGTH = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(px|pt|pc|mm|cm|in)?\s*")
_PX = {None: 1.0, "px": 1.0, "pt": 96 / 72, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}


def viewbox(root: etree._Element) -> tuple[float, float, float, float] | None:
    """The root's viewBox; None where it has none that holds."""
    words = re.split(r"[\s,]+", (root.get("viewBox") or "").strip())
    try:
        x, y, width, height = (float(word) for word in words)
    except ValueError:
        return None
    return (x, y, width, height) if width > 0 and height > 0 else None


def length_px(text: str | None) -> float | None:
    """A length in pixels; None where it is none, or relative."""
    found = _LENGTH.fullmatch(text or "")
    value = float(found.group(1)) * _PX[found.group(2)] if found else 0.0
    return value if 0 < value <= MAX_ABS_NUMBER else None


def own_size(root: etree._Element) -> tuple[float, float]:
    """Width and height in user units: of the viewBox, else of the attributes. Raises Refused (bad_size)."""
    box = viewbox(root)
    if box is not None:
        return box[2], box[3]
    width, height = length_px(root.get("width")), length_px(root.get("height"))
    if root.get("viewBox") is not None or width is None or height is None:
        raise Refused("bad_size", f"{root.get('width')} by {root.get('height')}, viewBox {root.get('viewBox')}")
    return width, height
