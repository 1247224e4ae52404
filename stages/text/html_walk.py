"""One pass over the tokens of a page: its blocks in order, and the spans of them that a choice may rest on.

The walk keeps a stack of containers only; it never recurses, and each token is visited once. It decides nothing about
main content: `html_select` does, from the spans.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from gristmill.stages.text import html_rules as rules
from gristmill.stages.text.html_blocks import CODE, Block
from gristmill.stages.text.html_inline import Inline, Span
from gristmill.stages.text.html_math import unescaped
from gristmill.stages.text.html_tables import Table

_CONTAINERS = "div section article main header footer nav aside ul ol dl menu table form details blockquote figure"
_BLOCKS = (
    "p dt dd address center fieldset legend figcaption caption summary hgroup tbody thead tfoot dir listing "
    "body frameset optgroup video audio search"
)
_UNSEEN = "svg object canvas select button textarea datalist map applet template title noscript"


class _Frame(NamedTuple):
    tag: str
    attrs: str
    flags: int
    start: int
    chars: int
    link_chars: int
    links: int
    fragments: int
    headings: int


_Handler = Callable[[int, str], int]


@dataclass
class Walk(Inline):
    """The state of a walk; `run` fills `blocks` and `spans`."""

    stack: list[_Frame] = field(default_factory=list[_Frame])
    tables: list[Table] = field(default_factory=list[Table])

    def run(self) -> None:
        """Visit every token."""
        handlers = self._handlers()
        unseen = rules.unseen
        inline, tokens, window = self.inline, self.tokens, self.tokens.window
        tokens.more()
        inline.append(window[0])
        i = 1
        while True:
            limit = len(window) - 2
            while i < limit:
                tag, attrs = window[i], window[i + 1]
                handler = handlers.get(tag)
                done = 0
                if handler is not None:
                    done = handler(i, attrs)
                elif attrs and unseen(attrs):
                    done = self._special(i, tag, attrs)
                if done:
                    i = done
                    limit = len(window) - 2
                    continue
                text = window[i + 2]
                if text:
                    inline.append(text)
                i += 3
            tokens.forget(i)
            i = 1
            if not tokens.more():
                break
        self.flush()
        while self.stack:
            self._close(self.stack.pop())

    def _handlers(self) -> dict[str, _Handler]:
        """By tag, what to do with it; a handler gives 0, or the index of the tag to go on with."""
        table: dict[str, _Handler] = {}
        for tag in _CONTAINERS.split():
            table[tag], table["/" + tag] = self._open, self._end
        for tag in _BLOCKS.split():
            table[tag], table["/" + tag] = self._block, self._boundary
        for level in range(1, 7):
            table[f"h{level}"], table[f"/h{level}"] = self._heading, self._heading_end
        for tag in _UNSEEN.split():
            table[tag] = self._unseen
        table |= {"a": self._a, "/a": self._a_end, "sup": self._sup, "/sup": self._sup_end, "br": self._br}
        table |= {"li": self._li, "/li": self._li_end, "hr": self._boundary, "pre": self._pre}
        table |= {"tr": self._tr, "/tr": self._boundary, "td": self._td, "/td": self._boundary}
        table |= {"th": self._td, "/th": self._boundary}
        return table | {"img": self._img, "math": self._math, "x-tex": self._tex}

    # containers

    def _open(self, i: int, attrs: str) -> int:
        self.flush()
        tag = self.tokens.window[i]
        flags = rules.flags_of(attrs) if attrs else 0
        if flags & rules.SKIP:
            return self._skip(i, tag)
        if tag in ("ul", "ol"):
            self.lists.append(_first_number(attrs) if tag == "ol" else -1)
            self.mark = ""
        elif tag == "table":
            self.tables.append(Table(len(self.blocks)))
        self.stack.append(
            _Frame(
                tag,
                attrs,
                flags,
                len(self.blocks),
                self.chars,
                self.link_chars,
                self.links,
                self.fragments,
                self.headings,
            )
        )
        return 0

    def _end(self, i: int, attrs: str) -> int:
        self.flush()
        tag = self.tokens.window[i][1:]
        if self.stack and self.stack[-1].tag == tag:
            self._close(self.stack.pop())
        return 0

    def _close(self, frame: _Frame) -> None:
        if frame.tag in ("ul", "ol"):
            if self.lists:
                self.lists.pop()
            self.mark = ""
        elif frame.tag == "table" and self.tables:
            self._table_end(frame)
        end = len(self.blocks)
        if end == frame.start or not (frame.flags or frame.tag != "div" or self.links > frame.links):
            return
        self.spans.append(
            Span(
                frame.start,
                end,
                frame.tag,
                frame.flags,
                self.chars - frame.chars,
                self.link_chars - frame.link_chars,
                self.links - frame.links,
                self.fragments - frame.fragments,
                self.headings - frame.headings,
            )
        )

    def _table_end(self, frame: _Frame) -> None:
        table = self.tables.pop()
        rows = table.rows_of(self.blocks)
        if rows is not None:
            del self.blocks[table.first_cell :]
            self.blocks.extend(rows)
            while self.spans and self.spans[-1].start >= table.first_cell:
                self.spans.pop()
        if self.tables and (rows is not None or len(self.blocks) > frame.start):
            self.tables[-1].nested = True

    # blocks

    def _block(self, i: int, attrs: str) -> int:
        self.flush()
        if attrs and rules.unseen(attrs):
            return self._skip(i, self.tokens.window[i])
        return 0

    def _boundary(self, i: int, attrs: str) -> int:
        self.flush()
        return 0

    def _heading(self, i: int, attrs: str) -> int:
        self.flush()
        if attrs and rules.unseen(attrs):
            return self._skip(i, self.tokens.window[i])
        self.head = int(self.tokens.window[i][1])
        return 0

    def _heading_end(self, i: int, attrs: str) -> int:
        self.flush()
        self.head = 0
        return 0

    def _li(self, i: int, attrs: str) -> int:
        self.flush()
        if attrs and rules.unseen(attrs):
            return self._skip(i, "li")
        if not self.lists or self.lists[-1] < 0:
            self.mark = "-"
        else:
            self.mark = f"{self.lists[-1]}."
            self.lists[-1] += 1
        return 0

    def _li_end(self, i: int, attrs: str) -> int:
        self.flush()
        self.mark = ""
        return 0

    def _tr(self, i: int, attrs: str) -> int:
        self.flush()
        if self.tables:
            self.tables[-1].open_row()
        return 0

    def _td(self, i: int, attrs: str) -> int:
        self.flush()
        if attrs and rules.unseen(attrs):
            return self._skip(i, self.tokens.window[i])
        if self.tables:
            self.tables[-1].open_cell(len(self.blocks), self.tokens.window[i] == "th", attrs)
        return 0

    def _pre(self, i: int, attrs: str) -> int:
        """The text of a <pre> as it stands, its language from the classes of it, its <code> and what is around."""
        self.flush()
        end = self.tokens.end_of(i, "pre")
        code = _verbatim(self.tokens.window, i, end)
        if code.strip():
            around = [frame.attrs for frame in self.stack[-2:]][::-1]
            inner = self.tokens.window[i + 4] if i + 4 < end and self.tokens.window[i + 3] == "code" else ""
            language = next((found for a in (attrs, inner, *around) if a and (found := rules.language_of(a))), "")
            self.chars += len(code)
            self.blocks.append(Block(CODE, code, language, len(self.lists)))
            self.mark = ""
        return self._resume(end)


_START = re.compile(r'\sstart="(\d{1,6})"')


def _first_number(attrs: str) -> int:
    found = _START.search(attrs) if attrs else None
    return int(found[1]) if found else 1


_LINE_NUMBER = re.compile(r'class="[^"]*\b(?:linenos?|line-numbers?|lnt?|gutter)\b')


def _verbatim(tokens: list[str], i: int, end: int) -> str:
    """The text between a <pre> and its end, as it stands: line breaks kept, line numbers left out. A comment that does
    not end has no attributes, not empty ones."""
    tags = tokens[i:end:3]
    if "br" in tags or any(attrs and "lineno" in attrs for attrs in tokens[i + 1 : end : 3]):
        parts: list[str] = []
        skip_to = 0
        for j in range(i, end, 3):
            if j < skip_to:
                continue
            if tokens[j] == "span" and _LINE_NUMBER.search(tokens[j + 1] or ""):
                skip_to = next((k for k in range(j, end, 3) if tokens[k] == "/span"), end)
                continue
            parts.append(("\n" if tokens[j] == "br" else "") + tokens[j + 2])
        code = "".join(parts)
    else:
        code = "".join(tokens[i + 2 : end : 3])
    # The stripped lines are blank ones around the code: what the fence stands for.
    code = re.sub(r"\A(?:[ \t]*\n)+", "", unescaped(code))
    return code.rstrip()
