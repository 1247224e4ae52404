"""Formulas and other marks of mathematics in a text, sound and broken, counted in one pass over Arrow's bytes.

A formula is one of, outside any other:

* `$...$` by pandoc's rule (tex_math_dollars): no white space behind the first, none before the last, no digit behind
  it; no blank line within. One that begins with a digit needs TeX (a command, `^`, `_`), a relation, or no blank, too;
* `$$...$$`, `\\(...\\)`, `\\[...\\]`; `\\begin{X}...\\end{X}` for the environments of `MATH_ENVIRONMENTS`;
* `{\\displaystyle ...}` and `{\\textstyle ...}`, as encyclopaedias leave them; `<math ...>...</math>`;
* AsciiMath: between single backquotes on one line, at most MAX_ASCII_BYTES, with one of `^=+*<>`, no word longer than
  MAX_ASCII_WORD letters.

A backslash takes the next character with it, so `\\$`, `\\\\[2pt]`, `\\{` delimit nothing. Faults are: a formula whose
braces or inner environments do not balance; one not closed at a blank line (`$` with TeX in it, `\\(`), after
MAX_FORMULA_BYTES, by another opening of its kind, or at the end; an end without its begin; each `\\begin` of another
environment without its `\\end` and the reverse. A `$` before a price is no fault.

Other marks: commands (backslash and letters outside formulas); symbols: mathematical operators (U+2200 to 22FF, 27C0 to
27EF, 2980 to 2AFF), mathematical letters (U+1D400 to 1D7FF), superscripts and subscripts, double arrows, what Latin-1
has of them, and a Greek letter by itself; operators: `= ^` between operands, `+ * / < >` where a digit is one.

Metamath writes its keywords with `$`: where tokens such as `$.`, `$=`, `$(`, `$)` between white space are
MIN_PROOF_MARKS or more, and they and `$a`, `$p` and the like half of all dollars, dollars delimit no formula, and all
these tokens are counted as marks of proofs.
"""

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel
from gristmill.stages.kernels.line_keys import KNOWN, KeyTable, key_of, key_table, known_value, signed

COUNTS = (
    "chars",
    "formulas",
    "formula_chars",
    "faults",
    "commands",
    "symbols",
    "operators",
    "proof_marks",
    "open_end",
)
"""Columns of the counts. `open_end` is where, in bytes of the data, a formula begins that the end of the text cuts off,
at most MAX_OPEN_BYTES before it; -1."""

MATH_ENVIRONMENTS = (
    "equation|align|aligned|alignat|alignedat|gather|gathered|multline|eqnarray|math|displaymath|flalign|split|array"
    "|cases|matrix|pmatrix|bmatrix|vmatrix|smallmatrix|dmath|subequations|IEEEeqnarray|tikzcd|CD"
)
"""In any case of letters, with or without a star."""

MAX_FORMULA_BYTES = 20_000
MAX_OPEN_BYTES = 2000
MAX_ASCII_BYTES = 200
MAX_ASCII_WORD = 7
MIN_PROOF_MARKS = 2
MAX_NAME_BYTES = 32

(_CHARS, _FORMULAS, _FORMULA_CHARS, _FAULTS, _COMMANDS, _SYMBOLS, _OPERATORS, _PROOF, _OPEN) = range(9)
_NONE, _DOLLAR, _DISPLAY, _PAREN, _BRACKET, _ENVIRONMENT, _STYLE, _MATHML = range(8)
_MODE, _START, _CHARS_BEFORE, _BRACES, _INNER, _TEX, _RELATION, _BLANK, _OUTER, _SYMBOLS_IN, _OPERATORS_IN, _STATE = (
    range(12)
)

Ints = npt.NDArray[np.int64]

# Global arrays are constants of a kernel; handed on as arguments they cost more than the work.
_BEGIN = np.frombuffer(b"begin", np.uint8)
_END = np.frombuffer(b"end", np.uint8)
_DISPLAYSTYLE = np.frombuffer(b"\\displaystyle", np.uint8)
_TEXTSTYLE = np.frombuffer(b"\\textstyle", np.uint8)
_MATH = np.frombuffer(b"math", np.uint8)
_MATH_ENDS = np.frombuffer(b"</math", np.uint8)
_SPECIAL = np.array([byte >= 0xC0 or byte in b"\\$`{=^+*/<>" for byte in range(256)], np.uint8)
"""What means something outside formulas."""
_ENVIRONMENTS = key_table(MATH_ENVIRONMENTS.split("|"))


@helper
def _is_space(byte: int) -> bool:
    return byte <= 0x20


@helper
def _is_digit(byte: int) -> bool:
    return 0x30 <= byte <= 0x39


@helper
def _is_alpha(byte: int) -> bool:
    return 0x61 <= byte | 0x20 <= 0x7A


@helper
def _has(data: Bytes, at: int, end: int, word: Bytes) -> bool:
    """Whether the bytes of `word` stand at `at`."""
    same = 0
    while same < len(word) and at + same < end and data[at + same] == word[same]:
        same += 1
    return same == len(word)


@helper
def _count_proof_marks(data: Bytes, start: int, end: int) -> tuple[int, int, int]:
    """Keywords of Metamath, those of them that cannot begin a formula, and dollars."""
    marks, sure, dollars = 0, 0, 0
    for at in range(start, end):
        if data[at] != 0x24:
            continue
        dollars += 1
        if at + 1 < end and (at == start or _is_space(data[at - 1])) and (at + 2 >= end or _is_space(data[at + 2])):
            kind = data[at + 1]
            is_sure = kind in (0x2E, 0x3D, 0x28, 0x29, 0x7B, 0x7D, 0x40)
            sure += is_sure
            marks += is_sure or kind in (0x61, 0x63, 0x64, 0x65, 0x66, 0x70, 0x76)
    return marks, sure, dollars


@helper
def _is_symbol(data: Bytes, at: int, start: int, end: int) -> bool:
    """Whether the character that begins at `at`, not ASCII, is a mark of mathematics."""
    first = data[at]
    second = data[at + 1] if at + 1 < end else 0
    third = data[at + 2] if at + 2 < end else 0
    if first == 0xC2:
        return second in (0xB1, 0xB2, 0xB3, 0xB9)
    if first == 0xC3:
        return second in (0x97, 0xB7)
    if first in (0xCE, 0xCF):
        before = data[at - 1] if at > start else 0x20
        behind = data[at + 2] if at + 2 < end else 0x20
        return not (_is_alpha(before) or before >= 0x80 or _is_alpha(behind) or behind >= 0x80)
    if first == 0xE2:
        if 0x88 <= second <= 0x8B or 0xA6 <= second <= 0xAB:
            return True
        if second in (0x81, 0x82):
            return third >= 0xB0 if second == 0x81 else third < 0xA0
        return (second == 0x9F and third < 0xB0) or (second == 0x87 and 0x90 <= third <= 0x94)
    return first == 0xF0 and second == 0x9D and 0x90 <= third <= 0x9F


@helper
def _may_operate(byte: int) -> bool:
    return byte in (0x3D, 0x5E, 0x2B, 0x2A, 0x2F, 0x3C, 0x3E)


@helper
def _is_operator(data: Bytes, at: int, start: int, end: int) -> bool:
    """Whether the ASCII character at `at` stands between operands as an operator does."""
    byte = data[at]
    left = at - 1
    if left > start and data[left] == 0x20:
        left -= 1
    right = at + 1
    if right < end and data[right] == 0x20:
        right += 1
    if left < start or right >= end:
        return False
    before, behind = data[left], data[right]
    closes = _is_digit(before) or _is_alpha(before) or before >= 0x80 or before in (0x29, 0x5D)
    opens = _is_digit(behind) or _is_alpha(behind) or behind >= 0x80 or behind in (0x28, 0x2D, 0x2E, 0x5C, 0x24, 0x7B)
    if byte in (0x3D, 0x5E):
        return (closes or before == 0x7D) and opens
    return closes and opens and (_is_digit(before) or _is_digit(behind) or behind == 0x2E)


@helper
def _behind_name(data: Bytes, at: int, end: int) -> int:
    """Behind `{name}` at `at`; `at` where no name stands there."""
    if at >= end or data[at] != 0x7B:
        return at
    stop = at + 1
    while stop < end and stop - at <= MAX_NAME_BYTES and data[stop] != 0x7D and not _is_space(data[stop]):
        stop += 1
    return stop + 1 if stop < end and data[stop] == 0x7D else at


@helper
def _ascii_math(data: Bytes, at: int, end: int) -> int:
    """Behind the AsciiMath that begins with the backquote at `at`; `at` where there is none."""
    if at + 1 >= end or data[at + 1] == 0x60:
        return at
    operator, word = False, 0
    for place in range(at + 1, min(end, at + MAX_ASCII_BYTES)):
        byte = data[place]
        if byte == 0x60:
            return place + 1 if operator and (place + 1 == end or data[place + 1] != 0x60) else at
        if byte in (10, 13):
            return at
        word = word + 1 if _is_alpha(byte) else 0
        if word > MAX_ASCII_WORD:
            return at
        operator = operator or byte in (0x5E, 0x2B, 0x2A, 0x3C, 0x3D, 0x3E)
    return at


@helper
def _open(state: Ints, mode: int, at: int, counts: Ints) -> None:
    state[_MODE], state[_START], state[_CHARS_BEFORE] = mode, at, counts[_CHARS]
    state[_BRACES:_OUTER] = 0
    state[_SYMBOLS_IN] = state[_OPERATORS_IN] = 0


@helper
def _close(state: Ints, counts: Ints) -> None:
    """The formula ends behind the character that is counted last."""
    is_sound = state[_BRACES] == 0 and state[_INNER] == 0
    counts[_FORMULAS] += is_sound
    counts[_FAULTS] += not is_sound
    counts[_FORMULA_CHARS] += counts[_CHARS] - state[_CHARS_BEFORE]
    state[_MODE] = _NONE


@helper
def _give_up(state: Ints, counts: Ints) -> None:
    """The formula is not closed; one that a lone `$` without TeX seemed to begin was none."""
    counts[_FAULTS] += state[_MODE] != _DOLLAR or state[_TEX] != 0
    _forget(state, counts)


@helper
def _forget(state: Ints, counts: Ints) -> None:
    """There was no formula: what stands in it is as if it stood outside."""
    counts[_SYMBOLS] += state[_SYMBOLS_IN]
    counts[_OPERATORS] += state[_OPERATORS_IN]
    state[_MODE] = _NONE


@helper
def _dollar(data: Bytes, at: int, end: int, state: Ints, counts: Ints) -> int:
    """Take the `$` at `at`, which is counted already; the place behind what was taken."""
    double = at + 1 < end and data[at + 1] == 0x24
    mode = state[_MODE]
    if mode in (_NONE, _DISPLAY):
        if double:
            counts[_CHARS] += 1
            if mode == _DISPLAY:
                _close(state, counts)
            else:
                _open(state, _DISPLAY, at, counts)
                state[_CHARS_BEFORE] -= 2
            return at + 2
        if mode == _NONE and at + 1 < end and not _is_space(data[at + 1]):
            _open(state, _DOLLAR, at, counts)
            state[_CHARS_BEFORE] -= 1
        return at + 1
    if mode != _DOLLAR:
        return at + 1
    behind = data[at + 1] if at + 1 < end else 0x20
    if not _is_space(data[at - 1]) and not _is_digit(behind):
        if not _is_digit(data[signed(state[_START]) + 1]) or state[_TEX] or state[_RELATION] or not state[_BLANK]:
            _close(state, counts)
        else:
            _forget(state, counts)
    elif not _is_space(behind):
        _give_up(state, counts)
        _open(state, _DOLLAR, at, counts)
        state[_CHARS_BEFORE] -= 1
    return at + 1


@helper
def _bracket(byte: int, at: int, state: Ints, counts: Ints) -> None:
    """Take `\\(`, `\\)`, `\\[` or `\\]`, both characters of which are counted already."""
    opens = byte in (0x28, 0x5B)
    wanted = _PAREN if byte in (0x28, 0x29) else _BRACKET
    mode = state[_MODE]
    if mode == _NONE or (mode == wanted and opens):
        if mode == wanted:
            _give_up(state, counts)
        if opens:
            _open(state, wanted, at, counts)
            state[_CHARS_BEFORE] -= 2
        else:
            counts[_FAULTS] += 1
    elif mode == wanted:
        _close(state, counts)


@helper
def _command(data: Bytes, at: int, end: int, known: KeyTable, state: Ints, counts: Ints) -> int:
    """Take the command whose letters begin at `at`; its backslash is counted already."""
    stop = at
    while stop < end and _is_alpha(data[stop]):
        stop += 1
    begins = stop - at == 5 and _has(data, at, end, _BEGIN)
    ends = stop - at == 3 and _has(data, at, end, _END)
    name = stop
    if begins or ends:
        stop = _behind_name(data, stop, end)
        begins, ends = begins and stop > name, ends and stop > name
    counts[_CHARS] += stop - at
    for place in range(name, stop):
        counts[_CHARS] -= data[place] & 0xC0 == 0x80
    state[_TEX] = 1
    if not begins and not ends:
        counts[_COMMANDS] += state[_MODE] == _NONE
    elif state[_MODE] == _NONE:
        is_math = known_value(known, key_of(data, name, stop, 0)) > 0
        if begins and is_math:
            width = counts[_CHARS]
            _open(state, _ENVIRONMENT, at - 1, counts)
            state[_CHARS_BEFORE] = width - (stop - at) - 1
            state[_INNER] = 1
        elif is_math:
            counts[_FAULTS] += 1
        else:
            state[_OUTER] += 1 if begins else -1
            counts[_COMMANDS] += 1
    else:
        state[_INNER] += 1 if begins else -1
        if state[_MODE] == _ENVIRONMENT and state[_INNER] == 0:
            _close(state, counts)
    return stop


@helper
def _blank_line(data: Bytes, at: int, end: int) -> bool:
    """Whether the line behind the line feed at `at` is blank."""
    at += 1
    while at < end and _is_space(data[at]):
        if data[at] == 10:
            return True
        at += 1
    return False


@helper
def _inside(data: Bytes, at: int, start: int, end: int, state: Ints, counts: Ints) -> None:
    """Take an ordinary character of a formula, counted already."""
    byte, mode = data[at], state[_MODE]
    if byte >= 0x80:
        state[_SYMBOLS_IN] += byte >= 0xC0 and _is_symbol(data, at, start, end)
        return
    if _may_operate(byte):
        state[_OPERATORS_IN] += _is_operator(data, at, start, end)
    if byte == 0x7B:
        state[_BRACES] += 1
    elif byte == 0x7D:
        state[_BRACES] -= 1
        if mode == _STYLE and state[_BRACES] < 0:
            state[_BRACES] = 0
            _close(state, counts)
            return
    elif byte in (0x5E, 0x5F):
        state[_TEX] = 1
    elif byte in (0x3D, 0x3C, 0x3E, 0x2B):
        state[_RELATION] = 1
        if mode == _MATHML and byte == 0x3E and at - state[_START] >= 6 and _has(data, at - 6, end, _MATH_ENDS):
            state[_BRACES] = 0
            _close(state, counts)
            return
    elif byte == 0x20:
        state[_BLANK] = 1
    elif byte == 10 and mode in (_DOLLAR, _PAREN) and _blank_line(data, at, end):
        _give_up(state, counts)
        return
    if at - state[_START] >= MAX_FORMULA_BYTES:
        _give_up(state, counts)


@helper
def _outside(data: Bytes, at: int, start: int, end: int, state: Ints, counts: Ints) -> int:
    """Take an ordinary character outside formulas, counted already; the place behind what was taken."""
    byte = data[at]
    if byte >= 0x80:
        counts[_SYMBOLS] += byte >= 0xC0 and _is_symbol(data, at, start, end)
    elif byte == 0x60:
        stop = _ascii_math(data, at, end) if at == start or data[at - 1] != 0x60 else at
        if stop > at:
            counts[_FORMULAS] += 1
            for place in range(at, stop):
                counts[_FORMULA_CHARS] += data[place] & 0xC0 != 0x80
                counts[_CHARS] += place > at and data[place] & 0xC0 != 0x80
            return stop
    elif byte == 0x7B:
        if _has(data, at + 1, end, _DISPLAYSTYLE) or _has(data, at + 1, end, _TEXTSTYLE):
            _open(state, _STYLE, at, counts)
            state[_CHARS_BEFORE] -= 1
    elif byte == 0x3C and _has(data, at + 1, end, _MATH) and at + 5 < end and data[at + 5] <= 0x3E:
        _open(state, _MATHML, at, counts)
        state[_CHARS_BEFORE] -= 1
    elif _may_operate(byte):
        counts[_OPERATORS] += _is_operator(data, at, start, end)
    return at + 1


@helper
def _count_text(data: Bytes, start: int, end: int, known: KeyTable, state: Ints, counts: Ints) -> None:
    state[:] = 0
    marks, sure, dollars = _count_proof_marks(data, start, end)
    is_proof = sure >= MIN_PROOF_MARKS and 2 * marks >= dollars
    counts[_PROOF] = marks if is_proof else 0
    counts[_OPEN] = -1
    at = start
    while at < end:
        if state[_MODE] == _NONE:
            begin, continuing = at, 0
            while at < end and _SPECIAL[data[at]] == 0:
                continuing += data[at] & 0xC0 == 0x80
                at += 1
            counts[_CHARS] += at - begin - continuing
            if at == end:
                break
        byte = data[at]
        counts[_CHARS] += byte & 0xC0 != 0x80
        if byte == 0x5C and at + 1 < end:
            behind = data[at + 1]
            if _is_alpha(behind):
                at = _command(data, at + 1, end, known, state, counts)
                continue
            counts[_CHARS] += behind & 0xC0 != 0x80
            if behind in (0x28, 0x29, 0x5B, 0x5D):
                _bracket(behind, at, state, counts)
            at += 2
        elif byte == 0x24 and not is_proof:
            at = _dollar(data, at, end, state, counts)
        elif state[_MODE] == _NONE:
            at = _outside(data, at, start, end, state, counts)
        else:
            _inside(data, at, start, end, state, counts)
            at += 1
    counts[_FAULTS] += abs(state[_OUTER])
    if state[_MODE] != _NONE:
        is_open = state[_MODE] != _DOLLAR or state[_TEX] != 0
        if is_open and end - state[_START] <= MAX_OPEN_BYTES:
            counts[_OPEN] = state[_START]
        _give_up(state, counts)


@kernel((BYTES, OFFSETS, KNOWN, COUNTS_OUT))
def _count_texts(data: Bytes, offsets: Offsets, known: KeyTable, counts: Ints) -> None:
    state = np.zeros(_STATE, np.int64)
    for row in range(len(offsets) - 1):
        _count_text(data, offsets[row], offsets[row + 1], known, state, counts[row])


def count_math(data: Bytes, offsets: Offsets) -> Ints:
    """Counts (n, len(COUNTS)) of each text."""
    counts = np.zeros((len(offsets) - 1, len(COUNTS)), np.int64)
    _count_texts(data, offsets, _ENVIRONMENTS, counts)
    return counts
