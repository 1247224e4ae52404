"""What elements are called: ARIA roles as the browser computes them, a few of its own names put into words.

A role may be followed by states, as a screen reader says them: `checkbox, checked, disabled`.
"""

from collections.abc import Mapping
from typing import Any

from gristmill.render.web.snapshot import Named

_WORDS = {
    "Abbr": "abbreviation",
    "Audio": "audio",
    "Canvas": "canvas",
    "ColorWell": "colour field",
    "Date": "date field",
    "DateTime": "date field",
    "DescriptionList": "list",
    "DescriptionListTerm": "term",
    "DescriptionListDetail": "definition",
    "DetailsMarker": "button",
    "DisclosureTriangle": "button",
    "Details": "group",
    "Figcaption": "caption",
    "InputTime": "time field",
    "LabelText": "label",
    "Legend": "legend",
    "MenuListPopup": "list box",
    "PlainText": "text",
    "Pre": "preformatted text",
    "Summary": "button",
    "SvgRoot": "image",
    "Time": "time",
    "Video": "video",
    "alertdialog": "dialog",
    "banner": "page header",
    "cell": "cell",
    "columnheader": "column header",
    "complementary": "side content",
    "contentinfo": "page footer",
    "gridcell": "cell",
    "image": "image",
    "img": "image",
    "listbox": "list box",
    "listitem": "list item",
    "menuitem": "menu item",
    "menuitemcheckbox": "menu item",
    "menuitemradio": "menu item",
    "progressbar": "progress bar",
    "radiogroup": "radio group",
    "rowheader": "row header",
    "scrollbar": "scroll bar",
    "searchbox": "search field",
    "spinbutton": "number field",
    "tablist": "tab list",
    "tabpanel": "tab panel",
    "textbox": "text field",
    "treeitem": "tree item",
}
_PLAIN = frozenset(
    [
        "alert",
        "article",
        "blockquote",
        "button",
        "caption",
        "checkbox",
        "code",
        "combobox",
        "definition",
        "deletion",
        "dialog",
        "figure",
        "form",
        "grid",
        "group",
        "heading",
        "insertion",
        "link",
        "list",
        "log",
        "main",
        "mark",
        "math",
        "menu",
        "menubar",
        "meter",
        "navigation",
        "note",
        "option",
        "paragraph",
        "radio",
        "region",
        "row",
        "search",
        "separator",
        "slider",
        "status",
        "switch",
        "tab",
        "table",
        "term",
        "time",
        "timer",
        "toolbar",
        "tooltip",
        "tree",
        "treegrid",
    ]
)
_NAMED_ONLY = frozenset({"group", "region", "form", "SvgRoot", "row", "option", "generic"})
"""Worth naming where they have a name: without one they are but a way to lay things out, or to decorate."""

MAX_TEXT_CHARS = 300


def is_worth_naming(element: Mapping[str, Any], named: Named) -> bool:
    """Whether an element is seen at all and has a role that people would ask for."""
    if element["box"] is None:
        return False
    role = named.role
    return (role in _PLAIN or role in _WORDS) and (role not in _NAMED_ONLY or bool(named.name.strip()))


def role_of(element: Mapping[str, Any], named: Named) -> str:
    """The role in words; the tag in small letters where there is none."""
    return _WORDS.get(named.role) or (named.role if named.role in _PLAIN else element["tag"].lower())


def text_of(named: Named) -> str:
    """What an element is called, in one line; else the value that it shows."""
    text = " ".join((named.name or named.value).split())
    return text[:MAX_TEXT_CHARS]


def with_states(role: str, states: list[str]) -> str:
    """`checkbox, checked, disabled`."""
    return ", ".join([role, *states])
