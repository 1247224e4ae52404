"""Files that others wrote, made to fit the vocabulary where that changes nothing that is seen.

Comments, metadata, editors' elements and attributes, a document type without entities, definitions that nobody uses and
references to nothing go; families of fonts become ours, sizes a viewBox. What is left must pass `sanitise.check`.
"""

import re
from collections.abc import Iterator

from lxml import etree

from gristmill.render.svg import css, grammar
from gristmill.render.svg.sanitise import attributes, by_id, check, check_attribute, local, parse, references
from gristmill.render.svg.view import own_size, viewbox
from gristmill.render.svg.vocabulary import (
    ANIMATED,
    ELEMENTS,
    NOT_BY_BOTH,
    NUMBER_ATTRIBUTES,
    OTHER_ATTRIBUTES,
    PROPERTIES,
    SCRIPTED,
    SVG_NS,
    WORD_ATTRIBUTES,
    XLINK_HREF,
    XML_NS,
    Refused,
)

LONGER_SIDE_PX = 512
MAX_FILE_BYTES = 4 << 20
_MIN_SIDE_PX = 32
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[<>]*>")
_SUBSET = re.compile(rb"<!DOCTYPE[^\[<>]*\[([^\]]{0,8192})\]\s*>")
_ENTITY = re.compile(rb"""<!ENTITY\s+([A-Za-z_]\w*)\s+["']([\w:/.#-]{0,100})["']\s*>""")
_NAMESPACE = re.compile(rb"""<!ATTLIST\s+svg\s+xmlns:\w+\s+CDATA\s+#FIXED\s+["'][^"'<>&]{0,100}["']\s*>""")
_MAX_ENTITIES = 40
_HARMLESS_TAGS = frozenset(["metadata", "title", "desc"])
_HARMLESS_IF = {"mask": ("none",), "filter": ("none",), "vector-effect": ("none",), "paint-order": ("normal",)}
_VISIBLE_IF_LOST = NOT_BY_BOTH - {"isolation", "fr", "pathLength", "glyph-orientation-vertical", "transform-box"}
_SERIF = re.compile(r"serif|roman|times|georgia|garamond|bookman|palatino|century", re.I)
_MONO = re.compile(r"mono|courier|console|consolas|typewriter|fixed", re.I)
_SANS = re.compile(r"sans", re.I)


def repaired(body: bytes) -> tuple[str, int, int]:
    """The text of a file, and width and height of its picture in pixels. Raises Refused."""
    if len(body) > MAX_FILE_BYTES:
        raise Refused("too_large", f"{len(body)} bytes")
    root = _parsed(body)
    _drop_foreign(root)
    _drop_unused(root)
    _mend_attributes(root)
    width, height = _view(root)
    text = _written(root)
    check(text.encode())
    return text, width, height


def _parsed(body: bytes) -> etree._Element:
    """The tree; comments and a harmless document type are gone."""
    body = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    encoding = re.match(rb"<\?xml[^>]*encoding=[\"']([\w.-]+)", body)
    if encoding and encoding.group(1).lower() not in (b"utf-8", b"us-ascii"):
        body = _decoded(body, encoding.group(1).decode("ascii"))
    body = _without_doctype(body)
    if re.search(rb"<svg\b[^>]*>", body) and b"http://www.w3.org/2000/svg" not in body:
        body = re.sub(rb"<svg\b", b'<svg xmlns="http://www.w3.org/2000/svg"', body, count=1)
    return parse(body, MAX_FILE_BYTES)


def _without_doctype(body: bytes) -> bytes:
    """Take out a document type; its entities are put in where they are a few words, as editors write namespaces."""
    body = _DOCTYPE.sub(b"", body, count=1)
    found = _SUBSET.search(body)
    if found is None:
        return body
    entities = dict(_ENTITY.findall(found.group(1)))
    if _NAMESPACE.sub(b"", _ENTITY.sub(b"", found.group(1))).strip() or len(entities) > _MAX_ENTITIES:
        raise Refused("doctype", "more than plain entities")
    body = body[: found.start()] + body[found.end() :]
    # Values hold no & themselves, so this ends after one pass.
    return re.sub(rb"&([A-Za-z_]\w*);", lambda name: entities.get(name.group(1), name.group(0)), body)


def _decoded(body: bytes, encoding: str) -> bytes:
    try:
        text = body.decode(encoding)
    except (LookupError, UnicodeDecodeError, ValueError) as error:
        raise Refused("not_xml", str(error)) from error
    return re.sub(r"<\?xml.*?\?>", "", text, count=1, flags=re.S).encode("utf-8", "replace")


def _drop_foreign(root: etree._Element) -> None:
    """Take out what is not of SVG, and words that are not drawn; a link becomes a group."""
    for element in list(root.iter()):
        if not isinstance(element.tag, str):
            raise Refused("not_xml", "an entity or instruction")
        name = local(element)
        if not _is_attached(element, root):
            continue
        foreign = not element.tag.startswith(f"{{{SVG_NS}}}")
        if foreign and element.tag == name and name in ELEMENTS:
            element.tag, foreign = f"{{{SVG_NS}}}{name}", False
        if name == "switch":
            _settle_switch(element)
        elif _is_extra(element, foreign) and element.getparent() is not None:
            _remove(element)
        elif name == "a":
            element.tag = f"{{{SVG_NS}}}g"
            for key in ("href", XLINK_HREF, "target"):
                element.attrib.pop(key, None)
        elif name in SCRIPTED:
            raise Refused("script", name)
        elif name in ANIMATED:
            raise Refused("animation", name)


def _is_extra(element: etree._Element, foreign: bool) -> bool:
    """Whether an element is for editors, for people who read the code, or for renderers that can more."""
    name = local(element)
    return foreign or name in _HARMLESS_TAGS or (name == "foreignObject" and bool(element.get("requiredExtensions")))


def _is_attached(element: etree._Element, root: etree._Element) -> bool:
    return element is root or any(above is root for above in element.iterancestors())


def _settle_switch(element: etree._Element) -> None:
    """A group of what a renderer without extensions picks: the first child that asks for nothing."""
    for child in list(element):
        if isinstance(child.tag, str) and (local(child) == "foreignObject" or _asks_for_more(child)):
            element.remove(child)
    for child in list(element)[1:]:
        element.remove(child)
    element.tag = f"{{{SVG_NS}}}g"


def _asks_for_more(element: etree._Element) -> bool:
    return any(element.get(name) for name in ("requiredExtensions", "systemLanguage")) or not str(
        element.tag
    ).startswith(f"{{{SVG_NS}}}")


def _remove(element: etree._Element) -> None:
    """Take an element out; the text that follows it stays."""
    parent = element.getparent()
    if parent is None:
        return
    tail = element.tail
    if tail and tail.strip():
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
    parent.remove(element)


def _drop_unused(root: etree._Element) -> None:
    """Take out definitions that nothing refers to, and what refers to nothing."""
    for _ in range(16):
        ids = by_id(root)
        used = {name for element in root.iter(etree.Element) for name in references(element)}
        used |= {
            name for element in root.iter() if local(element) == "style" for name in _sheet_ids(element.text or "")
        }
        gone = [element for element in root.iter() if _is_idle(element, used, ids)]
        for element in gone:
            _remove(element)
        if not gone:
            return


def _sheet_ids(text: str) -> list[str]:
    return re.findall(r"url\(\s*[\"']?#([^)\"'\s]+)", text)


def _is_idle(element: etree._Element, used: set[str], ids: dict[str, etree._Element]) -> bool:
    name, parent = local(element), element.getparent()
    if parent is None:
        return False
    served = ("linearGradient", "radialGradient", "pattern", "clipPath", "mask", "filter", "marker", "symbol")
    if name in served or (local(parent) == "defs" and name not in ("style", "defs", "g", "svg")):
        return not any(inner.get("id") in used for inner in element.iter(etree.Element))
    if name == "use":
        return not any(target in ids for target in references(element))
    return name == "defs" and not len(element)


def _mend_attributes(root: etree._Element) -> None:
    """Take out attributes that say nothing to a renderer; the others must pass."""
    ids = by_id(root)
    for element in root.iter(etree.Element):
        for full in list(element.attrib):
            _mend_attribute(element, str(full), ids)
        if element.get(f"{{{XML_NS}}}space") == "preserve" and local(element) not in ("text", "tspan", "svg"):
            element.attrib.pop(f"{{{XML_NS}}}space")
        if local(element) == "style":
            element.set("type", "text/css")


def _mend_attribute(element: etree._Element, full: str, ids: dict[str, etree._Element]) -> None:
    value = str(element.attrib[full])
    name = next(key for key, _ in attributes(_only(element, full)))
    if name == "style":
        _set(element, "style", ";".join(_mended_style(value, ids)))
    elif name in PROPERTIES:
        _set(element, full, _mended(name, value.strip(), ids))
    elif name in OTHER_ATTRIBUTES:
        return
    elif name in NOT_BY_BOTH:
        if name in _VISIBLE_IF_LOST and value.strip() not in _HARMLESS_IF.get(name, ()):
            raise Refused("not_by_both", name)
        element.attrib.pop(full)
    elif name in WORD_ATTRIBUTES:
        _keep_if_allowed(element, name, full, ids)
    elif name not in NUMBER_ATTRIBUTES:
        element.attrib.pop(full)


def _only(element: etree._Element, full: str) -> etree._Element:
    """An element with this attribute alone."""
    return etree.Element("one", {full: element.attrib[full]})


def _keep_if_allowed(element: etree._Element, name: str, full: str, ids: dict[str, etree._Element]) -> None:
    try:
        check_attribute(element, name, str(element.attrib[full]), ids)
    except Refused:
        element.attrib.pop(full)


def _set(element: etree._Element, full: str, value: str | None) -> None:
    if value:
        element.set(full, value)
    else:
        element.attrib.pop(full, None)


def _mended_style(text: str, ids: dict[str, etree._Element]) -> Iterator[str]:
    """The declarations of a `style` that say something to a renderer."""
    for part in _split_style(text):
        name, colon, value = part.partition(":")
        name, value = name.strip().lower(), value.replace("!important", "").strip()
        if not colon or name.startswith("-") or not value:
            continue
        if name in PROPERTIES:
            mended = _mended(name, value, ids)
            if mended:
                yield f"{name}:{mended}"
        elif name in _VISIBLE_IF_LOST and value not in _HARMLESS_IF.get(name, ()) and name != "font":
            raise Refused("not_by_both", f"{name}: {value}")


def _split_style(text: str) -> list[str]:
    return re.split(r";(?![^(]*\))", text)


def _mended(name: str, value: str, ids: dict[str, etree._Element]) -> str | None:
    """A property's value as both engines read it; None where it says nothing."""
    if name == "font-family":
        return _family(value)
    if name in ("fill", "stroke", "clip-path", "marker-start", "marker-mid", "marker-end") and "url(" in value:
        return _reference(name, value, ids)
    if name in ("stroke-width", "stroke-miterlimit", "font-size") and re.fullmatch(r"-.*|0+px", value):
        return None if name != "stroke-width" else "0"
    if name in ("opacity", "fill-opacity", "stroke-opacity", "stop-opacity"):
        return _opacity(value)
    if name == "stroke-dasharray" and not any(number > 0 for number in grammar.numbers(value)):
        return None
    if name in ("fill", "stroke", "stop-color", "color"):
        return _colour(value)
    if name in ("letter-spacing", "word-spacing", "baseline-shift") and re.fullmatch(
        r"normal|baseline|0(\.0*)?(px|em|%)?", value
    ):
        return None
    try:
        css.check_declaration(name, value)
    except Refused as refused:
        if refused.reason == "not_by_both" and name in _VISIBLE_IF_LOST and _is_default(name, value):
            return None
        raise
    return value


def _is_default(name: str, value: str) -> bool:
    defaults = {"font-variant": "normal", "font-stretch": "normal", "text-decoration": "none", "writing-mode": "lr-tb"}
    return value in (defaults.get(name), "normal", "none", "inherit", "auto", "linearRGB", "medium")


def _reference(name: str, value: str, ids: dict[str, etree._Element]) -> str | None:
    target = grammar.local_url(value)
    if target is not None and target[0] in ids:
        return f"url(#{target[0]})"
    paints = name in ("fill", "stroke")
    fallback = target[1] if target is not None else ""
    return (fallback or "none") if paints else None


def _opacity(value: str) -> str:
    try:
        number = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError as error:
        raise Refused("bad_value", value) from error
    return f"{min(max(number, 0.0), 1.0):.6f}".rstrip("0").rstrip(".") or "0"


def _colour(value: str) -> str:
    value = re.sub(r"\s*icc-color\(.*\)", "", value)
    if re.fullmatch(r"#[0-9a-fA-F]+", value) and len(value) not in (4, 7):
        raise Refused("bad_value", value)
    return value.replace("currentcolor", "currentColor")


def _family(value: str) -> str:
    if _MONO.search(value):
        return "DejaVu Sans Mono"
    return "DejaVu Serif" if _SERIF.search(value) and not _SANS.search(value) else "DejaVu Sans"


def _view(root: etree._Element) -> tuple[int, int]:
    """Give the root a viewBox, and the size of its picture: the longer side LONGER_SIDE_PX."""
    if viewbox(root) is None:
        root.attrib.pop("viewBox", None)
        width, height = own_size(root)
        root.set("viewBox", f"0 0 {width:g} {height:g}")
    width, height = own_size(root)
    for name in ("x", "y", "preserveAspectRatio"):
        root.attrib.pop(name, None)
    factor = LONGER_SIDE_PX / max(width, height)
    size = max(round(width * factor), 1), max(round(height * factor), 1)
    if min(size) < _MIN_SIDE_PX:
        raise Refused("bad_size", f"{width:g} by {height:g}")
    root.set("width", str(size[0]))
    root.set("height", str(size[1]))
    return size


def _written(root: etree._Element) -> str:
    """The text, with the two namespaces that are used and no others."""
    etree.cleanup_namespaces(root, top_nsmap={None: SVG_NS})
    return etree.tostring(root, encoding="unicode", with_tail=False) + "\n"
