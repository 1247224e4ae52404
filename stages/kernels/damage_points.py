"""Characters that nobody sees, and where some of them mean something: what `damage` and its twin both go by.

Free of numba, so that who only asks about a character need not import it.
"""

INVISIBLE_POINTS = (
    *range(0x00AD, 0x00AE),  # soft hyphen
    *range(0x200B, 0x200E),  # zero width space, non-joiner, joiner
    *range(0x202A, 0x202F),  # embedding and override of direction
    *range(0x2060, 0x2061),  # word joiner
    *range(0x2066, 0x206A),  # isolates of direction
    *range(0x206A, 0x2070),  # deprecated format characters
    0xFEFF,  # byte order mark
    *range(0xFFF9, 0xFFFC),  # interlinear annotation
    *range(0xE0000, 0xE0080),  # tags
    *range(0xFDD0, 0xFDF0),  # noncharacters
    *(plane << 16 | last for plane in range(17) for last in (0xFFFE, 0xFFFF)),
)
"""Invisible characters that are looked at: most go, some stay where they mean something. U+FFFC is none of them."""

JOINED = ((0x0590, 0x2000), (0x2010, 0x2028), (0x2070, 0xFEFF), (0xFF00, 0xFFF9), (0x10000, 0xE0000))
"""Between two characters of these ranges a joiner means something: letters beyond Latin, Greek and Cyrillic, emoji."""
UNSPACED = ((0x0E00, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800), (0x1950, 0x1AB0), (0xA9E0, 0xAA80))
"""Between two of these a zero width space parts words: Thai, Lao, Myanmar, Khmer, Tai scripts."""


def means_something(text: str, at: int) -> bool:
    """Whether a zero width space or joiner stands between characters where it is kept."""
    if not "\u200b" <= text[at] <= "\u200d" or at == 0 or at + 1 == len(text):
        return False
    ranges = UNSPACED if text[at] == "\u200b" else JOINED
    return all(any(first <= ord(char) < end for first, end in ranges) for char in (text[at - 1], text[at + 1]))
