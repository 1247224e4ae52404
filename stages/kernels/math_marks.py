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
from gristmill.stages.kernels.math_chars import (
    ascii_math,
    behind_name,
    blank_line,
    count_proof_marks,
    has_word,
    is_alpha,
    is_digit,
    is_operator,
    is_space,
    is_symbol,
    may_operate,
)

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
MIN_PROOF_MARKS = 2

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
        if mode == _NONE and at + 1 < end and not is_space(data[at + 1]):
            _open(state, _DOLLAR, at, counts)
            state[_CHARS_BEFORE] -= 1
        return at + 1
    if mode != _DOLLAR:
        return at + 1
    behind = data[at + 1] if at + 1 < end else 0x20
    if not is_space(data[at - 1]) and not is_digit(behind):
        if not is_digit(data[signed(state[_START]) + 1]) or state[_TEX] or state[_RELATION] or not state[_BLANK]:
            _close(state, counts)
        else:
            _forget(state, counts)
    elif not is_space(behind):
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
    while stop < end and is_alpha(data[stop]):
        stop += 1
    begins = stop - at == 5 and has_word(data, at, end, _BEGIN)
    ends = stop - at == 3 and has_word(data, at, end, _END)
    name = stop
    if begins or ends:
        stop = behind_name(data, stop, end)
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
def _inside(data: Bytes, at: int, start: int, end: int, state: Ints, counts: Ints) -> None:
    """Take an ordinary character of a formula, counted already."""
    byte, mode = data[at], state[_MODE]
    if byte >= 0x80:
        state[_SYMBOLS_IN] += byte >= 0xC0 and is_symbol(data, at, start, end)
        return
    if may_operate(byte):
        state[_OPERATORS_IN] += is_operator(data, at, start, end)
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
        if mode == _MATHML and byte == 0x3E and at - state[_START] >= 6 and has_word(data, at - 6, end, _MATH_ENDS):
            state[_BRACES] = 0
            _close(state, counts)
            return
    elif byte == 0x20:
        state[_BLANK] = 1
    elif byte == 10 and mode in (_DOLLAR, _PAREN) and blank_line(data, at, end):
        _give_up(state, counts)
        return
    if at - state[_START] >= MAX_FORMULA_BYTES:
        _give_up(state, counts)


@helper
def _outside(data: Bytes, at: int, start: int, end: int, state: Ints, counts: Ints) -> int:
    """Take an ordinary character outside formulas, counted already; the place behind what was taken."""
    byte = data[at]
    if byte >= 0x80:
        counts[_SYMBOLS] += byte >= 0xC0 and is_symbol(data, at, start, end)
    elif byte == 0x60:
        stop = ascii_math(data, at, end) if at == start or data[at - 1] != 0x60 else at
        if stop > at:
            counts[_FORMULAS] += 1
            for place in range(at, stop):
                counts[_FORMULA_CHARS] += data[place] & 0xC0 != 0x80
                counts[_CHARS] += place > at and data[place] & 0xC0 != 0x80
            return stop
    elif byte == 0x7B:
        if has_word(data, at + 1, end, _DISPLAYSTYLE) or has_word(data, at + 1, end, _TEXTSTYLE):
            _open(state, _STYLE, at, counts)
            state[_CHARS_BEFORE] -= 1
    elif byte == 0x3C and has_word(data, at + 1, end, _MATH) and at + 5 < end and data[at + 5] <= 0x3E:
        _open(state, _MATHML, at, counts)
        state[_CHARS_BEFORE] -= 1
    elif may_operate(byte):
        counts[_OPERATORS] += is_operator(data, at, start, end)
    return at + 1


@helper
def _count_text(data: Bytes, start: int, end: int, known: KeyTable, state: Ints, counts: Ints) -> None:
    state[:] = 0
    marks, sure, dollars = count_proof_marks(data, start, end)
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
            if is_alpha(behind):
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
