"""An independent judge of similarity: exact Jaccard and containment of two texts.

It shares no normaliser, tokenizer or hash with the code that it judges: `str.translate`, `re` and `unicodedata`
of the running Python, and sets of tuples of words. Written from the published definition:

* prose (web, knowledge, vision): a word is a maximal run of letters, digits and underscores, which goes over a
  comma between digits or underscores and over a full stop before a letter, digit or underscore, but for one between a
  letter that is no capital and a capital; an apostrophe (' U+2019) between letters begins a new word; a letter of a
  script without spaces is a word by itself; marks and format characters belong to what they follow; all else parts
  words. Underscores alone are no word. Words are compared without format characters and as Unicode's canonical
  caseless match has it, so that neither case nor NFC or NFD nor a soft hyphen tells two apart; digits do;
* exact form (code, math): the pieces between white space, as they are; a letter of a script without spaces is a piece,
  without its marks.

A shingle is `size` words in a row. A text of fewer words has none, and is then like no other.
"""

import re
import unicodedata
from collections.abc import Iterator, Set

SIZE = 5
MEDIUM = "\ufffc"
"""Stands where a picture stands; parts words as white space does."""
EXACT_FORM = frozenset({"code", "math"})

Shingle = tuple[str, ...]

_SPACELESS = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x1950, 0x19DF),
    (0x1A20, 0x1AAF),
    (0x3005, 0x3007),
    (0x3031, 0x3035),
    (0x3041, 0x312F),
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0xA4CF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x323FF),
)
"""Blocks of Thai and Lao, Myanmar, Khmer, Tai, kana, Han and Yi, first and last code point."""

_MARK = re.compile("([^sm])(m+)")
_PIECE = re.compile("s|[^s ]+")
_WORD = re.compile(
    "(?:(?<=[aA])'(?=[aA]))?[aA01u](?:[aA01u]|(?<=[01u]),(?=[01u])|(?<!a)[.](?=[aA01u])|[.](?=[a0u]))*|sm*"
)


class _Classes(dict[int, str]):
    """Class by code point: a letter, A capital, 0 digit, 1 Roman capital, u underscore, s spaceless letter, m mark,
    blank white space, ~ all else but what words go over."""

    def __missing__(self, point: int) -> str:
        self[point] = found = _class_of(chr(point))
        return found


def _class_of(char: str) -> str:
    category = unicodedata.category(char)
    if category in ("Mn", "Mc", "Me", "Cf"):
        return "m"
    if category[0] == "L":
        if any(first <= ord(char) <= last for first, last in _SPACELESS):
            return "s"
        return "A" if char.isupper() else "a"
    if char.isalnum():
        return "1" if char.isupper() else "0"
    if char.isspace() or char == MEDIUM:
        return " "
    return {"_": "u", "'": "'", "\u2019": "'", ",": ",", ".": "."}.get(char, "~")


_CLASSES = _Classes()


def words(text: str, domain: str) -> list[str]:
    """The words of a text, as its domain counts them."""
    classes = text.translate(_CLASSES)
    if domain in EXACT_FORM:
        return [text[at:end] for at, end in _spans(_PIECE, classes)]
    if "m" in classes:
        classes = _MARK.sub(lambda found: found.group(1) * (1 + len(found.group(2))), classes)
    return [_caseless(text[at:end]) for at, end in _spans(_WORD, classes) if text[at:end].strip("_")]


def _spans(pattern: re.Pattern[str], classes: str) -> Iterator[tuple[int, int]]:
    return (found.span() for found in pattern.finditer(classes))


def _caseless(word: str) -> str:
    if word.isascii():
        return word.lower()
    word = "".join(char for char in word if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", word).casefold())


def shingles(text: str, domain: str, size: int = SIZE) -> frozenset[Shingle]:
    """All runs of `size` words of a text."""
    found = words(text, domain)
    return frozenset(zip(*(found[i:] for i in range(size)), strict=False)) if len(found) >= size else frozenset()


def jaccard(a: Set[Shingle], b: Set[Shingle]) -> float:
    """|A & B| / |A | B|; 0 when either is empty."""
    both = len(a & b)
    return both / (len(a) + len(b) - both) if both else 0.0


def containment(a: Set[Shingle], b: Set[Shingle]) -> float:
    """|A & B| / the size of the smaller; 0 when either is empty."""
    both = len(a & b)
    return both / min(len(a), len(b)) if both else 0.0
