"""Paint as CSS: declarations of a style attribute, and classes of a style sheet."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gristmill.render.svg.gather import INHERITED
from gristmill.render.svg.hand import Hand
from gristmill.render.svg.nodes import Node
from gristmill.render.svg.numbers import attribute

# resvg reads these from CSS alone.
CSS_ONLY = ("font-kerning",)
STYLED = frozenset(INHERITED) | {"stroke-opacity", "stroke-dasharray", "opacity", *CSS_ONLY}
_WITH_UNIT = frozenset({"font-size"})
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")


@dataclass
class Sheet:
    """Class names by their declarations, and the rules as written."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    rules: list[str] = field(default_factory=list[str])

    def name_of(self, styled: Mapping[str, Any], hand: Hand) -> str:
        """The class of these properties, "" where there is none."""
        return self.names.get(declarations(styled, hand), "")


def declarations(styled: Mapping[str, Any], hand: Hand) -> str:
    """`name: value` pairs of a style attribute."""
    pairs = [(name, attribute(name, value, hand)) for name, value in styled.items()]
    glue, colon = ("; ", ": ") if hand.separator == " " else (";", ":")
    return glue.join(f"{name}{colon}{value}{'px' if name in _WITH_UNIT else ''}" for name, value in pairs)


def make_sheet(nodes: Sequence[Node], hand: Hand) -> Sheet:
    """Classes for what at least two elements say, where the hand writes classes."""
    sheet = Sheet()
    if hand.styling != "class":
        return sheet
    counts: dict[str, int] = {}
    firsts: dict[str, Node] = {}
    for node in _all(nodes):
        styled = {name: value for name, value in node.attrs.items() if name in STYLED}
        if styled:
            said = declarations(styled, hand)
            counts[said] = counts.get(said, 0) + 1
            firsts.setdefault(said, node)
    for said, count in counts.items():
        if count > 1:
            name = _fresh(firsts[said], sheet)
            sheet.names[said] = name
            sheet.rules.append(f".{name} {{ {said} }}" if hand.separator != "tight" else f".{name}{{{said}}}")
    return sheet


def _all(nodes: Iterable[Node]) -> Iterable[Node]:
    for node in nodes:
        yield node
        yield from _all(node.children)


def _fresh(node: Node, sheet: Sheet) -> str:
    base = _NOT_A_NAME.sub("-", (node.role or node.tag).lower()).strip("-")
    taken = set(sheet.names.values())
    if base not in taken:
        return base
    count = 2
    while f"{base}-{count}" in taken:
        count += 1
    return f"{base}-{count}"
