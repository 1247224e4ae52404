"""The structure that SVG code leaves when words, numbers, names and colours are taken away.

A reference for counting variety, made to see through noise. Properties of style attributes and classes count as the
attributes that they stand for, in alphabetical order; relative path commands as absolute ones, H and V as L; repeated
commands and repeated equal siblings once, with a plus. Title, desc, metadata and style do not count.

`shape` is stricter: paint that is inherited does not count at all, nor does a group that does nothing but gather.
"""

import re

from lxml import etree

_SILENT = frozenset({"title", "desc", "metadata", "style"})
_NAMELESS = frozenset({"id", "class", "style", "version"})
_LETTER = re.compile(r"[A-Za-z]")
_STEP = re.compile(r"([A-Za-z]+)\s*\(")
_RULE = re.compile(r"\.([\w-]+)\s*\{([^}]*)\}")
_PAINT = frozenset(
    {"fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin"}
    | {"stroke-opacity", "stroke-dasharray", "font-family", "font-size", "font-weight", "font-style", "text-anchor"}
    | {"font-kerning", "letter-spacing", "x", "y"}
)
_PLAIN_GROUP = "g"


def skeleton(svg: str) -> str:
    """The structure with the names of all attributes. Raises lxml's XMLSyntaxError for text that is no XML."""
    return _skeleton(svg, frozenset())


def shape(svg: str) -> str:
    """The structure of geometry, transforms, clips and nesting alone."""
    return _skeleton(svg, _PAINT)


def _skeleton(svg: str, ignored: frozenset[str]) -> str:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True)
    root = etree.fromstring(svg.encode(), parser)
    sheet = "".join(style.text or "" for style in root.iter("{*}style"))
    rules = {name: _properties(body) for name, body in _RULE.findall(sheet)}
    return "".join(_element(root, rules, ignored))


def _properties(css: str) -> set[str]:
    return {pair.partition(":")[0].strip() for pair in css.split(";") if ":" in pair}


def _element(node: etree._Element, rules: dict[str, set[str]], ignored: frozenset[str]) -> list[str]:
    tag = etree.QName(node).localname
    if tag in _SILENT:
        return []
    names = {etree.QName(name).localname for name in node.attrib} - _NAMELESS
    names |= _properties(node.get("style", ""))
    for name in node.get("class", "").split():
        names |= rules.get(name, set())
    inner: list[str] = []
    for child in node:
        inner += _element(child, rules, ignored)
    said = [_attribute(node, name) for name in sorted(names - ignored)]
    if ignored and tag == _PLAIN_GROUP and not said:
        return inner
    body = "".join(_once(inner))
    return [f"<{tag} {' '.join(said)}{'|' + body if body else ''}>"]


def _attribute(node: etree._Element, name: str) -> str:
    value = node.get(name, "")
    if name == "d":
        letters = [letter.upper().translate({72: 76, 86: 76}) for letter in _LETTER.findall(value)]
        return "d:" + "".join(_once(letters))
    if name == "transform":
        return "transform:" + ",".join(_STEP.findall(value))
    return name


def _once(items: list[str]) -> list[str]:
    out: list[str] = []
    for item in items:
        if out and out[-1] in (item, item + "+"):
            out[-1] = item + "+"
        else:
            out.append(item)
    return out
