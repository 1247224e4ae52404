"""Lists of a page built by a script of its own: a template of one item, an array of what differs, a loop.

The page that results is static and the same each time: the script runs once, while the page is read.
"""

import json
import re
from html import escape

from gristmill.render.web.markup import inline
from gristmill.render.web.tree import Node, el, walk

_MIN_ITEMS = 3
_NOT_IN = frozenset({"svg", "table", "select", "body"})
_MARK = "\ue000"


def shape(node: Node) -> str:
    """A node with its texts and the values of its attributes taken out; equal shapes make one template."""
    inner = ",".join(shape(child) if isinstance(child, Node) else "#" for child in node.children)
    return f"{node.tag}.{'.'.join(node.names)}[{','.join(node.attrs)}]({inner})"


def repeated(root: Node) -> Node | None:
    """The element with the most children, all of one shape; None where no list is long enough."""
    found = None
    for node in walk(root):
        kids = [child for child in node.children if isinstance(child, Node)]
        if node.tag in _NOT_IN or len(kids) < _MIN_ITEMS or len(kids) != len(node.children):
            continue
        alike = len({shape(kid) for kid in kids}) == 1
        named = any(other.tag == "svg" for other in walk(node))
        if alike and not named and (found is None or len(kids) > len(found.children)):
            found = node
    return found


def scripted(root: Node) -> list[Node]:
    """Empties the longest list of like items, and gives the script that fills it again; [] where there is none."""
    holder = repeated(root)
    if holder is None:
        return []
    items = [child for child in holder.children if isinstance(child, Node)]
    columns = list(zip(*(_values(item) for item in items), strict=True))
    moving = [place for place, column in enumerate(columns) if len(set(column)) > 1]
    rows = [[columns[place][item] for place in moving] for item in range(len(items))]
    template = _template(items[0], moving)
    holder.children.clear()
    key = str(holder.attrs.setdefault("id", "items"))
    return [el("script", _program(key, rows, template))]


def _values(node: Node) -> list[str]:
    """Texts and values of attributes in document order."""
    found = [str(value) for value in node.attrs.values()]
    for child in node.children:
        found += _values(child) if isinstance(child, Node) else [child]
    return found


def _template(item: Node, moving: list[int]) -> str:
    counter = iter(range(10**6))

    def slot(value: str | None) -> str | None:
        place = next(counter)
        return f"{_MARK}{moving.index(place)}{_MARK}" if place in moving else value

    def copy(node: Node) -> Node:
        attrs = {name: slot(value) for name, value in node.attrs.items()}
        return Node(
            node.tag, node.names, attrs, [copy(c) if isinstance(c, Node) else str(slot(c)) for c in node.children]
        )

    text = inline(copy(item)).replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
    return re.sub(f"{_MARK}(\\d+){_MARK}", r"${item[\1]}", text)


def _program(key: str, rows: list[list[str]], template: str) -> str:
    lines = ",\n  ".join(json.dumps([escape(value) for value in row], ensure_ascii=False) for row in rows)
    data = lines.replace("</", "<\\/")
    call = f"document.getElementById({json.dumps(key)}).innerHTML = items.map(render).join('');"
    body = template.replace("</", "<\\/")
    return f"\nconst items = [\n  {data}\n];\nconst render = (item) => `{body}`;\n{call}\n"
