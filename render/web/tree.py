"""Elements of a page before they are text.

`el("button.btn.wide#buy@button", {"type": "submit"}, "Buy")` is an element with style names `btn` and `wide`, the id
`buy`, and a place among the named parts of the page, its role there being what stands after `@`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

from gristmill.render.protocol import Part

Attrs = Mapping[str, str | None]
Content = Union["Node", str, None, Attrs, Sequence["Content"]]

_SPEC = re.compile(r"([a-z][a-z0-9-]*)((?:\.[\w-]+)*)(?:#([\w-]+))?(?:@([\w -]+))?")


@dataclass
class Node:
    """An element: `names` are keys of the style sheet, an attribute without a value is None."""

    tag: str
    names: tuple[str, ...] = ()
    attrs: dict[str, str | None] = field(default_factory=dict[str, str | None])
    children: list["Node | str"] = field(default_factory=list["Node | str"])
    role: str = ""


def el(spec: str, *content: Content) -> Node:
    """An element from `tag.name.name#id@role`; mappings are attributes, None is left out, sequences are opened."""
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise ValueError(f"not tag.name#id@role: {spec}")
    tag, names, key, role = found.groups()
    node = Node(tag, tuple(names.split(".")[1:]), role=role or "")
    if key:
        node.attrs["id"] = key
    _fill(node, content)
    return node


def _fill(node: Node, content: Sequence[Content]) -> None:
    for item in content:
        if item is None:
            continue
        if isinstance(item, Node | str):
            node.children.append(item)
        elif isinstance(item, Mapping):
            node.attrs.update(item)
        else:
            _fill(node, item)


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in document order."""
    yield node
    for child in node.children:
        if isinstance(child, Node):
            yield from walk(child)


def text_of(node: Node) -> str:
    """What an element says, white space made one space."""
    pieces = [child if isinstance(child, str) else text_of(child) for child in node.children]
    return " ".join("".join(pieces).split())


def parts_of(node: Node) -> tuple[Part, ...]:
    """The named parts below a node, in document order."""
    return tuple(Part(str(n.attrs["id"]), n.role, text_of(n)) for n in walk(node) if n.role and n.attrs.get("id"))
