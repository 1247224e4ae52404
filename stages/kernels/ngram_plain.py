"""The plain-Python twin of `ngram_words`, `ngram_index` and `ngram_probe`: words by one character after another,
n-grams as tuples of their words. The kernels' test oracle."""

from typing import NamedTuple

from gristmill.stages.kernels.ngram_fold import COMMA, DROPPED, LETTER, MARK, SEPARATOR, SOLO_LETTER, element_of

Gram = tuple[str, ...]


class Word(NamedTuple):
    """A word's form, and the characters [start, stop) of the text that it takes."""

    form: str
    start: int
    stop: int


def words(text: str) -> list[Word]:
    """The words of a text in order."""
    found: list[Word] = []
    open_, solo = False, False
    for at, char in enumerate(text):
        kind, form = element_of(char)
        if kind == SEPARATOR or (kind == COMMA and not (open_ and not solo and _groups_digits(text, at))):
            open_ = False
        elif kind in (DROPPED, COMMA) or (kind == MARK and not open_):
            continue
        elif open_ and kind != SOLO_LETTER and not (solo and kind == LETTER):
            found[-1] = Word(found[-1].form + form, found[-1].start, at + 1)
        else:
            found.append(Word(form, at, at + 1))
            open_, solo = True, kind == SOLO_LETTER
    return found


def _groups_digits(text: str, at: int) -> bool:
    before, behind, last = text[at - 1 : at], text[at + 1 : at + 4], text[at + 4 : at + 5]
    return _are_digits(before) and len(behind) == 3 and _are_digits(behind) and not _are_digits(last)


def _are_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def grams(text: str, ngram: int, min_words: int) -> list[Gram]:
    """The n-grams of an evaluation text: of `ngram` words, or all of its words where it has fewer but `min_words`."""
    forms = [word.form for word in words(text)]
    size = min(ngram, len(forms))
    return [tuple(forms[i : i + size]) for i in range(len(forms) - size + 1)] if size >= max(min_words, 1) else []


def found_grams(text: str, wanted: set[Gram]) -> dict[Gram, tuple[int, int]]:
    """Those of the wanted n-grams that a text holds, each with the characters [start, stop) of its first occurrence."""
    held = words(text)
    found: dict[Gram, tuple[int, int]] = {}
    for stop in range(1, len(held) + 1):
        for size in sorted({len(gram) for gram in wanted}):
            part = held[stop - size : stop] if size <= stop else []
            gram = tuple(word.form for word in part)
            if part and gram in wanted:
                found.setdefault(gram, (part[0].start, part[-1].stop))
    return found
