"""The judge's own reading of what is no box and no text: roles, states, whether the picture cuts, order of painting.

Roles come from tags and attributes, where the first look asked the accessibility tree; states from selectors and
attributes (`page.js:judged`); the cut from the layout's box before it is clipped; the order from the second snapshot.
A role that a part of the code gives is the part's, and is not looked at where the part is not known.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gristmill.render.protocol import Box
from gristmill.render.web.roles import role_of
from gristmill.render.web.snapshot import STATES, Layout, Named, Node

LINE = "text line"
UNSURE_PX = 1.0
"""Of an edge so near to the picture's nobody can say whether it is cut."""
_STATE_WORDS = frozenset([*STATES, *(f"partly {name}" for name in STATES), "collapsed", "current"])
_SILENT = frozenset({"", "none", "presentation", "generic"})
_CELLS = ("cell", "column header", "row header")
_OF_TAG: dict[str, tuple[str, ...]] = {
    "ABBR": ("abbreviation",), "ADDRESS": ("group",), "ARTICLE": ("article",), "ASIDE": ("side content",),
    "AUDIO": ("audio",), "BLOCKQUOTE": ("blockquote",), "BUTTON": ("button",), "CANVAS": ("canvas",),
    "CAPTION": ("caption",), "CODE": ("code",), "DATALIST": ("list box",), "DD": ("definition",), "DEL": ("deletion",),
    "DETAILS": ("group",), "DFN": ("term",), "DIALOG": ("dialog",), "DL": ("list",), "DT": ("term",),
    "FIELDSET": ("group",), "FIGCAPTION": ("caption",), "FIGURE": ("figure",), "FOOTER": ("page footer",),
    "FORM": ("form",), "HEADER": ("page header",), "HR": ("separator",), "IMG": ("image",), "INS": ("insertion",),
    "LABEL": ("label",), "LEGEND": ("legend",), "LI": ("list item",), "MAIN": ("main",), "MARK": ("mark",),
    "MATH": ("math",), "MENU": ("list",), "METER": ("meter",), "NAV": ("navigation",), "OL": ("list",),
    "OPTGROUP": ("group",), "OPTION": ("option",), "OUTPUT": ("status",), "P": ("paragraph",),
    "PRE": ("preformatted text",), "PROGRESS": ("progress bar",), "S": ("deletion",), "SEARCH": ("search",),
    "SECTION": ("region",), "STRIKE": ("deletion",),
    "SELECT": ("combobox", "list box"), "SUMMARY": ("button",), "SVG": ("image",), "TABLE": ("table", "grid"),
    "TD": ("cell",), "TEXTAREA": ("text field",), "TH": _CELLS, "TIME": ("time",), "TR": ("row",), "UL": ("list",),
    "VIDEO": ("video",), **{f"H{level}": ("heading",) for level in range(1, 7)},
}  # fmt: skip
_OF_INPUT: dict[str, tuple[str, ...]] = {
    "button": ("button",), "checkbox": ("checkbox",), "color": ("colour field",), "date": ("date field",),
    "datetime-local": ("date field",), "file": ("button",), "image": ("button",), "month": ("date field",),
    "number": ("number field",), "radio": ("radio",), "range": ("slider",), "reset": ("button",),
    "search": ("search field",), "submit": ("button",), "time": ("time field",), "week": ("date field",),
}  # fmt: skip


def says_role(layout: Layout, number: int, annotation: Mapping[str, Any], states: Sequence[str] | None) -> bool:
    """Whether an annotation's role and states are those of element `number`, whose states were read as `states`."""
    key, told = annotation["id"], annotation["role"]
    if told == LINE or not key.startswith(("#", "e")):
        return told == LINE and key.startswith("t")
    role, said = _split(told)
    if said != frozenset(states or ()):
        return False
    if key.startswith("#"):
        return annotation["part_role"] in (None, role)
    return role in roles_of(layout.nodes[number])


def roles_of(node: Node) -> frozenset[str]:
    """What an element may be called by its tag and attributes."""
    tag, attributes = node.tag, node.attributes
    first = next(iter(attributes.get("role", "").lower().split()), "")
    found: set[str] = set()
    if first not in _SILENT:
        found.add(role_of({"tag": tag}, Named(first, "")))
    if found and tag.lower() not in found:
        return frozenset(found)
    if tag == "INPUT":
        kinds = _OF_INPUT.get(attributes.get("type", "").lower(), ("text field",))
        return frozenset([*kinds, "combobox"] if "list" in attributes else kinds)
    if tag == "A":
        return frozenset({"link"} if "href" in attributes else {"a"})
    return frozenset(_OF_TAG.get(tag, (tag.lower(),)))


def _split(told: str) -> tuple[str, frozenset[str]]:
    """A role and its states."""
    words = told.split(", ")
    states: set[str] = set()
    while len(words) > 1 and words[-1] in _STATE_WORDS:
        states.add(words.pop())
    return ", ".join(words), frozenset(states)


def says_cut(box: Box, width: int, height: int, truncated: bool) -> bool:
    """Whether the picture's edge cuts a box (pixels of the picture, not clipped) as is said."""
    over = max(-box[0], -box[1], box[2] - width, box[3] - height)
    return abs(over - 0.5) <= UNSURE_PX or truncated == (over > 0)


def says_order(orders: Sequence[int], told: Sequence[int]) -> list[bool]:
    """For each annotation with `told` as its z and its place in the order of painting: whether no other contradicts."""
    good = [True] * len(told)
    ranked = sorted(range(len(told)), key=lambda k: told[k])
    for along, sign in ((ranked, 1), (ranked[::-1], -1)):
        highest = -float("inf")
        for k in along:
            good[k] &= sign * orders[k] >= highest
            highest = max(highest, sign * orders[k])
    same = {z for z in told if told.count(z) > 1} if len(set(told)) < len(told) else set[int]()
    return [ok and z not in same for ok, z in zip(good, told, strict=True)]
