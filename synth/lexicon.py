"""Invented names: words that stand for registers, accounts and people of planted records.

A name is a capital letter and lower-case ones, 7 to 9 letters in one of `SHAPES`, so that it reads like a word and is
none. No name holds another, in any case, and none stands in the text that it is planted into (`avoid`), so that every
place where a name is found is one that a record, a query or an answer declared.
"""

from collections.abc import Callable

from gristmill.manifests.errors import InputError
from gristmill.render.draws import Draws
from gristmill.synth.solvers.leaks import MIN_LETTERS

CONSONANTS = "bdfgklmnprstvz"
VOWELS = "aeiou"
SHAPES = ("cvcvcvc", "cvccvcv", "cvcvccvc", "cvccvcvc", "cvcvcvcvc", "cvccvcvcv")
MAX_LETTERS = 9
MAX_TRIES_PER_NAME = 200
"""Names that a text holds, or that hold one another, are drawn again; 3 in 1,000 are (20,000 names, 14 letters)."""


def names(draws: Draws, count: int, avoid: Callable[[list[str]], set[str]]) -> list[str]:
    """`count` names, none of which `avoid` gives back from a list of lower-case candidates.

    Raises InputError where the text leaves too few: MAX_TRIES_PER_NAME draws a name and no more.
    """
    found: list[str] = []
    parts: set[str] = set()
    for _ in range(MAX_TRIES_PER_NAME):
        fresh = _fresh(draws, count - len(found), parts)
        taken = avoid(fresh)
        found += [word for word in fresh if word not in taken]
        if len(found) == count:
            return [word.capitalize() for word in found]
    raise InputError(
        "too few invented names are absent from the documents",
        where="synth",
        value=f"{len(found)} of {count}",
        remedy="lower tasks_per_million",
    )


def _fresh(draws: Draws, count: int, parts: set[str]) -> list[str]:
    """Up to `count` lower-case words, fewer where words hold one another; `parts` takes what they hold."""
    words: list[str] = []
    for _ in range(count):
        word = "".join(draws.pick(CONSONANTS if kind == "c" else VOWELS) for kind in draws.pick(SHAPES))
        inside = _inside(word)
        if not inside & parts:
            words.append(word)
            parts |= inside
    return words


def _inside(word: str) -> set[str]:
    """Its stretches of MIN_LETTERS letters: two words that share none cannot hold one another."""
    return {word[at : at + MIN_LETTERS] for at in range(len(word) - MIN_LETTERS + 1)}
