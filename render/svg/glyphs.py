"""Whether the fonts of SVG have a glyph for each letter of a text. Imported by a child only."""

import functools
import unicodedata

from gristmill.render.svg.fonts import font_files

_UNSEEN = frozenset(["Cc", "Cf", "Cn", "Co", "Cs"])


def lacking(text: str) -> str:
    """The first character that is drawn as an empty box, or not at all; "" where there is none.

    DejaVu Sans has all of printable ASCII, so for that no font is opened.
    """
    return next((c for c in text if not (" " <= c <= "~" or c.isspace()) and _is_lacking(c)), "")


def _is_lacking(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN or ord(char) not in _known()


@functools.cache
def _known() -> frozenset[int]:
    """The characters of any of the fonts: engines look in the others for what one lacks."""
    from fontTools.ttLib import TTFont

    found: set[int] = set()
    for path in font_files():
        with TTFont(path, lazy=True) as font:
            found.update(font.getBestCmap() or {})
    return frozenset(found)
