"""Which elements of a document are named, and what each says. Works on the tree of `sanitise.check`."""

from collections.abc import Sequence
from dataclasses import dataclass

from lxml import etree

from gristmill.render.svg.sanitise import local
from gristmill.render.svg.vocabulary import DRAWN, NEVER_DRAWN, TEXTS, Refused

_PART = tuple[str, str, str]


@dataclass(frozen=True)
class Named:
    """An element to annotate: it and its descendants are [key, end) in document order."""

    key: int
    end: int
    role: str
    text: str


def in_order(root: etree._Element) -> list[etree._Element]:
    """Elements in document order; the place in it is an element's key."""
    return list(root.iter(etree.Element))


def words(text: str) -> str:
    """Text with its white space as SVG shows it."""
    return " ".join(text.split())


def text_of(element: etree._Element) -> str:
    """What a text element says."""
    return words("".join(str(part) for part in element.itertext()))


def named(root: etree._Element, parts: Sequence[_PART]) -> list[Named]:
    """The parts by key; without parts every element that draws, by what it is. Raises Refused (bad_parts)."""
    elements = in_order(root)
    sizes = _sizes(elements)
    if not parts:
        return [
            Named(key, key + sizes[key], local(element), text_of(element) if local(element) == "text" else "")
            for key, element in enumerate(elements)
            if local(element) in DRAWN and _stands_alone(element)
        ]
    found: list[Named] = []
    for key_text, role, text in parts:
        key = int(key_text) if key_text.isdigit() else -1
        if not 0 <= key < len(elements):
            raise Refused("bad_parts", key_text)
        found.append(Named(key, key + sizes[key], role, text))
    if len({one.key for one in found}) < len(found):
        raise Refused("bad_parts", "a key twice")
    return found


def says(element: etree._Element, one: Named) -> bool:
    """Whether a text element says what it is named for. Other parts may stand for words that are not drawn."""
    return local(element) not in TEXTS or words(one.text) == text_of(element)


def _sizes(elements: Sequence[etree._Element]) -> list[int]:
    sizes = [1] * len(elements)
    place = {element: key for key, element in enumerate(elements)}
    for key in range(len(elements) - 1, 0, -1):
        parent = elements[key].getparent()
        if parent is not None:
            sizes[place[parent]] += sizes[key]
    return sizes


def _stands_alone(element: etree._Element) -> bool:
    if local(element) in ("tspan", "textPath"):
        return False
    return all(local(above) not in NEVER_DRAWN for above in element.iterancestors())
