"""Which of a page's blocks are its main content.

1. Spans that are boilerplate go (`gone`): by tag (nav, footer, aside), by role and name, or by being made of links;
   never one that holds most of the page's text.
2. The root: the <main>, role=main or articles that hold enough of what is left, else the element named as content
   that holds most of it, else the whole page.
3. Lists of links go within the root, unless nearly nothing would stay.

Shares and ratios are of characters of text. The limits were tuned on pages of Sphinx, AsciiDoc, Texinfo and
Node.js manuals.
"""

import re
from collections.abc import Sequence
from itertools import accumulate

from gristmill.stages.text import html_rules as rules
from gristmill.stages.text.html_blocks import HEADING, MEDIUM_CHAR, Block
from gristmill.stages.text.html_walk import Span

MOST = 0.5
MAIN_SHARE = 0.25
CONTENT_SHARE = 0.6
LINKED = 0.6
WEAKLY_LINKED = 0.3
TOC_LINKED = 0.7
HEADER_LINKED = 0.4
FEW_LINKS = 3
SOFT_KEEPS = 0.25
SOFT_KEEPS_CHARS = 100
SHORT_CHARS = 300
TITLE_DISTANCE_CHARS = 600

_LAST_WORDS = re.compile(
    r"(?:this (?:document|page|file|manual) was )?(?:last )?(?:generated|created|built|updated|modified) "
    r"(?:by|with|using|on)\b"
    r"|©|\(c\)\s|copyright\b|all rights reserved|last (?:updated|modified|changed)|powered by|page last",
    re.IGNORECASE,
)
_LAST_BLOCKS = 4


def selected(blocks: Sequence[Block], spans: Sequence[Span]) -> list[Block]:
    """The main content's blocks, in order."""
    sizes = [len(block.text) + sum(map(len, block.cells)) if block.cells else len(block.text) for block in blocks]
    total = sum(sizes)
    gone = _union([s for s in spans if _is_boilerplate(s) and (s.chars <= MOST * total or _is_surely(s))], len(blocks))
    left = _Sizes(sizes, gone)
    start, end = _root(spans, left, len(blocks))
    start = _with_title(blocks, gone, left, start, end)
    soft = [s for s in spans if s.start >= start and s.end <= end and _is_link_list(s)]
    if soft:
        both = [a or b for a, b in zip(gone, _union(soft, len(blocks)), strict=True)]
        stays = _Sizes(sizes, both).of(start, end)
        gone = both if stays >= min(SOFT_KEEPS * left.of(start, end), SOFT_KEEPS_CHARS) else gone
    kept = [block for at, block in enumerate(blocks[start:end], start) if not gone[at]]
    if (start, end) == (0, len(blocks)):
        kept = _without_logos(kept)
    return _without_last_words(kept)


class _Sizes:
    """Characters of text of any range of blocks that are not gone."""

    def __init__(self, sizes: Sequence[int], gone: Sequence[bool]) -> None:
        left = [0 if g else size for size, g in zip(sizes, gone, strict=True)]
        self._ends = list(accumulate(left, initial=0))

    def of(self, start: int, end: int) -> int:
        return self._ends[end] - self._ends[start]


def _union(spans: Sequence[Span], count: int) -> list[bool]:
    """Per block, whether a span covers it."""
    if not spans:
        return [False] * count
    steps = [0] * (count + 1)
    for span in spans:
        steps[span.start] += 1
        steps[span.end] -= 1
    return [depth > 0 for depth in accumulate(steps[:count])]


def _linked(span: Span) -> float:
    return span.link_chars / span.chars if span.chars else 0.0


def _is_boilerplate(span: Span) -> bool:
    linked = _linked(span)
    if span.tag in ("nav", "footer", "aside", "menu"):
        return span.tag != "aside" or linked > WEAKLY_LINKED or not span.flags & rules.KEEP
    if span.flags & rules.BAD:
        slug = span.flags & rules.BY_ID and span.headings and linked < WEAKLY_LINKED
        return not (slug or (span.flags & rules.BY_ID and span.tag == "section"))
    if span.tag == "header" or span.flags & rules.HEADER:
        bar = linked > HEADER_LINKED and (span.links >= FEW_LINKS or not span.headings)
        return bar or (span.tag == "header" and not span.headings)
    if span.flags & rules.WEAK:
        return linked > WEAKLY_LINKED
    return span.tag == "table" and linked > LINKED and span.chars < SHORT_CHARS and span.links >= FEW_LINKS


def _is_surely(span: Span) -> bool:
    """Whether a span may go even where it holds most of the page: by its tag, unless its end tag was forgotten."""
    return span.tag in ("nav", "footer") and (span.chars < SHORT_CHARS or _linked(span) > LINKED)


def _is_link_list(span: Span) -> bool:
    linked = _linked(span)
    if span.tag not in ("ul", "ol", "dl", "div", "section") or span.links < FEW_LINKS:
        return False
    if span.fragments >= 0.8 * span.links and linked > TOC_LINKED:
        return True
    return bool(span.flags & rules.TOC) and linked > TOC_LINKED


def _root(spans: Sequence[Span], left: _Sizes, count: int) -> tuple[int, int]:
    total = left.of(0, count)
    mains = [s for s in spans if s.tag == "main" or s.flags & rules.MAIN]
    articles = [s for s in spans if s.tag == "article"]
    best = max((left.of(s.start, s.end), -s.start, s.end) for s in mains) if mains else (0, 0, 0)
    if best[0] > MAIN_SHARE * total:
        return -best[1], best[2]
    if articles:
        start, end = min(s.start for s in articles), max(s.end for s in articles)
        if left.of(start, end) > CONTENT_SHARE * total:
            return start, end
    named = [s for s in spans if s.flags & rules.CONTENT and left.of(s.start, s.end) > CONTENT_SHARE * total]
    if named:
        smallest = min(named, key=lambda s: (left.of(s.start, s.end), s.start))
        return smallest.start, smallest.end
    return 0, count


def _with_title(blocks: Sequence[Block], gone: Sequence[bool], left: _Sizes, start: int, end: int) -> int:
    """The start moved back to the page's title, where that stands shortly before a root that has none."""
    if any(b.kind == HEADING and b.note == 1 and not gone[at] for at, b in enumerate(blocks[start:end], start)):
        return start
    for at in range(start - 1, -1, -1):
        if left.of(at, start) > TITLE_DISTANCE_CHARS:
            break
        if blocks[at].kind == HEADING and blocks[at].note == 1 and not gone[at]:
            return at
    return start


def _without_logos(kept: list[Block]) -> list[Block]:
    """Images alone above all text of a page that does not say where its content begins are those of its site."""
    first = next((at for at, block in enumerate(kept) if block.cells or block.text.strip(MEDIUM_CHAR + " \n")), 0)
    return kept[first:]


def _without_last_words(kept: list[Block]) -> list[Block]:
    """A short note of copyright or of the generator among the last blocks goes, with what stands below it."""
    first = max(1, len(kept) - _LAST_BLOCKS)
    for at in range(first, len(kept)):
        rest = kept[at:]
        if _LAST_WORDS.match(rest[0].text) and all(b.kind != HEADING and len(b.text) < SHORT_CHARS for b in rest):
            return kept[:at]
    return kept
