"""The strict reader of SVG: bytes to an lxml tree that holds nothing outside the vocabulary, or Refused.

Neither entities nor the network nor huge trees are read. What passes is finite, acyclic and small: see the limits of
`vocabulary`. It is no proof that engines live through it: they run in killable children besides.
"""

from collections.abc import Iterator

from lxml import etree

from gristmill.render.svg import grammar
from gristmill.render.svg.css import Sheet, check_declaration, declarations, read_sheet
from gristmill.render.svg.pictures import check_data_picture
from gristmill.render.svg.vocabulary import (
    ANIMATED,
    COLOURS,
    ELEMENTS,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_EXPANDED,
    MAX_MAGNIFICATION,
    NOT_BY_BOTH,
    NUMBER_ATTRIBUTES,
    PROPERTIES,
    REFERENCES,
    SCRIPTED,
    SVG_NS,
    WORD_ATTRIBUTES,
    XLINK_NS,
    XML_NS,
    Refused,
)

_PREFIXES = {f"{{{XLINK_NS}}}": "xlink:", f"{{{XML_NS}}}": "xml:"}
_GRADIENTS = ("linearGradient", "radialGradient")
_TARGETS = {
    "clip-path": ("clipPath",),
    "fill": (*_GRADIENTS, "pattern"),
    "stroke": (*_GRADIENTS, "pattern"),
    **{name: ("marker",) for name in REFERENCES if name.startswith("marker")},
}
_NESTED_USE = ("svg", "g", "symbol", "use", "rect", "circle", "ellipse", "line", "polyline", "polygon", "path", "text")
_HREF = {
    "use": (*_NESTED_USE, "image"),
    "textPath": ("path",),
    "pattern": ("pattern",),
    **{name: _GRADIENTS for name in _GRADIENTS},
}


def parse(body: bytes, max_bytes: int = MAX_BYTES) -> etree._Element:
    """The root of a well-formed SVG within the limits of size. Raises Refused."""
    if len(body) > max_bytes:
        raise Refused("too_large", f"{len(body)} bytes")
    if b"<!" in body.replace(b"<!--", b"").replace(b"<![CDATA[", b""):
        raise Refused("doctype")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        body.decode("utf-8")
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Refused("too_deep" if "depth" in str(error) else "not_xml", str(error)) from error
    if root.getroottree().docinfo.doctype:
        raise Refused("doctype")
    if root.tag != f"{{{SVG_NS}}}svg":
        raise Refused("not_svg", str(root.tag))
    check_amount(root)
    return root


def check_amount(root: etree._Element) -> None:
    """Refuse too many elements, or too deep ones."""
    count, depth = 0, 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        count += event == "start"
        if depth > MAX_DEPTH:
            raise Refused("too_deep", f"over {MAX_DEPTH}")
        if count > MAX_ELEMENTS:
            raise Refused("too_large", f"over {MAX_ELEMENTS} elements")


def check(body: bytes) -> etree._Element:
    """The root of an SVG all of whose elements, attributes and values are allowed. Raises Refused."""
    root = parse(body)
    ids = by_id(root)
    sheet: Sheet = []
    for element in root.iter():
        check_element(element)
        if local(element) == "style":
            sheet += read_sheet(element.text or "")
    for element in root.iter():
        for name, value in attributes(element):
            check_attribute(element, name, value, ids)
    for _, body_ in sheet:
        for name, value in body_:
            check_property(name, value, ids)
    check_expansion(root, ids, sheet)
    _check_magnification(root)
    return root


def local(element: etree._Element) -> str:
    """Name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def by_id(root: etree._Element) -> dict[str, etree._Element]:
    """Elements by their id, the first of each."""
    found: dict[str, etree._Element] = {}
    for element in root.iter():
        name = element.get("id")
        if name and name not in found:
            found[name] = element
    return found


def attributes(element: etree._Element) -> Iterator[tuple[str, str]]:
    """Name, as `xlink:href` is written, and value of each attribute."""
    for full, value in element.attrib.items():
        name = str(full)
        for uri, prefix in _PREFIXES.items():
            if name.startswith(uri):
                name = prefix + name[len(uri) :]
        yield name, str(value)


def check_element(element: etree._Element) -> None:
    """Refuse elements outside the vocabulary."""
    if not isinstance(element.tag, str):
        raise Refused("not_xml", "an entity or instruction")
    name = local(element)
    if name in SCRIPTED:
        raise Refused("script", name)
    if name in ANIMATED:
        raise Refused("animation", name)
    if name in ("filter", "mask"):
        raise Refused("not_by_both", name)
    if name not in ELEMENTS or element.tag != f"{{{SVG_NS}}}{name}":
        raise Refused("element_not_allowed", str(element.tag))
    if name == "style" and element.get("type", "text/css") != "text/css":
        raise Refused("bad_css", str(element.get("type")))


def check_attribute(element: etree._Element, name: str, value: str, ids: dict[str, etree._Element]) -> None:
    """Refuse an attribute outside the vocabulary, or a value outside its grammar."""
    if name[:2].lower() == "on" or "javascript:" in value.lower():
        raise Refused("script", name)
    if name in ("href", "xlink:href"):
        _check_href(element, value, ids)
    elif name == "style":
        for key, text in declarations(value):
            check_property(key, text, ids)
    elif name == "d":
        grammar.check_path(value)
    elif name == "points":
        grammar.check_points(value)
    elif name in ("transform", "gradientTransform", "patternTransform"):
        grammar.check_transform(value)
    elif name in NUMBER_ATTRIBUTES:
        grammar.check_lengths(value)
    elif name in PROPERTIES:
        check_property(name, value, ids)
    elif name in NOT_BY_BOTH:
        raise Refused("not_by_both", name)
    elif name in WORD_ATTRIBUTES or name.startswith(("data-", "aria-")):
        if "url(" in value.lower() or (name == "id" and not grammar.NAME.fullmatch(value)):
            raise Refused("bad_value", value)
    else:
        raise Refused("attribute_not_allowed", name)


def check_property(name: str, value: str, ids: dict[str, etree._Element]) -> None:
    """Refuse a property outside the vocabulary, or a value outside its grammar; a url() must find its target."""
    target = grammar.local_url(value) if name in _TARGETS else None
    if target is None:
        check_declaration(name, value)
        return
    found = ids.get(target[0])
    if found is None or local(found) not in _TARGETS[name]:
        raise Refused("dangling_reference", value)
    if target[1]:
        if name not in COLOURS:
            raise Refused("bad_value", value)
        grammar.check_colour(target[1])


def _check_href(element: etree._Element, value: str, ids: dict[str, etree._Element]) -> None:
    name = local(element)
    if name == "image":
        check_data_picture(value)
        return
    if not value.startswith("#"):
        raise Refused("outside_reference", value)
    found = ids.get(value[1:])
    if found is None or local(found) not in _HREF.get(name, ()):
        raise Refused("dangling_reference", value)


def references(element: etree._Element) -> Iterator[str]:
    """Ids that an element's own attributes point to."""
    for name, value in attributes(element):
        if name in ("href", "xlink:href") and value.startswith("#"):
            yield value[1:]
        elif "url(" in value:
            for part in value.split("url(")[1:]:
                yield part.split(")")[0].strip(" \"'\t\n").lstrip("#")


def check_expansion(root: etree._Element, ids: dict[str, etree._Element], sheet: Sheet) -> None:
    """Refuse cycles of references, and what expands to too many elements."""
    sizes: dict[etree._Element, int] = {}
    styled = [part for _, body in sheet for _, value in body for part in _url_ids(value)]
    if styled and any(_points_back(ids.get(name)) for name in styled):
        raise Refused("reference_cycle", "by style sheet")
    if _size(root, ids, sizes, set()) > MAX_EXPANDED:
        raise Refused("too_large", f"over {MAX_EXPANDED} elements when expanded")


def _url_ids(value: str) -> list[str]:
    found = grammar.local_url(value) if "url(" in value else None
    return [found[0]] if found else []


def _points_back(target: etree._Element | None) -> bool:
    """Whether shapes stand in what a style sheet's url() names: the sheet might style them with it again."""
    return target is not None and any(local(e) in ("pattern", "marker", "clipPath") for e in target.iter())


def _size(
    element: etree._Element,
    ids: dict[str, etree._Element],
    sizes: dict[etree._Element, int],
    open_: set[etree._Element],
) -> int:
    if element in sizes:
        return sizes[element]
    if element in open_:
        raise Refused("reference_cycle", element.get("id") or local(element))
    if len(open_) > 4 * MAX_DEPTH:
        raise Refused("too_deep", "by references")
    open_.add(element)
    total = 1
    for child in element:
        total += _size(child, ids, sizes, open_)
    for name in references(element):
        target = ids.get(name)
        if target is not None:
            total += _size(target, ids, sizes, open_)
    open_.discard(element)
    sizes[element] = min(total, MAX_EXPANDED + 1)
    return sizes[element]


def _check_magnification(root: etree._Element) -> None:
    total: dict[etree._Element, float] = {}
    for element in root.iter():
        parent = element.getparent()
        factor = total[parent] if parent is not None else 1.0
        for name in ("transform", "gradientTransform", "patternTransform"):
            text = element.get(name)
            if text:
                factor *= grammar.magnification(text)
        if factor > MAX_MAGNIFICATION:
            raise Refused("bad_number", "transforms that magnify too much")
        total[element] = factor
