"""What an element says, by the layout tree: its painted text, its shown value, and the attributes that name it.

Accessibility names are text without looks, so texts are compared without white space, and without the marks that a
browser does not speak (soft hyphens, marks of direction).
"""

import unicodedata
from collections.abc import Iterator, Sequence

from gristmill.render.protocol import Box
from gristmill.render.web.snapshot import Layout, TextBox

_NAMING = ("aria-label", "alt", "title", "placeholder", "value", "label", "aria-valuetext")
_CAPTIONS = frozenset({"CAPTION", "LEGEND", "FIGCAPTION", "TITLE", "SUMMARY"})
_SILENT = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2066\u2067\u2068\u2069\ufe0e\ufe0f"


def squeezed(text: str) -> str:
    """Text without white space and silent marks, in small letters (a style may write it in capitals)."""
    kept = (c for c in unicodedata.normalize("NFC", text) if not c.isspace() and c not in _SILENT)
    return "".join(kept).casefold()


def says(layout: Layout, ends: Sequence[int], number: int, text: str) -> bool:
    """Whether element `number` may be called `text` (or a longer text that begins so)."""
    wanted = squeezed(text)
    return not wanted or any(said.startswith(wanted) for said in said_by(layout, ends, number))


def line_says(layout: Layout, ends: Sequence[int], block: int, box: Box, text: str) -> bool:
    """Whether the pieces painted below `block` whose middle lies in `box` (CSS pixels) read `text`."""
    pieces = line_pieces(layout, ends, block, box)
    return squeezed(text) == squeezed("".join(piece.text for piece in pieces))


def line_pieces(layout: Layout, ends: Sequence[int], block: int, box: Box) -> list[TextBox]:
    """The painted pieces below `block` whose middle lies in `box`, in document order."""
    x0, y0, x1, y1 = box
    found: list[TextBox] = []
    for piece in layout.texts:
        if block <= piece.element < ends[block] and piece.text.strip():
            left, top, right, bottom = piece.box
            if x0 <= (left + right) / 2 <= x1 and y0 <= (top + bottom) / 2 <= y1:
                found.append(piece)
    return found


def said_by(layout: Layout, ends: Sequence[int], number: int) -> Iterator[str]:
    """Everything that element `number` may be called, squeezed."""
    yield squeezed(_named_text(layout, ends, number))
    node = layout.nodes[number]
    yield from (squeezed(node.attributes[name]) for name in _NAMING if node.attributes.get(name))
    if node.value:
        yield squeezed(node.value)
    for label in _labels(layout, ends, number):
        yield squeezed(_named_text(layout, ends, label))
    referred = node.attributes.get("aria-labelledby", "").split()
    if referred:
        places = {n.attributes["id"]: i for i, n in reversed(list(enumerate(layout.nodes))) if "id" in n.attributes}
        texts = [_named_text(layout, ends, places[name]) for name in referred if name in places]
        yield squeezed("".join(texts))


def _named_text(layout: Layout, ends: Sequence[int], number: int) -> str:
    """The painted text below an element, where pictures and named elements stand for what they are called."""
    texts: dict[int, list[str]] = {}
    for piece in layout.texts:
        if number <= piece.element < ends[number]:
            texts.setdefault(piece.element, []).append(piece.text)
    if not any(_alternative(layout, i) for i in range(number + 1, ends[number])):
        return "".join(piece.text for piece in layout.texts if number <= piece.element < ends[number])
    return _walked(layout, ends, number, texts)


def _walked(layout: Layout, ends: Sequence[int], number: int, texts: dict[int, list[str]]) -> str:
    """As a name is computed from content: text of an element stands where the element begins."""
    parts, at = list(texts.get(number, ())), number + 1
    while at < ends[number]:
        alternative = _alternative(layout, at)
        parts += [alternative] if alternative else texts.get(at, ())
        at = ends[at] if alternative else at + 1
    return "".join(parts)


def _alternative(layout: Layout, number: int) -> str:
    node = layout.nodes[number]
    named = node.attributes.get("aria-label", "")
    return named or (node.attributes.get("alt", "") if node.tag in ("IMG", "INPUT", "AREA") else "")


def _labels(layout: Layout, ends: Sequence[int], number: int) -> Iterator[int]:
    own = layout.nodes[number].attributes.get("id")
    for i, node in enumerate(layout.nodes):
        if (node.tag == "LABEL" and ((own and node.attributes.get("for") == own) or i < number < ends[i])) or (
            node.tag in _CAPTIONS and number < i < ends[number]
        ):
            yield i
