"""Reading planted sentences without knowing their templates: invented names and numbers, whatever stands around them.

A name is a capital and 6 to 8 lower-case letters in the spelling of invented words. Numbers are runs of digits that
are no part of a date or a time, of nine at most. This is written from the data contract, not from the grammar that
words the records.
"""

import re

_DATED = re.compile(r"\d{4}-\d{2}-\d{2}|\d{2}:\d{2}:\d{2}")
_NUMBER = re.compile(r"(?<!\d)\d{1,9}(?!\d)")
_CONSONANT, _VOWEL = "[bdfgklmnprstvz]", "[aeiou]"
_SYLLABLES = rf"{_CONSONANT}{_VOWEL}(?:{_CONSONANT}{{1,2}}{_VOWEL}){{2,3}}{_CONSONANT}?"
NAME_PATTERN = rf"(?<![^\W_])(?=[A-Z][a-z]{{6,8}}(?![^\W_]))(?i:{_SYLLABLES})(?![^\W_])"
"""A name, as a regular expression without groups."""
_NAME = re.compile(NAME_PATTERN)
DIGITS_OF_END = 4


class Contradiction(Exception):
    """Records or a query that cannot be read in one way."""


def names_in(text: str) -> list[str]:
    """Invented names, in order, repeated ones too."""
    return _NAME.findall(text)


def numbers_in(text: str) -> list[int]:
    """Numbers, in order."""
    return [int(number) for number in _NUMBER.findall(_DATED.sub(" ", text))]


def words_in(text: str) -> list[str]:
    """Words of letters, in lower case."""
    return re.findall(r"[a-z]+", text.lower())
