"""Comments, strings and code of source files, counted in one pass over bytes by a table of forms (`code_lexis`).

Characters are bytes that continue none; white space (ASCII) counts nowhere, so that indentation changes no fraction.
A line belongs to code when some code stands on it; its first word says what it does. The twin in `code_lexer_plain` is
the oracle. Nothing is read outside `[start, end)`.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, helper, kernel

LEXER_COUNTS = (
    "code_chars",
    "comment_chars",
    "string_chars",
    "longest_string_chars",
    "code_lines",
    "todo_lines",
    "import_lines",
    "pass_lines",
    "assert_lines",
    "print_lines",
    "function_lines",
)
"""Columns: characters of code (strings apart), of comments, of strings, of the longest string; lines with code; lines
whose comment holds TODO, FIXME or `your code here`; lines of code that begin with a word of each kind."""

_CODE, _COMMENT, _STRING, _LONGEST, _CODE_LINES, _TODO_LINES = range(6)
_NO_ACTS = 5
_LINE, _BLOCK, _STRING_KIND, _LONG_STRING, _CHAR = range(1, 6)
_AT_LINE_START, _AT_WORD_START, _DOC = 1, 2, 4
_KIND, _FLAGS, _ESCAPE, _MARK_LEN, _CLOSING_LEN, _MARK = range(6)
_MARK_BYTES, _MAX_CHAR_BYTES = 8, 7
_LF, _CR = 0x0A, 0x0D

Counts = npt.NDArray[np.int64]
Files = npt.NDArray[np.int64]
Rows = npt.NDArray[np.uint8]
Masks = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

_FORMS = types.Array(types.uint8, 3, "C", readonly=True)
_MASKS = types.Array(types.int64, 2, "C", readonly=True)
_WORDS = types.Array(types.uint64, 2, "C", readonly=True)
_ACT_ROWS = types.Array(types.uint8, 2, "C", readonly=True)

_signed = cast(Callable[[Any], int], np.int64)


@helper
def _is_space(byte: int) -> bool:
    return byte == 0x20 or 0x09 <= byte <= 0x0D


@helper
def _is_word(byte: int) -> bool:
    return 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A or 0x61 <= byte <= 0x7A or byte in (0x5F, 0x2E)


@helper
def _stands(data: Bytes, at: int, end: int, row: Rows, first: int, size: int) -> bool:
    """Whether the `size` bytes of a row from `first` on stand at `at`."""
    if at + size > end:
        return False
    same = 0
    while same < size and data[at + same] == row[first + same]:
        same += 1
    return same == size


@helper
def _fits(data: Bytes, at: int, start: int, end: int, row: Rows, line_is_blank: bool) -> bool:
    """Whether a form begins at `at`."""
    flags = _signed(row[_FLAGS])
    if flags & _AT_LINE_START and not line_is_blank:
        return False
    if flags & _AT_WORD_START and at > start:
        before = _signed(data[at - 1])
        if not _is_space(before) and before not in (0x3B, 0x28, 0x7B, 0x5B, 0x2C):
            return False
    return _stands(data, at, end, row, _MARK, _signed(row[_MARK_LEN]))


@helper
def _closing(data: Bytes, at: int, end: int, row: Rows) -> int:
    """The byte behind a form whose inside begins at `at`; -1 where it is none. A line end is not part of it."""
    kind, escape = _signed(row[_KIND]), _signed(row[_ESCAPE])
    size = _signed(row[_CLOSING_LEN])
    limit = end
    if kind == _CHAR:
        limit = min(end, at + _MAX_CHAR_BYTES)
    i = at
    while i < limit:
        byte = _signed(data[i])
        if byte in (_LF, _CR) and kind in (_LINE, _STRING_KIND, _CHAR):
            return -1 if kind == _CHAR else i
        if escape != 0 and byte == escape:
            i += 2
        elif kind != _LINE and _stands(data, i, end, row, _MARK + _MARK_BYTES, size):
            return i + size
        else:
            i += 1
    return -1 if kind == _CHAR else end


@helper
def _says_todo(data: Bytes, at: int, end: int) -> bool:
    """TODO, FIXME, or `your code here` in lower case or with one capital."""
    first = data[at]
    if first == 0x54:
        return at + 4 <= end and data[at + 1] == 0x4F and data[at + 2] == 0x44 and data[at + 3] == 0x4F
    if first == 0x46:
        return at + 5 <= end and data[at + 1] == 0x49 and data[at + 2] == 0x58 and data[at + 3] == 0x4D
    if first not in (0x59, 0x79) or at + 14 > end:
        return False
    wanted = b"our code here"
    same = 0
    while same < 13 and data[at + 1 + same] == wanted[same]:
        same += 1
    return same == 13


@helper
def _count_inside(data: Bytes, at: int, behind: int, is_comment: bool, counts: Counts) -> None:
    """Count the characters of a comment or string, and the lines of a comment that say TODO."""
    chars = 0
    todo = False
    for i in range(at, behind):
        byte = _signed(data[i])
        if byte == _LF:
            counts[_TODO_LINES] += todo
            todo = False
        if is_comment and not todo:
            todo = _says_todo(data, i, behind)
        chars += byte & 0xC0 != 0x80 and not _is_space(byte)
    counts[_TODO_LINES] += todo
    if is_comment:
        counts[_COMMENT] += chars
    else:
        counts[_STRING] += chars
        counts[_LONGEST] = max(counts[_LONGEST], chars)


@helper
def _act_of_word(data: Bytes, at: int, end: int, words: Keys, acts: Rows) -> int:
    """What the line does whose first word begins at `at`; 0 for nothing that is known."""
    key = np.uint64(0)
    size = 0
    while at + size < end and _is_word(_signed(data[at + size])):
        if size == _MARK_BYTES:
            return 0
        if data[at + size] == 0x2E and size and data[at] != 0x2E:
            break
        key |= np.uint64(data[at + size]) << np.uint64(8 * size)
        size += 1
    if size == 0:
        return 0
    for i in range(len(words)):
        if words[i] == key:
            return _signed(acts[i])
    return 0


@helper
def _lex(data: Bytes, start: int, end: int, rows: Rows, first: Masks, words: Keys, acts: Rows, counts: Counts) -> None:
    line_is_blank, line_has_code = True, False
    at = start
    while at < end:
        byte = _signed(data[at])
        if byte in (_LF, _CR):
            counts[_CODE_LINES] += line_has_code
            line_is_blank, line_has_code = True, False
            at += 1
            continue
        if _is_space(byte):
            at += 1
            continue
        mask = _signed(first[byte])
        behind = -1
        form = 0
        while mask >> form:
            if mask >> form & 1 and _fits(data, at, start, end, rows[form], line_is_blank):
                behind = _closing(data, at + _signed(rows[form][_MARK_LEN]), end, rows[form])
                if behind >= 0:
                    break
            form += 1
        if behind < 0:
            counts[_CODE] += byte & 0xC0 != 0x80
            if line_is_blank:
                act = _act_of_word(data, at, end, words, acts)
                if act:
                    counts[_NO_ACTS + act] += 1
            line_is_blank, line_has_code = False, True
            at += 1
            continue
        behind = min(behind, end)
        kind, flags = _signed(rows[form][_KIND]), _signed(rows[form][_FLAGS])
        is_comment = kind <= _BLOCK or (flags & _DOC != 0 and line_is_blank)
        _count_inside(data, at, behind, is_comment, counts)
        if not is_comment:
            line_is_blank, line_has_code = False, True
        at = behind
    counts[_CODE_LINES] += line_has_code


@kernel((BYTES, _MASKS, _FORMS, _MASKS, _WORDS, _ACT_ROWS, COUNTS_OUT))
def _lex_files(data: Bytes, files: Files, rows: Rows, first: Masks, words: Keys, acts: Rows, counts: Counts) -> None:
    for i in range(len(files)):
        lexis = files[i, 2]
        _lex(data, files[i, 0], files[i, 1], rows[lexis], first[lexis], words[lexis], acts[lexis], counts[i])


def lex_files(data: Bytes, files: Files, table: Any) -> Counts:
    """Counts (n, len(LEXER_COUNTS)) of the files `data[start:end]`, each by its lexis in a `LexisTable`.

    `files` is int64 (n, 3): start, end, lexis; read-only.
    """
    counts = np.zeros((len(files), len(LEXER_COUNTS)), dtype=np.int64)
    _lex_files(data, files, table.rows, table.first, table.words, table.acts, counts)
    return counts
