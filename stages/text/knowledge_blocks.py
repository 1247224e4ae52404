"""Tables of contents, indexes, reference lists: which runs of marked lines are one, and what goes with them.

In: the scan of some windows (`kernels.page_lines`). Out: spans for the reasons `toc`, `index_lines`, `references`. A
run is a sequence of marks with at most MAX_GAP_LINES other lines between two of them; what goes is all from its first
line (the heading, where there is one) to its last mark, so that titles on two lines and headings of parts go too.

* toc. Under a heading: MIN_HEADED entries with page numbers that do not fall (MIN_RISING of them: one number that is
  read wrongly does not save a page), or with chapter numbers that rise by one and at most MAX_CHAPTER_GAP other lines
  between; any other number ends the run, for there the book begins. Without a heading: MIN_BARE entries with leaders.
* index_lines. Under a heading: MIN_HEADED entries. Without: MIN_BARE_INDEX entries, a fifth of them with two
  page numbers or more, MIN_RISING of them in the order of the alphabet, and half of the lines are entries.
* references. Under a heading: two entries, with what follows up to the next blank line. Without: MIN_BARE entries whose
  numbers rise by one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.page_lines import (
    CHAPTER,
    CITED,
    ENTRY,
    INDEX,
    LEADER,
    REFERENCES,
    SPACED,
    TOC,
    PageScan,
)
from gristmill.stages.text.pages_cut import Span, Windows

MAX_GAP_LINES = 5
MAX_CHAPTER_GAP = 1
MIN_HEADED = 3
MIN_BARE = 5
MIN_BARE_INDEX = 15
MIN_RISING = 0.8
MAX_TAIL_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Mark:
    """One marked line; the fields of `page_lines.MARK_FIELDS`."""

    window: int
    start: int
    end: int
    line: int
    kind: int
    value: int
    aux: int
    is_open: int


Run = list[Mark]

_KINDS = (TOC, LEADER, SPACED, ENTRY, CHAPTER, INDEX, REFERENCES, CITED)


def block_spans(data: Bytes, windows: Windows, scan: PageScan) -> list[Span]:
    """Spans of the blocks of a group of windows."""
    spans: list[Span] = []
    for window in np.unique(scan.marks[:, 0]).tolist():
        own = scan.marks[scan.marks[:, 0] == window]
        spans += _window_spans(data, windows, [Mark(*fields) for fields in own[np.isin(own[:, 4], _KINDS)].tolist()])
    return spans


def _window_spans(data: Bytes, windows: Windows, marks: Run) -> list[Span]:
    spans = [_span(windows, run, "toc") for run in _runs(marks, (TOC, LEADER, SPACED, ENTRY, CHAPTER), _is_toc)]
    spans += [_span(windows, run, "index_lines") for run in _runs(marks, (INDEX, ENTRY), _is_index)]
    for run in _runs(marks, (REFERENCES, CITED), _is_references):
        span = _span(windows, run, "references")
        spans.append(
            Span(span.row, span.start, _to_blank_line(data, span.end, int(windows.ends[run[0].window])), span.reason)
        )
    return spans


def _runs(marks: Sequence[Mark], kinds: tuple[int, ...], accepts: Callable[[Run], Run]) -> Iterator[Run]:
    """Runs of marks of the kinds, the first of which is a heading, as far as they are accepted."""
    run: Run = []
    for mark in marks:
        if mark.kind not in kinds:
            continue
        apart = run and (mark.window != run[-1].window or mark.line - run[-1].line > MAX_GAP_LINES + 1)
        again = run and mark.kind == kinds[0] and run[-1].kind != kinds[0]
        if apart or again:
            if accepted := accepts(run):
                yield accepted
            run = []
        run.append(mark)
    if run and (accepted := accepts(run)):
        yield accepted


def _is_toc(run: Run) -> Run:
    headed = run[0].kind == TOC
    if not headed:
        leaders = [mark for mark in run if mark.kind == LEADER]
        return run if len(leaders) >= MIN_BARE and _rises([m.value for m in leaders]) else []
    paged = [m for m in run if m.kind in (LEADER, SPACED) or (m.kind == ENTRY and _pages(m) == 1)]
    if len(paged) >= MIN_HEADED:
        last = run.index(paged[-1])
        return run[: last + 1] if _rises([m.value for m in paged]) else []
    return _chapters(run)


def _chapters(run: Run) -> Run:
    """A heading and its chapters, as long as their numbers rise by one."""
    taken = run[:1]
    for mark in run[1:]:
        follows = mark.line - taken[-1].line <= MAX_CHAPTER_GAP + 1
        if not follows or mark.kind != CHAPTER or (len(taken) > 1 and mark.value != taken[-1].value + 1):
            break
        taken.append(mark)
    return taken if len(taken) > MIN_HEADED else []


def _is_index(run: Run) -> Run:
    entries = [mark for mark in run if mark.kind == ENTRY]
    if run[0].kind == INDEX:
        return run if len(entries) >= MIN_HEADED else []
    several = sum(_pages(mark) > 1 for mark in entries)
    lines = run[-1].line - run[0].line + 1
    firsts = [mark.aux >> 8 for mark in entries if mark.aux >> 8]
    dense = len(entries) >= MIN_BARE_INDEX and 5 * several >= len(entries) and 2 * len(entries) >= lines
    return run if dense and 2 * len(firsts) >= len(entries) and _rises(firsts) else []


def _is_references(run: Run) -> Run:
    cited = [mark for mark in run if mark.kind == CITED]
    if run[0].kind == REFERENCES:
        return run if len(cited) >= 2 else []
    steps = [b.value - a.value == 1 for a, b in pairwise(cited)]
    return run if len(cited) >= MIN_BARE and sum(steps) >= MIN_RISING * len(steps) else []


def _pages(entry: Mark) -> int:
    """How many page numbers a line of an index has."""
    return entry.aux & 0xFF


def _rises(values: Sequence[int]) -> bool:
    pairs = list(pairwise(values))
    return sum(a <= b for a, b in pairs) >= MIN_RISING * len(pairs)


def _span(windows: Windows, run: Run, reason: str) -> Span:
    return Span(int(windows.rows[run[0].window]), run[0].start, run[-1].end, reason)


def _to_blank_line(data: Bytes, at: int, end: int) -> int:
    """End of the paragraph that goes on at `at`, if it ends soon."""
    tail = data[at : min(end, at + MAX_TAIL_BYTES)].tobytes()
    reached = 0
    for line in tail.splitlines(keepends=True):
        if not line.strip():
            return at + reached
        reached += len(line)
    return at + reached if at + reached == end else at
