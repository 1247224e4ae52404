"""The plain-Python twin of `damage`: the kernel's test oracle."""

from gristmill.stages.kernels.damage import (
    INVISIBLE,
    LEAD2_1251,
    LEAD2_1252,
    LEAD2_OTHER,
    LEAD3_1252,
    TAIL_1251,
    TAIL_1252,
    TAIL_OTHER,
    damage_table,
)
from gristmill.stages.kernels.damage_points import means_something

BREAKS = "\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029"


def count_document(text: str) -> dict[str, int]:
    """The counts of `damage.COUNTS` by name."""
    classes = [int(damage_table()[ord(char)]) for char in text]
    return {
        "chars": len(text),
        "controls": sum(is_control(char) for char in text),
        "breaks": sum(char in BREAKS for char in text),
        "replacements": text.count("\ufffd"),
        "invisibles": sum(bool(c & INVISIBLE) and not means_something(text, at) for at, c in enumerate(classes)),
        "suspects": sum(is_suspect(classes[at : at + 4]) for at in range(len(text))),
    }


def is_control(char: str) -> bool:
    """C0 and C1 but for tab, line feed and other ends of lines."""
    return (char < " " or "\x7f" <= char < "\xa0") and char not in BREAKS + "\t\n"


def is_suspect(classes: list[int]) -> bool:
    """Whether characters of these classes begin with what may be mojibake."""
    first, second, third, fourth = (classes + [0] * 4)[:4]
    return bool(
        (first & LEAD2_1252 and second & TAIL_1252)
        or (first & LEAD3_1252 and second & TAIL_1252 and third & TAIL_1252)
        or (first & LEAD2_OTHER and second & TAIL_OTHER)
        or (first & LEAD2_1251 and second & TAIL_1251 and third & LEAD2_1251 and fourth & TAIL_1251)
    )
