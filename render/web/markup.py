"""A tree written as people write HTML: indented or minified, semantic or of `div`s, with one of several style blocks.

`markup` (plain JSON): `indent` (text of one level, "" for one line), `mode` (how styles are written, `styles.MODES`),
`css` (`expanded`, `lines`, `min`), `semantic`, `vars`, `slash` (void elements end in `/>`), `doctype`, `block` (name of
the BEM block), `reset` (which of the resets), `notes` (comments before landmarks).
"""

from collections.abc import Mapping
from html import escape
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.web.styles import MODES
from gristmill.render.web.tree import Node, walk

VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "col", "area", "source", "wbr"})
LANDMARKS = {"header": "banner", "footer": "contentinfo", "nav": "navigation", "aside": "complementary", "main": "main"}
_DIVS = frozenset({*LANDMARKS, "section", "article", "figure", "figcaption", "hgroup"})
_VERBATIM = frozenset({"pre", "textarea", "script", "style"})
_SHAPES = frozenset({"path", "rect", "circle", "line", "polyline", "polygon", "ellipse", "stop"})
_MAX_INLINE_CHARS = 90


def sample_markup(draws: Draws) -> dict[str, Any]:
    """How a page is written."""
    return {
        "indent": draws.weighted(("  ", "    ", "\t", ""), (5, 3, 1, 1)),
        "mode": draws.weighted(MODES, (5, 2, 1, 2, 1)),
        "css": draws.weighted(("expanded", "lines", "min"), (3, 4, 1)),
        "semantic": draws.chance(0.65),
        "landmark_roles": draws.chance(0.4),
        "vars": draws.chance(0.5),
        "slash": draws.chance(0.25),
        "doctype": draws.pick(("<!DOCTYPE html>", "<!doctype html>")),
        "block": draws.pick(("page", "app", "site", "view", "ui")),
        "reset": draws.integer(0, 2),
        "notes": draws.chance(0.15),
    }


def flattened(root: Node, roles: bool) -> None:
    """Turns landmarks and sections into `div`s, with their roles written out or not."""
    for node in walk(root):
        if node.tag in _DIVS:
            if roles and node.tag in LANDMARKS and "role" not in node.attrs:
                node.attrs["role"] = LANDMARKS[node.tag]
            node.tag = "div"


def attributes(node: Node) -> str:
    """Attributes with a leading space, quoted."""
    pieces = [name if value is None else f'{name}="{escape(value, quote=True)}"' for name, value in node.attrs.items()]
    return "".join(f" {piece}" for piece in pieces)


def inline(node: Node, slash: bool = False) -> str:
    """An element in one line, without a space that the tree does not have."""
    start = f"<{node.tag}{attributes(node)}"
    if node.tag in VOID:
        return start + (" />" if slash else ">")
    if node.tag in _SHAPES and not node.children:
        return start + "/>"
    raw = node.tag in ("script", "style")
    inner = "".join(
        inline(child, slash) if isinstance(child, Node) else (child if raw else escape(child, quote=False))
        for child in node.children
    )
    return f"{start}>{inner}</{node.tag}>"


def written(node: Node, markup: Mapping[str, Any], depth: int = 0) -> list[str]:
    """Lines of an element. Elements that hold text stay in one line, so that no space comes into it."""
    pad, slash = str(markup["indent"]) * depth, bool(markup["slash"])
    line = inline(node, slash)
    holds_text = any(isinstance(child, str) for child in node.children)
    if not node.children or holds_text or node.tag in _VERBATIM:
        return [pad + line]
    # An element of one line may stay so, but never `body` or a landmark.
    if len(line) <= _MAX_INLINE_CHARS and all(isinstance(c, Node) and not c.children for c in node.children):
        return [pad + line]
    note = [f"{pad}<!-- {node.tag} -->"] if markup["notes"] and node.tag in LANDMARKS else []
    inner = [text for child in node.children if isinstance(child, Node) for text in written(child, markup, depth + 1)]
    return [*note, f"{pad}<{node.tag}{attributes(node)}>", *inner, f"{pad}</{node.tag}>"]


def css_text(rules: list[tuple[str, str]], markup: Mapping[str, Any]) -> list[str]:
    """Lines of a style block. A rule that is empty is left out."""
    step = str(markup["indent"]) or "  "
    lines: list[str] = []
    for selector, body in rules:
        pairs = [piece.partition(":") for piece in body.split(";") if piece.strip()]
        declared = [f"{prop.strip()}: {value.strip()};" for prop, _, value in pairs]
        if markup["css"] == "expanded" and len(declared) > 1:
            lines += [f"{selector} {{", *(step + text for text in declared), "}"]
        elif markup["css"] == "min":
            lines.append(f"{selector}{{{';'.join(f'{p.strip()}:{v.strip()}' for p, _, v in pairs)}}}")
        else:
            lines.append(f"{selector} {{ {' '.join(declared)} }}")
    return ["".join(lines)] if markup["css"] == "min" else lines
