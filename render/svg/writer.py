"""Nodes to the text of an SVG file, as one person would write it, and the parts that it names.

Everything is written from the nodes and the hand alone. The part of an element is numbered by its place among all
elements in document order (title, style and defs count), the root being 0.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from gristmill.render.protocol import Part, View
from gristmill.render.svg.gather import gathered, wrapped
from gristmill.render.svg.hand import Hand, hand_of
from gristmill.render.svg.nodes import Node
from gristmill.render.svg.numbers import attribute
from gristmill.render.svg.styles import CSS_ONLY, STYLED, Sheet, declarations, make_sheet

_NAMESPACE = "http://www.w3.org/2000/svg"
MAX_PARTS = 40
_XLINK = "http://www.w3.org/1999/xlink"
_GEOMETRY_FIRST = ("id", "class", "href", "xlink:href", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry")


@dataclass
class _Page:
    hand: Hand
    sheet: Sheet
    lines: list[str] = field(default_factory=list[str])
    parts: list[Part] = field(default_factory=list[Part])
    count: int = 0


def document(
    body: Sequence[Node], defs: Sequence[Node], params: Mapping[str, Any], view: View
) -> tuple[str, tuple[Part, ...]]:
    """The SVG of a drawing and its parts. `params` holds `hand` and, where the picture has a title, `title`."""
    hand = hand_of(params)
    nodes = list(body)
    if hand.wrap:
        nodes = wrapped(nodes)
    if hand.gather:
        nodes = [gathered(node) for node in nodes]
    sheet = make_sheet([*defs, *nodes], hand)
    root = Node("svg", _root_attributes(hand, view, sheet, _linked(defs, nodes)), nodes)
    if defs:
        root.children.insert(0, Node("defs", {}, list(defs)))
    if sheet.rules:
        root.children.insert(0, Node("style", {}, [], "\n".join(sheet.rules)))
    if hand.title and params.get("title"):
        root.children.insert(0, Node("title", {}, [], str(params["title"])))
    page = _Page(hand, sheet)
    _write(root, 0, page)
    header = '<?xml version="1.0" encoding="UTF-8"?>\n' if hand.header else ""
    return header + "\n".join(page.lines) + "\n", _named(page.parts)


def _named(parts: Sequence[Part]) -> tuple[Part, ...]:
    """At most MAX_PARTS: of the role that has most, the last go first.

    What then bears alone a name that one left out has too goes as well: nobody could tell which of them is meant.
    """
    kept, left = list(parts), set[tuple[str, str]]()
    while len(kept) > MAX_PARTS:
        counts = Counter(part.role for part in kept)
        role = counts.most_common(1)[0][0]
        gone = kept.pop(max(place for place, part in enumerate(kept) if part.role == role))
        left.add((gone.role, gone.text))
    names = Counter((part.role, part.text) for part in kept)
    return tuple(p for p in kept if names[(p.role, p.text)] > 1 or (p.role, p.text) not in left)


def _linked(defs: Sequence[Node], nodes: Sequence[Node]) -> bool:
    return any("href" in node.attrs or _linked((), node.children) for node in (*defs, *nodes))


def _root_attributes(hand: Hand, view: View, sheet: Sheet, linked: bool) -> dict[str, Any]:
    attrs: dict[str, Any] = {"xmlns": _NAMESPACE}
    if hand.xlink and linked:
        attrs["xmlns:xlink"] = _XLINK
    if hand.root != "viewBox":
        attrs |= {"width": str(view.width_px), "height": str(view.height_px)}
    if hand.root != "size":
        attrs["viewBox"] = [0, 0, view.width_px, view.height_px]
    return attrs


def _write(node: Node, depth: int, page: _Page) -> None:
    margin = page.hand.indent * depth
    if node.note and page.hand.comments:
        page.lines.append(f"{margin}<!-- {node.note} -->")
    if node.role:
        page.parts.append(Part(str(page.count), node.role, node.says))
    page.count += 1
    head = f"<{node.tag}{_attributes(node, page)}"
    if node.children:
        page.lines.append(f"{margin}{head}>")
        for child in node.children:
            _write(child, depth + 1, page)
        page.lines.append(f"{margin}</{node.tag}>")
    elif node.tag == "style":
        inner = "\n".join(f"{margin}{page.hand.indent}{rule}" for rule in node.text.split("\n"))
        page.lines.append(f"{margin}{head}>\n{inner}\n{margin}</style>")
    elif node.text:
        page.lines.append(f"{margin}{head}>{escape(node.text, quote=False)}</{node.tag}>")
    else:
        page.lines.append(f"{margin}{head}{page.hand.close}")


def _attributes(node: Node, page: _Page) -> str:
    hand = page.hand
    plain = {name: value for name, value in node.attrs.items() if name not in STYLED}
    styled = {name: value for name, value in node.attrs.items() if name in STYLED}
    css: dict[str, Any] = {}
    if hand.styling == "style":
        css, styled = styled, {}
    elif hand.styling == "class" and (found := page.sheet.name_of(styled, hand)):
        plain["class"] = found
        styled = {}
    for name in CSS_ONLY:
        if name in styled:
            css[name] = styled.pop(name)
    both = styled | plain if hand.paint_first else plain | styled
    first = [name for name in _GEOMETRY_FIRST[:4] if name in both]
    pairs = [(name, attribute(name, both[name], hand)) for name in (*first, *(n for n in both if n not in first))]
    if css:
        pairs.append(("style", declarations(css, hand)))
    return "".join(f" {_name(name, hand)}={hand.quote}{escape(value)}{hand.quote}" for name, value in pairs)


def _name(name: str, hand: Hand) -> str:
    return "xlink:href" if name == "href" and hand.xlink else name
