"""Page furniture: page numbers, headers and footers that came with the pages of a printed book.

In: the scan of some windows (`kernels.page_lines`). Out: spans for the reasons `page_number` and `page_header`.

A line that is a number, or stands alone with one at its begin or end, is a page number or page header when it is a link
of a chain (so the words of a running head may change, and be misread): the next number of the chain is higher by 1 to
MAX_STEP and as many times MIN_PAGE_LINES to MAX_PAGE_LINES lines further on, with at most LOOK_BACK other such lines
between. A chain has `min_repeats` links and breaks into a sentence in a quarter of its places: the numbers of chapters
and stanzas do not. Headers without a number are those that return at regular distances (see the kernel); their first
place is kept, which is the title. What digitizers stamp on pages ("Digitized by Google") goes wherever it stands alone.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.page_lines import MAX_PAGE_LINES, NUMBER, PAGE_HEAD, STAMP, PageScan, header_spans
from gristmill.stages.text.pages_cut import MAX_SPANS, Span, Windows

_REASON_OF = {NUMBER: "page_number", PAGE_HEAD: "page_header"}

MIN_PAGE_LINES = 8
"""Lower than for headers: pages of dialogue or with figures are short, and a chain of numbers is stronger evidence."""
MAX_STEP = 3
LOOK_BACK = 8
MAX_NUMBERS = 1 << 16
"""Of one window no more lines that are numbers are looked at."""

Ints = npt.NDArray[np.int64]


def furniture_spans(data: Bytes, windows: Windows, scan: PageScan, min_repeats: int) -> list[Span]:
    """Spans of page numbers, headers and stamps of a group of windows."""
    spans = [_of_mark(windows, mark, "page_header") for mark in marks_of(scan, STAMP).tolist()]
    numbers = scan.marks[(scan.marks[:, 4] == NUMBER) | (scan.marks[:, 4] == PAGE_HEAD)]
    for window in np.unique(numbers[:, 0]).tolist():
        own = numbers[numbers[:, 0] == window]
        linked = page_numbers(own[:, 3], own[:, 5], own[:, 7], min_repeats)
        spans += [_of_mark(windows, mark, _REASON_OF[mark[4]]) for mark in own[linked][:MAX_SPANS].tolist()]
    for window, keys in scan.headers.items():
        row, start, end = (int(a[window]) for a in (windows.rows, windows.starts, windows.ends))
        lines = header_spans(data, start, end, keys)[:MAX_SPANS].tolist()
        spans += [Span(row, first, last, "page_header") for first, last in lines]
    return spans


def marks_of(scan: PageScan, kind: int) -> Ints:
    """The first MAX_SPANS marks of a kind of each window."""
    own = scan.marks[scan.marks[:, 4] == kind]
    first = np.searchsorted(own[:, 0], own[:, 0])
    return own[np.arange(len(own)) - first < MAX_SPANS]


def page_numbers(lines: Ints, values: Ints, is_open: Ints, min_repeats: int) -> npt.NDArray[np.bool_]:
    """Which of the lines that are numbers belong to a chain of page numbers.

    `lines` (ascending line numbers), `values`, `is_open` (0 or 1) are as long as the answer.
    """
    places = np.arange(min(len(lines), MAX_NUMBERS))
    depth, parent = _longest_chains(lines[places].tolist(), values[places].tolist())
    chosen = np.zeros(len(lines), np.bool_)
    for place in sorted(places.tolist(), key=lambda i: -depth[i]):
        if depth[place] < min_repeats:
            break
        chain = _chain(parent, place, chosen)
        if len(chain) >= min_repeats and 4 * int(is_open[chain].sum()) >= len(chain):
            chosen[chain] = True
    return chosen


def _longest_chains(lines: Sequence[int], values: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each number the links of the longest chain that ends with it, and the number before it there (-1)."""
    depth, parent = [1] * len(lines), [-1] * len(lines)
    for place, (line, value) in enumerate(zip(lines, values, strict=True)):
        for before in range(place - 1, max(place - 1 - LOOK_BACK, -1), -1):
            step, apart = value - values[before], line - lines[before]
            fits = 1 <= step <= MAX_STEP and MIN_PAGE_LINES * step <= apart <= MAX_PAGE_LINES * step
            if fits and depth[before] >= depth[place]:
                depth[place], parent[place] = depth[before] + 1, before
    return depth, parent


def _chain(parent: Sequence[int], place: int, chosen: npt.NDArray[np.bool_]) -> list[int]:
    chain: list[int] = []
    while place >= 0 and not chosen[place]:
        chain.append(place)
        place = parent[place]
    return chain


def _of_mark(windows: Windows, mark: Sequence[int], reason: str) -> Span:
    return Span(int(windows.rows[mark[0]]), mark[1], mark[2], reason)
