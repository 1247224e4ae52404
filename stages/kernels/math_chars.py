"""Which characters and short sequences are marks of mathematics; helpers of `math_marks`, whose words these are."""

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.jit import helper

MAX_ASCII_BYTES = 200
MAX_ASCII_WORD = 7
MAX_NAME_BYTES = 32


@helper
def is_space(byte: int) -> bool:
    """A blank or a control character."""
    return byte <= 0x20


@helper
def is_digit(byte: int) -> bool:
    """An ASCII digit."""
    return 0x30 <= byte <= 0x39


@helper
def is_alpha(byte: int) -> bool:
    """An ASCII letter."""
    return 0x61 <= byte | 0x20 <= 0x7A


@helper
def has_word(data: Bytes, at: int, end: int, word: Bytes) -> bool:
    """Whether the bytes of `word` stand at `at`."""
    same = 0
    while same < len(word) and at + same < end and data[at + same] == word[same]:
        same += 1
    return same == len(word)


@helper
def count_proof_marks(data: Bytes, start: int, end: int) -> tuple[int, int, int]:
    """Keywords of Metamath, those of them that cannot begin a formula, and dollars."""
    marks, sure, dollars = 0, 0, 0
    for at in range(start, end):
        if data[at] != 0x24:
            continue
        dollars += 1
        if at + 1 < end and (at == start or is_space(data[at - 1])) and (at + 2 >= end or is_space(data[at + 2])):
            kind = data[at + 1]
            is_sure = kind in (0x2E, 0x3D, 0x28, 0x29, 0x7B, 0x7D, 0x40)
            sure += is_sure
            marks += is_sure or kind in (0x61, 0x63, 0x64, 0x65, 0x66, 0x70, 0x76)
    return marks, sure, dollars


@helper
def is_symbol(data: Bytes, at: int, start: int, end: int) -> bool:
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
        return not (is_alpha(before) or before >= 0x80 or is_alpha(behind) or behind >= 0x80)
    if first == 0xE2:
        if 0x88 <= second <= 0x8B or 0xA6 <= second <= 0xAB:
            return True
        if second in (0x81, 0x82):
            return third >= 0xB0 if second == 0x81 else third < 0xA0
        return (second == 0x9F and third < 0xB0) or (second == 0x87 and 0x90 <= third <= 0x94)
    return first == 0xF0 and second == 0x9D and 0x90 <= third <= 0x9F


@helper
def may_operate(byte: int) -> bool:
    """Whether a byte can be an operator of `is_operator`."""
    return byte in (0x3D, 0x5E, 0x2B, 0x2A, 0x2F, 0x3C, 0x3E)


@helper
def is_operator(data: Bytes, at: int, start: int, end: int) -> bool:
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
    closes = is_digit(before) or is_alpha(before) or before >= 0x80 or before in (0x29, 0x5D)
    opens = is_digit(behind) or is_alpha(behind) or behind >= 0x80 or behind in (0x28, 0x2D, 0x2E, 0x5C, 0x24, 0x7B)
    if byte in (0x3D, 0x5E):
        return (closes or before == 0x7D) and opens
    return closes and opens and (is_digit(before) or is_digit(behind) or behind == 0x2E)


@helper
def behind_name(data: Bytes, at: int, end: int) -> int:
    """Behind `{name}` at `at`; `at` where no name stands there."""
    if at >= end or data[at] != 0x7B:
        return at
    stop = at + 1
    while stop < end and stop - at <= MAX_NAME_BYTES and data[stop] != 0x7D and not is_space(data[stop]):
        stop += 1
    return stop + 1 if stop < end and data[stop] == 0x7D else at


@helper
def ascii_math(data: Bytes, at: int, end: int) -> int:
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
        word = word + 1 if is_alpha(byte) else 0
        if word > MAX_ASCII_WORD:
            return at
        operator = operator or byte in (0x5E, 0x2B, 0x2A, 0x3C, 0x3D, 0x3E)
    return at


@helper
def blank_line(data: Bytes, at: int, end: int) -> bool:
    """Whether the line behind the line feed at `at` is blank."""
    at += 1
    while at < end and is_space(data[at]):
        if data[at] == 10:
            return True
        at += 1
    return False
