"""What stands inside a block: text, links, line breaks, powers, images, formulas; and the block that they make.

`Inline` gathers pieces of serialised text until `flush` makes a Block of them. `html_walk` has the rest of the walk.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from gristmill.stages.text import html_rules as rules
from gristmill.stages.text.html_blocks import HEADING, ITEM, MEDIUM_CHAR, PARAGRAPH, REPLACEMENT_CHAR, Block, Medium
from gristmill.stages.text.html_images import MAX_PAGE_DATA_BYTES, attributes, formula_of, medium_of
from gristmill.stages.text.html_math import clean_latex, escaped, is_display, latex_of, unescaped
from gristmill.stages.text.html_tokens import TOKEN, Tokens

BREAK = "\x01"
"""Stands for <br> within a block's text until the block is complete."""

MAX_MEDIA = 10_000

_DATA_MATHML = re.compile(r'\sdata-mathml="([^"]*)"')

_LINK = ' href="'
_FRAGMENT = ' href="#'
_NAVIGATES = re.compile(
    r'\s(?:rel|accesskey|title)="(?:next|prev|previous|up|contents|index|start|home|first|last|[npu])"', re.I
)
_ANCHOR_MARKS = frozenset(("", "¶", "#", "§", "\U0001f517", "\uf0c1", "link", "permalink"))
_POWER = re.compile(r"[-+−]?[0-9]{1,4}|[a-zA-Z]")
_ORDINALS = frozenset(("st", "nd", "rd", "th", "er", "e", "TM", "a", "o"))
_POWER_OF = re.compile(r"(?:[0-9)]|(?<![a-zA-Z])[a-zA-Z]{1,2})$")


class Span(NamedTuple):
    """Blocks [start, end) that a container made, with its flags (`html_rules`) and what it holds.

    `chars` of text, `link_chars` of them in `links` links, `fragments` of these to the page itself; `headings` inside.
    """

    start: int
    end: int
    tag: str
    flags: int
    chars: int
    link_chars: int
    links: int
    fragments: int
    headings: int


@dataclass
class Inline:
    """The state of a walk, as far as blocks and what stands in them go."""

    tokens: Tokens
    page_url: str
    keep_images: bool
    has_tex_scripts: bool = False
    blocks: list[Block] = field(default_factory=list[Block])
    spans: list[Span] = field(default_factory=list[Span])
    inline: list[str] = field(default_factory=list[str])
    lists: list[int] = field(default_factory=list[int])
    media: list[Medium] = field(default_factory=list[Medium])
    head: int = 0
    mark: str = ""
    chars: int = 0
    link_chars: int = 0
    links: int = 0
    fragments: int = 0
    headings: int = 0
    link_at: int = -1
    sup_at: int = -1
    navigates: int = 0
    links_before: int = 0
    written: int = 0
    media_total: int = 0
    data_budget: int = MAX_PAGE_DATA_BYTES
    last_latex: str = ""

    def flush(self) -> None:
        """End the block: what was gathered becomes one, unless it is empty."""
        inline = self.inline
        if not inline:
            return
        text = inline[0] if len(inline) == 1 else "".join(inline)
        if text.isspace() and self.link_at < 0 and BREAK not in text:
            inline.clear()
            self.navigates = 0
            self.sup_at = -1
            self.links_before = self.link_chars
            return
        if self.link_at >= 0:
            linked = sum(map(len, inline[self.link_at :]))
            self.link_chars += linked
            self.link_at = 0
        self.sup_at = -1
        inline.clear()
        if BREAK in text:
            lines = [" ".join(line.split()) for line in text.split(BREAK)]
            text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n"))
        else:
            text = " ".join(text.split())
        if text:
            self._add(unescaped(text) if "&" in text else text)
        self.navigates = 0
        self.links_before = self.link_chars

    def _add(self, text: str) -> None:
        size = len(text)
        self.chars += size
        linked = self.link_chars - self.links_before
        if self.navigates and linked * 5 >= size * 2:
            self._span_of_block(size, linked)
        kind, note = (HEADING, self.head) if self.head else (ITEM, self.mark) if self.mark else (PARAGRAPH, "")
        if self.head:
            self.headings += 1
            text = " ".join(text.split("\n"))
        media = tuple(self.media) if self.media else ()
        self.blocks.append(Block(kind, text, note, len(self.lists), media, self.written))
        self.mark = ""
        if self.media:
            self.media = []
        self.written = 0

    def _span_of_block(self, size: int, linked: int) -> None:
        at = len(self.blocks)
        self.spans.append(Span(at, at + 1, "p", rules.BAD, size, linked, self.navigates, 0, 0))

    def _br(self, i: int, attrs: str) -> int:
        self.inline.append(BREAK)
        return 0

    def _a(self, i: int, attrs: str) -> int:
        if attrs and rules.unseen(attrs):
            return self._skip(i, "a")
        if _LINK in attrs:
            self.link_at = len(self.inline)
            self.links += 1
            self.fragments += _FRAGMENT in attrs
            self.navigates += bool(_NAVIGATES.search(attrs))
        return 0

    def _a_end(self, i: int, attrs: str) -> int:
        if self.link_at >= 0:
            part = self.inline[self.link_at :]
            text = "".join(part).strip()
            if text.lower() in _ANCHOR_MARKS and MEDIUM_CHAR not in text:
                del self.inline[self.link_at :]
            else:
                self.link_chars += len(text)
            self.link_at = -1
        return 0

    def _sup(self, i: int, attrs: str) -> int:
        self.sup_at = len(self.inline)
        return 0

    def _sup_end(self, i: int, attrs: str) -> int:
        at, self.sup_at = self.sup_at, -1
        if 0 < at < len(self.inline) and self.link_at < 0:
            text = "".join(self.inline[at:]).strip()
            if _POWER.fullmatch(text) and text not in _ORDINALS and _POWER_OF.search(self.inline[at - 1][-3:]):
                self.inline.insert(at, "^")
                self.written += 1
        return 0

    def _img(self, i: int, attrs: str) -> int:
        image = attributes(attrs)
        latex = formula_of(image)
        if latex is not None:
            self._image_formula(image, latex)
        elif self.keep_images and self.media_total < MAX_MEDIA:
            medium = medium_of(image, self.page_url, self.data_budget)
            if medium is not None:
                self.media.append(medium)
                self.inline.append(MEDIUM_CHAR)
                self.written += 1
                self.media_total += 1
                self.data_budget -= len(medium.get("data", b""))
        return 0

    def _image_formula(self, image: dict[str, str], latex: str) -> None:
        cleaned = clean_latex(latex)
        if cleaned != self.last_latex:
            display = latex.startswith("\\[") or "formulaDsp" in image.get("class", "")
            self._formula(cleaned, display)

    def _math(self, i: int, attrs: str) -> int:
        end = self.tokens.end_of(i, "math")
        latex = latex_of(self.tokens.window[i:end])
        around = any("katex-display" in a for a in self.tokens.window[max(1, i - 8) : i : 3])
        self._formula(latex, is_display(attrs) or around)
        return self._resume(end)

    def _tex(self, i: int, attrs: str) -> int:
        """What `html_child` made of <script type="math/tex">: its content, escaped."""
        end = self.tokens.end_of(i, "x-tex")
        source = unescaped(self.tokens.window[i + 2])
        if "asciimath" in attrs:
            self.inline.append("`" + escaped(" ".join(source.split())) + "`")
            self.written += 2
        else:
            self._formula(clean_latex(source), "mode=display" in attrs)
        return self._resume(end)

    def _formula(self, latex: str, display: bool) -> None:
        latex = " ".join(latex.replace(MEDIUM_CHAR, REPLACEMENT_CHAR).split())
        if latex:
            mark = "$$" if display else "$"
            line = BREAK if display else ""
            self.inline.append(f"{line}{mark}{escaped(latex)}{mark}{line}")
            self.written += 2 * len(mark)
            self.last_latex = latex

    # jumps: a handler that has dealt with a whole element gives the index of the tag to go on with

    def _resume(self, end: int) -> int:
        """Go on behind the end tag at `end`, with the text that follows it."""
        text = self.tokens.text_after(end)
        if text:
            self.inline.append(text)
        return end + 3

    def _skip(self, i: int, tag: str) -> int:
        return self._resume(self.tokens.end_of(i, tag))

    def _unseen(self, i: int, attrs: str) -> int:
        return self._skip(i, self.tokens.window[i])

    def _special(self, i: int, tag: str, attrs: str) -> int:
        """An inline element that goes unseen, or MathJax's drawing of a formula (2: data-mathml, 3: MathML within)."""
        end = self.tokens.end_of(i, tag)
        if rules.unseen(attrs) & rules.FORMULA and not self.has_tex_scripts:
            drawn = _DATA_MATHML.search(attrs)
            tokens = TOKEN.split(unescaped(drawn[1]))[1:] if drawn else self.tokens.window[i:end]
            at = next((k for k in range(0, len(tokens), 3) if tokens[k] == "math"), -1)
            if at >= 0:
                self._formula(latex_of(tokens[at:]), is_display(tokens[at + 1]))
        return self._resume(end)
