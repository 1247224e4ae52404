"""Groups that a person makes while writing: neighbours of one kind in a group, what they share said once."""

from collections.abc import Sequence

from gristmill.render.svg.nodes import Node

INHERITED = (
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-linecap",
    "stroke-linejoin",
    "font-family",
    "font-size",
    "font-weight",
    "font-style",
    "text-anchor",
)
_MIN_RUN = 3


def gathered(node: Node) -> Node:
    """A copy in which each group says what all its children would have said."""
    children = [gathered(child) for child in node.children]
    attrs = dict(node.attrs)
    if node.tag == "g" and len(children) > 1:
        for name in INHERITED:
            if name not in attrs and _shared(children, name):
                attrs[name] = children[0].attrs[name]
                children = [_without(child, name) for child in children]
    return Node(node.tag, attrs, children, node.text, node.role, node.says, node.note)


def _shared(children: Sequence[Node], name: str) -> bool:
    value = children[0].attrs.get(name)
    if value is None or (isinstance(value, str) and value.startswith("url(")):
        return False
    return all(child.attrs.get(name) == value for child in children)


def _without(node: Node, name: str) -> Node:
    attrs = {key: value for key, value in node.attrs.items() if key != name}
    return Node(node.tag, attrs, node.children, node.text, node.role, node.says, node.note)


def wrapped(nodes: Sequence[Node]) -> list[Node]:
    """Nodes with each run of neighbours of one tag and paint put into a group; order of drawing stays."""
    out: list[Node] = []
    run: list[Node] = []
    for node in nodes:
        if run and _kind(node) != _kind(run[0]):
            out += _closed(run)
            run = []
        run.append(node)
    return out + _closed(run)


def _kind(node: Node) -> tuple[object, ...]:
    return (node.tag, *(str(node.attrs.get(name)) for name in ("fill", "stroke", "font-size", "text-anchor")))


def _closed(run: list[Node]) -> list[Node]:
    if len(run) < _MIN_RUN or run[0].tag == "g":
        return run
    head = Node("g", {}, list(run), note=run[0].note)
    run[0].note = ""
    return [head]
