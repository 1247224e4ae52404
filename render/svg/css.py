"""Style sheets: a small part of CSS, read with tinycss2; selectors of types, classes, ids, descendants and children.

A sheet is a list of (selector, declarations) in order; `matches` and `specificity` decide its cascade.
"""

import functools
import re
from dataclasses import dataclass

import tinycss2
from lxml import etree

from gristmill.render.svg import grammar
from gristmill.render.svg.vocabulary import (
    COLOURS,
    KEYWORDS,
    LENGTHS,
    NOT_BY_BOTH,
    OPACITIES,
    PROPERTIES,
    REFERENCES,
    Refused,
)

_COMPOUND = re.compile(r"(\*|[A-Za-z][\w-]*)?((?:[.#][A-Za-z_][\w-]*)*)")
_MAX_SELECTORS = 500
_MAX_COMPOUNDS = 4
_SHORT_CHARS = 256
"""What is read of a shorter `style` is remembered: it is read several times for each document."""


@dataclass(frozen=True)
class Compound:
    """`type.class#id`: type "" for any; `child` when it must be the parent of what stands right of it."""

    type: str
    classes: tuple[str, ...]
    ids: tuple[str, ...]
    child: bool = False


Selector = tuple[Compound, ...]
Declarations = list[tuple[str, str]]
Sheet = list[tuple[Selector, Declarations]]


def declarations(text: str) -> Declarations:
    """Names and values of a `style`. Raises Refused."""
    return list(_short_declarations(text) if len(text) <= _SHORT_CHARS else _declarations(text))


def _declarations(text: str) -> Declarations:
    found: Declarations = []
    for node in tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True):
        if node.type != "declaration" or node.important:
            raise Refused("bad_css", text)
        found.append((node.lower_name, tinycss2.serialize(node.value).strip()))
    return found


_short_declarations = functools.lru_cache(maxsize=4096)(_declarations)


def read_sheet(text: str) -> Sheet:
    """The rules of a style sheet. Raises Refused."""
    sheet: Sheet = []
    for node in tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True):
        if node.type != "qualified-rule":
            word = getattr(node, "lower_at_keyword", node.type)
            raise Refused("outside_reference" if word in ("import", "font-face") else "bad_css", str(word))
        body = declarations(tinycss2.serialize(node.content))
        sheet += [(selector, body) for selector in selectors(tinycss2.serialize(node.prelude))]
    if len(sheet) > _MAX_SELECTORS:
        raise Refused("bad_css", f"{len(sheet)} selectors")
    return sheet


def selectors(text: str) -> list[Selector]:
    """The selectors of a comma list. Raises Refused for what is outside the vocabulary."""
    return [_selector(part.strip()) for part in text.split(",")]


def _selector(text: str) -> Selector:
    words = re.sub(r"\s*>\s*", " > ", text).split()
    found: list[Compound] = []
    for at, word in enumerate(words):
        if word == ">":
            continue
        match = _COMPOUND.fullmatch(word)
        if match is None:
            raise Refused("bad_css", text)
        marks = re.findall(r"[.#][\w-]+", match.group(2))
        classes = tuple(mark[1:] for mark in marks if mark[0] == ".")
        ids = tuple(mark[1:] for mark in marks if mark[0] == "#")
        kind = "" if match.group(1) in (None, "*") else match.group(1)
        found.append(Compound(kind, classes, ids, words[at + 1 : at + 2] == [">"]))
    if not found or len(found) > _MAX_COMPOUNDS or found[-1].child or words[0] == ">":
        raise Refused("bad_css", text)
    return tuple(found)


def specificity(selector: Selector) -> tuple[int, int, int]:
    """Ids, classes, types."""
    return (
        sum(len(one.ids) for one in selector),
        sum(len(one.classes) for one in selector),
        sum(bool(one.type) for one in selector),
    )


def matches(selector: Selector, element: etree._Element) -> bool:
    """Whether a selector picks an element."""
    return _fits(selector[-1], element) and _stands_below(selector[:-1], element)


def _stands_below(rest: Selector, element: etree._Element) -> bool:
    if not rest:
        return True
    parent = element.getparent()
    if rest[-1].child:
        return parent is not None and _fits(rest[-1], parent) and _stands_below(rest[:-1], parent)
    while parent is not None:
        if _fits(rest[-1], parent) and _stands_below(rest[:-1], parent):
            return True
        parent = parent.getparent()
    return False


def _fits(one: Compound, element: etree._Element) -> bool:
    if one.type and one.type != str(element.tag).rpartition("}")[2]:
        return False
    if one.ids and set(one.ids) != {element.get("id")}:
        return False
    return not one.classes or set(one.classes) <= set((element.get("class") or "").split())


def check_declaration(name: str, value: str) -> None:
    """Refuse a property outside the vocabulary, or a value outside its grammar. url() is not looked at here."""
    text = value.strip()
    if text == "inherit" and name in PROPERTIES:
        return
    if name in KEYWORDS and text in KEYWORDS[name]:
        return
    if name in NOT_BY_BOTH:
        raise Refused("not_by_both", f"{name}: {text}")
    if "url(" in text.lower():
        raise Refused("outside_reference", text)
    if name in COLOURS:
        grammar.check_colour(text)
    elif name in OPACITIES:
        grammar.check_opacity(text)
    elif name in LENGTHS:
        grammar.check_length(text)
    elif name == "stroke-dasharray":
        if text != "none":
            grammar.check_lengths(text)
            _check_dashes(text)
    elif name == "font-family":
        grammar.check_family(text)
    elif name in REFERENCES and text == "none":
        return
    else:
        raise Refused("bad_value" if name in PROPERTIES else "attribute_not_allowed", f"{name}: {text}")


def _check_dashes(text: str) -> None:
    values = grammar.numbers(text)
    if any(value < 0 for value in values) or not sum(values) >= 0.05:
        raise Refused("bad_value", text)
