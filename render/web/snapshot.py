"""What the browser itself says of a page: its layout tree (DOMSnapshot) and its accessibility tree.

Neither goes through the page's script interface, so they judge what `page.js` found there. Elements are numbered in
document order, without those that the browser adds (shadow trees of controls, pseudo elements) and without the
content of `template`. Lengths are CSS pixels.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gristmill.render.protocol import Box

_ELEMENT, _FRAGMENT = 1, 11
ADDED = -1
STATES = ("checked", "disabled", "expanded", "pressed", "readonly", "required", "selected")


@dataclass(frozen=True)
class TextBox:
    """A piece of text as it is painted: one line, one style.

    `element` holds it (a control: its shown value); ADDED where a style sheet wrote it (`::before`, list markers).
    """

    element: int
    text: str
    box: Box


@dataclass(frozen=True)
class Node:
    """An element: `box` bounds its border boxes, None where it has no layout; `order` counts up as it is painted."""

    tag: str
    parent: int
    attributes: Mapping[str, str]
    backend: int
    box: Box | None = None
    order: int = 0
    value: str = ""


@dataclass(frozen=True)
class Layout:
    """Elements in document order, the pieces of text in theirs, and where style sheets added something."""

    nodes: tuple[Node, ...]
    texts: tuple[TextBox, ...]
    added: tuple[Box, ...] = ()

    def ends(self) -> list[int]:
        """For each element, the number after the last one below it."""
        ends = list(range(1, len(self.nodes) + 1))
        for i in range(len(self.nodes) - 1, 0, -1):
            parent = self.nodes[i].parent
            if parent >= 0:
                ends[parent] = max(ends[parent], ends[i])
        return ends


@dataclass(frozen=True)
class Named:
    """What the accessibility tree says of an element."""

    role: str
    name: str
    value: str = ""
    states: tuple[str, ...] = field(default=())


def layout_of(answer: Mapping[str, Any]) -> Layout:
    """The layout out of the answer of DOMSnapshot.captureSnapshot, with paint orders."""
    strings, document = answer["strings"], answer["documents"][0]
    nodes = document["nodes"]
    numbers, holders = _number(nodes)
    layout = document["layout"]
    place: dict[int, tuple[Box, int]] = {}
    for node, bounds, order in zip(layout["nodeIndex"], layout["bounds"], layout["paintOrders"], strict=True):
        if node in numbers and node not in place:
            place[node] = (_box(bounds), order)
    values = _rare_strings(nodes.get("inputValue"), strings) | _rare_strings(nodes.get("textValue"), strings)
    found: list[Node] = []
    for node in numbers:
        box, order = place.get(node, (None, 0))
        parent = holders.get(nodes["parentIndex"][node], -1) if node else -1
        tag = strings[nodes["nodeName"][node]].upper()
        pairs = [strings[k] for k in nodes["attributes"][node]]
        attributes = dict(zip(pairs[::2], pairs[1::2], strict=True))
        backend = nodes["backendNodeId"][node]
        found.append(Node(tag, parent, attributes, backend, box, order, values.get(node, "")))
    pseudo = set(nodes.get("pseudoType", {}).get("index", ()))
    added = [_box(b) for node, b in zip(layout["nodeIndex"], layout["bounds"], strict=True) if node in pseudo]
    return Layout(tuple(found), _texts(document, strings, holders), tuple(added))


def named_of(answer: Mapping[str, Any], layout: Layout) -> dict[int, Named]:
    """Element -> what it is called, out of the answer of Accessibility.getFullAXTree."""
    numbers = {node.backend: i for i, node in enumerate(layout.nodes)}
    found: dict[int, Named] = {}
    for item in answer["nodes"]:
        number = numbers.get(item.get("backendDOMNodeId", -1))
        if number is None or item.get("ignored") or number in found:
            continue
        properties = {p["name"]: p["value"].get("value") for p in item.get("properties", ())}
        role, name = item.get("role", {}).get("value", ""), item.get("name", {}).get("value", "")
        value = str(item.get("value", {}).get("value", ""))
        found[number] = Named(str(role), str(name), value, _states(properties, layout.nodes[number].attributes))
    return found


def _number(nodes: Mapping[str, Any]) -> tuple[dict[int, int], dict[int, int]]:
    """Snapshot's node -> element's number; and any node -> number of the element that holds it (or is it)."""
    pseudo = set(nodes.get("pseudoType", {}).get("index", ()))
    numbers: dict[int, int] = {}
    holders: dict[int, int] = {}
    hidden: set[int] = set()
    for node, (kind, parent) in enumerate(zip(nodes["nodeType"], nodes["parentIndex"], strict=True)):
        if kind == _FRAGMENT or node in pseudo or parent in hidden:
            hidden.add(node)
        if kind == _ELEMENT and node not in hidden:
            numbers[node] = holders[node] = len(numbers)
        elif parent in holders:
            holders[node] = holders[parent]
    return numbers, holders


def _texts(document: Mapping[str, Any], strings: list[str], holders: Mapping[int, int]) -> tuple[TextBox, ...]:
    layout, boxes = document["layout"], document["textBoxes"]
    pseudo = set(document["nodes"].get("pseudoType", {}).get("index", ()))
    parents = document["nodes"]["parentIndex"]
    found: list[TextBox] = []
    for row, bounds, start, length in zip(
        boxes["layoutIndex"], boxes["bounds"], boxes["start"], boxes["length"], strict=True
    ):
        node = layout["nodeIndex"][row]
        added = node not in holders or node in pseudo or parents[node] in pseudo
        # Offsets count UTF-16 units.
        units = strings[layout["text"][row]].encode("utf-16-le", "surrogatepass")
        text = units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")
        found.append(TextBox(ADDED if added else holders[node], text, _box(bounds)))
    return tuple(found)


def _rare_strings(rare: Mapping[str, Any] | None, strings: list[str]) -> dict[int, str]:
    if not rare:
        return {}
    return {node: strings[value] for node, value in zip(rare["index"], rare["value"], strict=True) if value >= 0}


def _box(bounds: list[float]) -> Box:
    x, y, width, height = bounds
    return x, y, x + width, y + height


def _states(properties: Mapping[str, Any], attributes: Mapping[str, str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in STATES:
        value = properties.get(name)
        if name == "expanded" and value is not None:
            found.append("expanded" if value else "collapsed")
        elif value in (True, "true"):
            found.append(name)
        elif value == "mixed":
            found.append(f"partly {name}")
    current = attributes.get("aria-current", "")
    return (*found, "current") if current and current != "false" else tuple(found)
