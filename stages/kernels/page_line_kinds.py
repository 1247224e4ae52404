"""What kind of line one line is; the kinds are those of `page_lines`."""

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.jit import helper
from gristmill.stages.kernels.line_keys import MAX_KEY_BYTES, KeyTable, key_of, known_value, signed

PLAIN, TOC, INDEX, REFERENCES, STAMP, NUMBER, LEADER, SPACED, ENTRY, CITED, CHAPTER, JUNK, PAGE_HEAD = range(13)
CHAPTER_WORD = 20
"""Value in the table of heads: not a whole line but its first word, before a number."""

MAX_TEXT_BYTES = 200
"""A line of a table of contents or an index is no longer; of a longer line only what begins it is looked at."""
MAX_LABEL_BYTES = 24
MAX_CITED_BYTES = 2000
MAX_DIGITS = 4
MAX_ROMAN_BYTES = 9


@helper
def _is_digit(byte: int) -> bool:
    return 0x30 <= byte <= 0x39


@helper
def _is_letter(byte: int) -> bool:
    return 0x61 <= byte | 0x20 <= 0x7A or byte >= 0x80


@helper
def _roman_digit(byte: int) -> int:
    lower = byte | 0x20
    if lower == 0x69:
        return 1
    if lower == 0x76:
        return 5
    if lower == 0x78:
        return 10
    if lower == 0x6C:
        return 50
    return 100 if lower == 0x63 else 0


@helper
def numeral(data: Bytes, start: int, end: int) -> tuple[int, int]:
    """Value and end of the number (1 to 4 digits) or Roman number that begins at `start`; 0 where there is none."""
    at, value = start, 0
    while at < end and _is_digit(data[at]):
        value = min(value * 10 + signed(data[at]) - 0x30, 99999)
        at += 1
    if at > start:
        return (value, at) if at - start <= MAX_DIGITS else (0, start)
    last = 0
    while at < end and at - start < MAX_ROMAN_BYTES and _roman_digit(data[at]) > 0:
        digit = _roman_digit(data[at])
        value += digit - 2 * last if digit > last > 0 else digit
        last = digit
        at += 1
    if at < end and _is_letter(data[at]):
        return 0, start
    return max(value, 0), at


@helper
def _is_dressing(byte: int) -> bool:
    """White space and - | [ ] ~ * _ < > about a page number; (1) and 1. are labels of notes and lists."""
    return byte <= 0x20 or byte in (0x2D, 0x7C, 0x5B, 0x5D, 0x7E, 0x2A, 0x5F, 0x3C, 0x3E)


@helper
def _page_number(data: Bytes, first: int, last: int) -> tuple[int, int]:
    """Number that the line is, but for dashes and brackets about it, and 1 if it is Roman in small letters; -1."""
    while first < last and _is_dressing(data[first]):
        first += 1
    while last > first and _is_dressing(data[last - 1]):
        last -= 1
    if first == last:
        return -1, 0
    value, behind = numeral(data, first, last)
    roman = 0 if _is_digit(data[first]) else 1
    if behind != last or value == 0 or (roman and data[first] < 0x61):
        return -1, 0
    return value, roman


@helper
def first_number(data: Bytes, first: int, last: int) -> int:
    """The first number of 1 to 4 digits in a short line; 0."""
    for at in range(first, last):
        if _is_digit(data[at]):
            return numeral(data, at, last)[0]
    return 0


@helper
def page_head_number(data: Bytes, first: int, last: int) -> int:
    """The number of 1 to 4 digits that begins or ends a line that has other words; 0."""
    at = first
    while at < last and _is_digit(data[at]):
        at += 1
    if first < at <= first + MAX_DIGITS:
        return numeral(data, first, at)[0] if at < last and data[at] <= 0x20 else 0
    at = last
    while at > first and _is_digit(data[at - 1]):
        at -= 1
    return numeral(data, at, last)[0] if first < at < last and data[at - 1] <= 0x20 else 0


@helper
def _leader(data: Bytes, first: int, last: int) -> tuple[int, int, int, int]:
    """Of a line that ends with a page number behind a leader or a gap: the number, dots, blanks, end of the text."""
    number = last
    while number > first and _is_digit(data[number - 1]):
        number -= 1
    if number == last:
        while number > first and last - number < MAX_ROMAN_BYTES and _roman_digit(data[number - 1]) > 0:
            number -= 1
    value, behind = numeral(data, number, last)
    if behind != last or value == 0 or number == last:
        return 0, 0, 0, first
    dots, blanks, at = 0, 0, number
    while at > first:
        byte = data[at - 1]
        if byte in (0x20, 0x09):
            blanks += 2 if byte == 0x09 else 1
            at -= 1
        elif byte == 0x2E:
            dots += 1
            at -= 1
        elif byte == 0xB7 and at - 2 >= first and data[at - 2] == 0xC2:
            dots += 1
            at -= 2
        elif byte == 0xA6 and at - 3 >= first and data[at - 2] == 0x80 and data[at - 3] == 0xE2:
            dots += 3
            at -= 3
        else:
            break
    return value, dots, blanks, at


@helper
def _has_letter(data: Bytes, first: int, last: int) -> bool:
    at = first
    while at < last and not _is_letter(data[at]):
        at += 1
    return at < last


@helper
def _page_list(data: Bytes, first: int, last: int) -> int:
    """How many page numbers and ranges of them end the line, separated by commas, behind a comma; 0."""
    count, at = 0, last
    if at > first and data[at - 1] == 0x2E:
        at -= 1
    while True:
        number = at
        while number > first and (_is_digit(data[number - 1]) or data[number - 1] == 0x2D):
            number -= 1
        if number > first + 2 and data[number - 1] == 0x93 and data[number - 2] == 0x80 and data[number - 3] == 0xE2:
            number -= 3
            while number > first and _is_digit(data[number - 1]):
                number -= 1
        if number == at or at - number > 2 * MAX_DIGITS + 3 or not _is_digit(data[number]):
            return count
        at = number
        while at > first and data[at - 1] == 0x20:
            at -= 1
        if at == first or data[at - 1] != 0x2C:
            return count
        count += 1
        at -= 1
        while at > first and data[at - 1] == 0x20:
            at -= 1


@helper
def _last_number(data: Bytes, first: int, last: int) -> int:
    end = last - 1 if data[last - 1] == 0x2E else last
    at = end
    while at > first and _is_digit(data[at - 1]):
        at -= 1
    return numeral(data, at, end)[0]


@helper
def _first_letter(data: Bytes, first: int, last: int) -> int:
    """A letter's code to compare by: ASCII in lower case, else the first bytes of the character."""
    byte = signed(data[first])
    if byte < 0x80:
        return byte | 0x20
    second = signed(data[first + 1]) if first + 1 < last else 0
    third = signed(data[first + 2]) if byte >= 0xE0 and first + 2 < last else 0
    return byte << 16 | second << 8 | third


@helper
def _matches(data: Bytes, at: int, end: int, a: int, b: int, c: int) -> bool:
    return at + 2 < end and data[at] | 0x20 == a and data[at + 1] | 0x20 == b and data[at + 2] | 0x20 == c


@helper
def _citation(data: Bytes, first: int, last: int) -> tuple[bool, bool]:
    """Whether there is a year (1500 to 2099), and whether "doi", "et al", "isbn" or "://" is there."""
    year, cue = False, False
    for at in range(first, min(last, first + MAX_CITED_BYTES)):
        byte = data[at]
        if byte in (0x31, 0x32):
            if at + 4 <= last and (at == first or not _is_digit(data[at - 1])):
                second = data[at + 1]
                century = second == 0x30 if byte == 0x32 else 0x35 <= second <= 0x39
                whole = _is_digit(data[at + 2]) and _is_digit(data[at + 3])
                year = year or (century and whole and (at + 4 == last or not _is_digit(data[at + 4])))
        elif byte == 0x3A:
            cue = cue or (at + 2 < last and data[at + 1] == 0x2F and data[at + 2] == 0x2F)
        elif byte | 0x20 == 0x64:
            cue = cue or _matches(data, at, last, 0x64, 0x6F, 0x69)
        elif byte | 0x20 == 0x69:
            cue = cue or (_matches(data, at, last, 0x69, 0x73, 0x62) and at + 3 < last and data[at + 3] | 0x20 == 0x6E)
        elif byte == 0x65:
            cue = cue or (_matches(data, at, last, 0x65, 0x74, 0x20) and at + 4 < last and data[at + 3] == 0x61)
    return year, cue


@helper
def _cited(data: Bytes, first: int, last: int) -> int:
    """The number of the label of a reference, 0 where it has none, -1 where the line is no reference."""
    bracket = data[first] == 0x5B
    at = first + 1 if bracket else first
    label, behind = numeral(data, at, last) if at < last and _is_digit(data[at]) else (0, at)
    if bracket:
        digits = 0
        while behind < last and behind - first < MAX_LABEL_BYTES and data[behind] != 0x5D:
            digits += _is_digit(data[behind])
            behind += 1
        if behind == last or data[behind] != 0x5D or (label == 0 and digits == 0):
            return -1
    elif behind == at or behind + 1 >= last or data[behind] != 0x2E or data[behind + 1] != 0x20:
        return -1
    year, cue = _citation(data, behind, last)
    return label if (year and cue) or (bracket and (year or cue)) else -1


@helper
def _chapter(data: Bytes, first: int, last: int, known: KeyTable) -> int:
    """Number of a line that begins with one and a stop, or with a word for chapter and one; 0."""
    value, behind = numeral(data, first, last)
    if value > 0:
        stop = behind + 1 < last and (data[behind] == 0x2E or data[behind] == 0x29) and data[behind + 1] <= 0x20
        return value if stop else 0
    if known_value(known, key_of(data, first, last, 1)) != CHAPTER_WORD:
        return 0
    at = first
    while at < last and data[at] > 0x20:
        at += 1
    while at < last and data[at] <= 0x20:
        at += 1
    return numeral(data, at, last)[0] if at < last else 0


@helper
def kind_of(data: Bytes, begin: int, first: int, last: int, known: KeyTable, near_toc: bool) -> tuple[int, int, int]:
    """Kind, value and aux of the line from `begin` whose text is `data[first:last]`, not empty."""
    if last - first <= MAX_KEY_BYTES:
        value, roman = _page_number(data, first, last)
        if value >= 0:
            return NUMBER, value, roman
        kind = known_value(known, key_of(data, first, last, 0))
        if kind > 0 and kind != CHAPTER_WORD:
            return kind, first_number(data, first, last) if kind == NUMBER else 0, 0
    if last - first <= MAX_TEXT_BYTES:
        value, dots, blanks, stop = _leader(data, first, last)
        if value > 0 and (dots >= 3 or (near_toc and blanks >= 2)) and _has_letter(data, first, stop):
            return LEADER if dots >= 3 else SPACED, value, 0
        pages = _page_list(data, first, last)
        if pages > 0 and _is_letter(data[first]):
            letter = _first_letter(data, first, last) if first == begin else 0
            return ENTRY, _last_number(data, first, last), letter << 8 | min(pages, 255)
    label = _cited(data, first, last)
    if label >= 0:
        return CITED, label, 0
    if near_toc and last - first <= MAX_TEXT_BYTES:
        number = _chapter(data, first, last, known)
        if number > 0:
            return CHAPTER, number, 0
    return PLAIN, 0, 0
