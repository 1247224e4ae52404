"""What cairosvg works out anew for each element, remembered. Imported by a child only.

All are pure functions of texts, and give what they gave; long texts are not kept. Together they halve the time that
cairosvg takes itself.
"""

import functools
from collections.abc import Callable
from typing import Any

from cairosvg import bounding_box, colors, css, defs, helpers, image, parser, path, shapes, surface, svg, text, url

_MODULES = (bounding_box, colors, css, defs, helpers, image, parser, path, shapes, surface, svg, text, url)
_ENTRIES = 4096
_MAX_CHARS = 128


def _remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, of a short text or None at first, and of what can be hashed; its answers are not changed."""
    known = functools.lru_cache(maxsize=_ENTRIES, typed=True)(function)

    def of(value: Any, *rest: Any) -> Any:
        if value is None or (type(value) is str and len(value) <= _MAX_CHARS):
            return known(value, *rest)
        return function(value, *rest)

    return of


color = _remembered(colors.color)
normalize = _remembered(helpers.normalize)
paint = _remembered(helpers.paint)
_FUNCTIONS = {
    "color": (colors.color, color),
    "normalize": (helpers.normalize, normalize),
    "paint": (helpers.paint, paint),
    "parse_url": (url.parse_url, _remembered(url.parse_url)),
    "clip_rect": (helpers.clip_rect, _remembered(helpers.clip_rect)),
    "parse_declarations": (css.parse_declarations, _remembered(css.parse_declarations)),
}
_sheets_by_cairosvg = css.parse_stylesheets


class _NoRules:
    """A matcher of no rules, which looks at no element."""

    def match(self, element: object) -> tuple[()]:
        return ()


class _Cursor:
    """In place of the module `copy`: cairosvg copies the text cursor, (list or tuple, list or tuple, number)."""

    @staticmethod
    def deepcopy(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        at, moved, width = state
        return type(at)(at), type(moved)(moved), width


def install() -> None:
    """Make cairosvg use these, here in this process; done twice, it is as done once."""
    for module in _MODULES:
        for name, (old, new) in _FUNCTIONS.items():
            if getattr(module, name, None) is old:
                setattr(module, name, new)
    css.parse_stylesheets = _sheets
    surface.copy = _Cursor


def _sheets(tree: Any, address: Any) -> tuple[Any, Any]:
    """cairosvg's matchers of rules; where a document has none, some that need not look."""
    normal, important = _sheets_by_cairosvg(tree, address)
    return normal if normal.order else _NoRules(), important if important.order else _NoRules()
