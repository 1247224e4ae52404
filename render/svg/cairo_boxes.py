"""The box that a gradient or a pattern of cairosvg is stretched over: that of the path which cairo is about to paint.

cairosvg reads a path's box off its numbers and goes wrong over some of them: gradients were moved, or not painted at
all, in 4 of 110 real drawings. Texts keep cairosvg's box, which is that of their line. Imported by a child only.
"""

from typing import Any

from cairosvg import defs

_BY_CAIROSVG = defs.calculate_bounding_box
_PATHS = frozenset(["path", "polygon", "polyline", "line", "rect", "circle", "ellipse"])


def install() -> None:
    """Make cairosvg take boxes of shapes from cairo, here in this process."""
    defs.calculate_bounding_box = box


def box(surface: Any, node: Any) -> Any:
    """x, y, width and height in the user space of the node; None where it has none."""
    if node.tag not in _PATHS:
        return _BY_CAIROSVG(surface, node)
    x0, y0, x1, y1 = surface.context.path_extents()
    return x0, y0, x1 - x0, y1 - y0
