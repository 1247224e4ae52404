"""Lines of a page about mathematics that are none of its text: what forums, answer sites and calculators put about
it, and definitions of macros.

A line is chrome when its key (`line_keys`) is in the table of whole lines, or it has at most MAX_PREFIX_BYTES and the
key of its first one, two or three words is in the table of prefixes. It is macros when it has "newcommand" more than
once. Only lines that are not blank are counted.
"""

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel
from gristmill.stages.kernels.line_keys import KNOWN, MAX_KEY_BYTES, KeyTable, keys_of, known_value, trimmed_line

CHROME, MACROS, ERROR = 1, 2, 3
SPAN_FIELDS = ("window", "start", "end", "kind", "line")
PREFIX = 8
"""Added to the value of a line in the table: it is the begin of a line."""
MAX_PREFIX_BYTES = 80

Ints = npt.NDArray[np.int64]

_MACRO = np.frombuffer(b"newcommand", np.uint8)


@helper
def _macros(data: Bytes, first: int, last: int) -> int:
    count, at = 0, first
    while at + len(_MACRO) <= last:
        same = 0
        while same < len(_MACRO) and data[at + same] == _MACRO[same]:
            same += 1
        count += same == len(_MACRO)
        at += max(same, 1)
    return count


@helper
def _kind_of(data: Bytes, first: int, last: int, known: KeyTable) -> int:
    if last - first <= MAX_KEY_BYTES:
        whole, one, two, three = keys_of(data, first, last)
        kind = known_value(known, whole)
        if kind > 0:
            return kind & (PREFIX - 1)
        if last - first <= MAX_PREFIX_BYTES:
            for begin in (one, two, three):
                kind = known_value(known, begin)
                if kind & PREFIX:
                    return kind & (PREFIX - 1)
    return MACROS if _macros(data, first, last) > 1 else 0


@kernel(types.int64(BYTES, OFFSETS, OFFSETS, KNOWN, types.int64[::1], COUNTS_OUT))
def _scan(data: Bytes, starts: Ints, ends: Ints, known: KeyTable, lines: Ints, spans: Ints) -> int:
    found = 0
    for window in range(len(starts)):
        at, end = starts[window], ends[window]
        while at < end:
            begin = at
            first, last, at = trimmed_line(data, at, end)
            if first == last:
                continue
            kind = _kind_of(data, first, last, known)
            if kind:
                if found < len(spans):
                    spans[found, 0], spans[found, 1], spans[found, 2] = window, begin, at
                    spans[found, 3], spans[found, 4] = kind, lines[window]
                found += 1
            lines[window] += 1
    return found


def scan_lines(data: Bytes, starts: Ints, ends: Ints, known: KeyTable) -> tuple[Ints, Ints]:
    """Lines of each window `data[starts[i]:ends[i]]`, and spans (n, len(SPAN_FIELDS)) of those found; int64."""
    room = int((ends - starts).sum()) // 256 + 64
    while True:
        lines = np.zeros(len(starts), np.int64)
        spans = np.empty((room, len(SPAN_FIELDS)), np.int64)
        found = _scan(data, starts, ends, known, lines, spans)
        if found <= room:
            return lines, spans[:found]
        room = found
