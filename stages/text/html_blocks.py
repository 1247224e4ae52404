"""Blocks of a page's text, and how they are written: the text form of each construct.

A Block holds text without marks; `render` writes the marks and counts them, so that the characters of the page and
those of the stage's own hand can be told apart.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

# As in manifests.schema, which imports pyarrow: the child, started anew after each death, goes without.
MEDIUM_CHAR = "\ufffc"
REPLACEMENT_CHAR = "\ufffd"

PARAGRAPH, HEADING, ITEM, CODE, ROW = range(5)

Medium = dict[str, Any]


class Block(NamedTuple):
    """One block: `note` is a heading's level, an item's mark, a code block's language or a row's being a header.

    `cells` are a row's; `indent` counts the lists around; `written` counts characters of `text` that are not the
    page's (U+FFFC, delimiters of formulas); `media` stand for the U+FFFC of the text, in order.
    """

    kind: int
    text: str
    note: Any = ""
    indent: int = 0
    media: tuple[Medium, ...] = ()
    written: int = 0
    cells: tuple[str, ...] = ()


class Rendered(NamedTuple):
    """The text, its media in order, and how many of its characters the stage wrote by itself."""

    text: str
    media: list[Medium]
    written: int


_BACKQUOTES = re.compile("`{3,}")
_MAX_INDENT = 8


def render(blocks: Iterable[Block]) -> Rendered:
    """The blocks one below the other: items and rows close together, all else with an empty line between."""
    parts: list[str] = []
    media: list[Medium] = []
    written = 0
    before: Block | None = None
    for block in blocks:
        if before is not None:
            parts.append("\n" if block.kind == before.kind and block.kind in (ITEM, ROW) else "\n\n")
            if block.kind == ROW and before.kind == ROW and before.note and not block.note:
                rule = "|" + " --- |" * len(before.cells) + "\n"
                parts.append(rule)
                written += len(rule)
        text, marks = _written(block)
        parts.append(text)
        written += marks + block.written
        media.extend(block.media)
        before = block
    return Rendered("".join(parts), media, written)


def _written(block: Block) -> tuple[str, int]:
    if block.kind == ROW:
        text = "".join(f"| {cell} " for cell in block.cells) + "|"
        return text, 3 * len(block.cells) + 1
    if block.kind == CODE:
        return _fenced(block.text, block.note)
    if block.kind == HEADING:
        return "#" * block.note + " " + block.text, block.note + 1
    indent = "  " * min(block.indent - (block.kind == ITEM), _MAX_INDENT)
    mark = block.note + " " if block.kind == ITEM else ""
    if not indent and not mark:
        return block.text, 0
    return indent + mark + block.text, len(indent) + len(mark)


def _fenced(code: str, language: str) -> tuple[str, int]:
    longest = max(map(len, _BACKQUOTES.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}", 2 * len(fence) + len(language) + 2


def cell_text(blocks: Sequence[Block]) -> str:
    """The blocks of a table's cell on one line, bars escaped."""
    text = " ".join([b.text for b in blocks]) if len(blocks) != 1 else blocks[0].text
    if "\n" in text:
        text = " ".join(text.split())
    return text.replace("|", "\\|") if "|" in text else text
