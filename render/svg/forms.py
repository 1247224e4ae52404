"""Other texts of the same drawing: minified, pretty-printed, with simplified paths.

All keep the elements and their order, so that an element's key is the same in every form. Whether a form looks the same
is for the child to see: `draw_child` draws each and holds it against the picture.
"""

import re
from collections.abc import Callable

from lxml import etree

from gristmill.render.svg.path_data import number, shorter
from gristmill.render.svg.sanitise import local
from gristmill.render.svg.vocabulary import NUMBER_ATTRIBUTES, TEXTS

_NUMBER = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+)(?![\w.])")
_DOUBLED = re.compile(r"#([0-9a-fA-F])\1([0-9a-fA-F])\2([0-9a-fA-F])\3\b")
_INDENT = "  "
_DECIMALS_PER_PX = 2


def forms(text: str, px_per_unit: float) -> dict[str, str]:
    """Form by name; one that equals the text or another form is left out. `px_per_unit` decides how far paths round."""
    makers: dict[str, Callable[[etree._Element], str]] = {
        "minified": _minified,
        "pretty": _pretty,
        "simplified": lambda root: _simplified(root, px_per_unit),
    }
    found: dict[str, str] = {}
    for name, make in makers.items():
        form = make(_tree(text))
        if form != text and form not in found.values():
            found[name] = form
    return found


def _tree(text: str) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, remove_comments=True, remove_pis=True
    )
    return etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)


def _minified(root: etree._Element) -> str:
    """Without comments and white space that is not drawn, numbers and colours as short as they can be."""
    _squeeze(root)
    for element in root.iter(etree.Element):
        for name in list(element.attrib):
            element.set(name, _short(name, element.attrib[name]))
        if local(element) == "style" and element.text:
            element.text = re.sub(r"\s*([{}:;,>])\s*", r"\1", element.text).replace(";}", "}").strip()
    return etree.tostring(root, encoding="unicode", with_tail=False)


def _pretty(root: etree._Element) -> str:
    """An element a line, indented by two spaces; texts stay on their line."""
    _squeeze(root)
    _indent(root, 0)
    return etree.tostring(root, encoding="unicode", with_tail=False) + "\n"


def _simplified(root: etree._Element, px_per_unit: float) -> str:
    """Paths relative where that is shorter, rounded to a hundredth of a pixel or finer, letters once."""
    decimals = _DECIMALS_PER_PX
    while px_per_unit > 1 and decimals < 6:
        px_per_unit, decimals = px_per_unit / 10, decimals + 1
    for element in root.iter(etree.Element):
        data = element.get("d")
        if data and data.strip() != "none":
            element.set("d", shorter(data, decimals))
    return etree.tostring(root, encoding="unicode", with_tail=False)


def _squeeze(root: etree._Element) -> None:
    """Take out white space between elements, but for that inside texts."""
    for element in root.iter(etree.Element):
        if local(element) in TEXTS:
            continue
        if element.text and not element.text.strip():
            element.text = None
        for child in element:
            if child.tail and not child.tail.strip():
                child.tail = None


def _indent(element: etree._Element, depth: int) -> None:
    if local(element) in TEXTS or not len(element):
        return
    element.text = "\n" + _INDENT * (depth + 1)
    children = list(element)
    for child in children:
        _indent(child, depth + 1)
        child.tail = "\n" + _INDENT * (depth + 1)
    children[-1].tail = "\n" + _INDENT * depth


def _short(name: str, value: str) -> str:
    if name in NUMBER_ATTRIBUTES or name in ("d", "transform", "stroke-width", "font-size"):
        value = _NUMBER.sub(lambda found: number(float(found.group(0))), value)
        return re.sub(r"\s+", " ", value).strip()
    if name in ("fill", "stroke", "stop-color", "color", "style"):
        value = _DOUBLED.sub(r"#\1\2\3", value)
    if name == "style":
        value = re.sub(r"\s*([:;,])\s*", r"\1", value).strip("; ")
    return value
