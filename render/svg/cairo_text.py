"""Text for cairosvg: set by its outlines, anchored by its advance as the standard says.

cairosvg itself anchors by the ink's width, which moves a centred line by up to two pixels, and sets each text twice.
What has its letters placed one by one, or follows a path, is left to cairosvg. Imported by a child only.
"""

from typing import Any

import cairocffi as cairo
from cairosvg import surface as drawing
from cairosvg.helpers import size
from cairosvg.text import text as set_letters

from gristmill.render.svg.cairo_memo import normalize

_SLANTS = {"italic": cairo.FONT_SLANT_ITALIC, "oblique": cairo.FONT_SLANT_OBLIQUE}
_BOLD_FROM = 550
_TEXT_TAGS = ("text", "tspan", "textPath", "a")
_LOW = ("text-after-edge", "after_edge", "bottom", "text-bottom")
_HIGH = ("text-before-edge", "before_edge", "top", "hanging", "text-top")


def install() -> None:
    """Make cairosvg set text by `set_text`, here in this process."""
    for tag in _TEXT_TAGS:
        drawing.TAGS[tag] = set_text


def set_text(surface: Any, node: Any) -> None:
    """Append a text's outlines to the path and move the cursor on."""
    if _is_placed(node) or not node.text:
        set_letters(surface, node)
        return
    context = surface.context
    weight = str(node.get("font-weight", "normal"))
    bold = weight in ("bold", "bolder") or (weight.isdigit() and int(weight) >= _BOLD_FROM)
    family = (node.get("font-family") or "sans-serif").split(",")[0].strip("\"' ")
    slant = _SLANTS.get(str(node.get("font-style")), cairo.FONT_SLANT_NORMAL)
    context.select_font_face(family, slant, cairo.FONT_WEIGHT_BOLD if bold else cairo.FONT_WEIGHT_NORMAL)
    context.set_font_size(surface.font_size)
    left, top, width, height, advance, _ = context.text_extents(node.text)
    x, y = _start(surface, node)
    anchor = {"middle": advance / 2, "end": advance}.get(str(node.get("text-anchor")), 0.0)
    at = (x + surface.cursor_d_position[0] - anchor, y + surface.cursor_d_position[1] + _drop(context, node))
    context.move_to(*at)
    context.text_path(node.text)
    surface.cursor_position = (x + advance, y)
    node["text_bounding_box"] = (at[0] + left, at[1] + top, width, height)


def _is_placed(node: Any) -> bool:
    """Whether letters are placed one by one or along a path."""
    if "rotate" in node or size(None, node.get("letter-spacing")) or node.get("letter-spacing", "0")[:1] not in "0n":
        return True
    if node.tag == "textPath" or node.get_href() or (node.parent is not None and node.parent.get_href()):
        return True
    return any(len(normalize(node[name]).split()) > 1 for name in ("x", "y", "dx", "dy") if name in node)


def _start(surface: Any, node: Any) -> tuple[float, float]:
    """Where the text starts before anchoring, without the shifts that `cursor_d_position` gathers."""
    moved = surface.cursor_d_position
    for axis, name in enumerate("xy"):
        if name in node:
            moved[axis] = 0
        moved[axis] += size(surface, node.get(f"d{name}"), name)
    x = size(surface, node["x"], "x") if "x" in node else surface.cursor_position[0]
    y = size(surface, node["y"], "y") if "y" in node else surface.cursor_position[1]
    return x, y


def _drop(context: Any, node: Any) -> float:
    """How far the baseline lies below the given y: cairosvg's reading of dominant-baseline."""
    baseline = node.get("dominant-baseline") or node.get("alignment-baseline")
    if baseline in (None, "auto", "alphabetic", "baseline"):
        return 0.0
    ascent, descent = context.font_extents()[:2]
    if baseline in ("central", "middle"):
        return (ascent + descent) / 2 - descent
    return ascent if baseline in _HIGH else -descent if baseline in _LOW else 0.0
