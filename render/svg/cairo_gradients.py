"""Gradients and patterns for cairosvg, where it draws others than the standard asks for. Imported by a child only.

A gradient is stretched over the box of the path that cairo is about to paint: cairosvg reads a path's box off its
numbers and goes wrong over some, so that gradients are moved. Texts keep cairosvg's box, which is that of their line.

A gradient that takes its stops from another keeps them: cairosvg takes them anew for each use, and finds none for every
second one.
"""

from typing import Any

from cairosvg import defs

_box_by_cairosvg = defs.calculate_bounding_box
_update_by_cairosvg = defs.update_def_href
_PATHS = frozenset(["path", "polygon", "polyline", "line", "rect", "circle", "ellipse"])
_DONE = "gristmill_updated"


def install() -> None:
    """Make cairosvg use these, here in this process; done twice, it is as done once."""
    defs.calculate_bounding_box = box
    defs.update_def_href = update_once


def box(surface: Any, node: Any) -> Any:
    """x, y, width and height in the user space of the node."""
    if node.tag not in _PATHS:
        return _box_by_cairosvg(surface, node)
    x0, y0, x1, y1 = surface.context.path_extents()
    return x0, y0, x1 - x0, y1 - y0


def update_once(surface: Any, name: str, known: Any, chain: Any = None) -> None:
    """Give a gradient or pattern what it takes from another by its href, the first time that a surface needs it."""
    done = surface.__dict__.setdefault(_DONE, set())
    if (id(known), name) not in done:
        done.add((id(known), name))
        _update_by_cairosvg(surface, name, known, chain)
