"""Reference solver of words in code: rows of a book give a letter for each sign.

A record names a book, a sign (a number) and a letter (behind the word "letter"); the query names the book and the
signs of the word, in order. Letters are independent and uniform in ALPHABET, so a window that lacks r rows is right
with ALPHABET ** -r. None where a row is missing.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import product

from gristmill.synth.solvers.asking import Records, View
from gristmill.synth.solvers.sharing import Solved, shares_law
from gristmill.synth.solvers.spans import Span
from gristmill.synth.solvers.words import Contradiction, names_in, numbers_in

ALPHABET = "adeilnorst"
MAX_SIGNS = 4
_LETTER = re.compile(r"\bletter\W{1,3}([a-z])\b")


def read_sign(text: str) -> tuple[int, str]:
    """(sign, letter) of a record. Raises Contradiction."""
    numbers, letters = numbers_in(text), _LETTER.findall(text)
    if len(numbers) != 1 or len(letters) != 1 or letters[0] not in ALPHABET:
        raise Contradiction(f"a record with signs {numbers} and letters {letters}")
    return numbers[0], letters[0]


def solve_word(text: str, records: Records, without: int = -1) -> Solved:
    """The word of a query."""
    names, signs = set(names_in(text)), numbers_in(text)
    if len(names) != 1 or not 2 <= len(signs) <= MAX_SIGNS or len(set(signs)) < len(signs):
        raise Contradiction(f"a query with names {sorted(names)} and signs {signs}")
    key = names.pop()
    rows: dict[int, tuple[int, str]] = {}
    for start in records.with_name(key):
        sign, letter = read_sign(records.texts[start])
        if sign in signs and start != without:
            if sign in rows:
                raise Contradiction(f"two rows for {sign}")
            rows[sign] = (start, letter)
    found = [rows[sign] for sign in signs if sign in rows]
    used = tuple(start for start, _ in found)
    letters = dict(found)

    def spelled(starts: Sequence[int]) -> str:
        return "".join(letters[start] for start in starts)

    return Solved(key, spelled(used) if len(used) == len(signs) else None, used, used, words(len(signs)), spelled)


@cache
def words(letters: int) -> tuple[str, ...]:
    """All words of so many letters."""
    return tuple(map("".join, product(ALPHABET, repeat=letters)))


def word_epsilon(rows: Sequence[Span], candidates: int, window: int) -> float:
    """What the best window knows of a word: it guesses the letters whose rows it lacks."""
    edges = [start for start, _ in rows]
    held = max(sum(edge <= start and end <= edge + window for start, end in rows) for edge in edges)
    return len(ALPHABET) ** (held - len(rows)) - 1 / candidates


def views(query: str, records: Records, answer: str) -> tuple[View, ...]:
    """One for each letter: its own row is not shown, and it cannot be told from all others."""
    found = solve_word(query, records)
    shown = {start: (read_sign(text)[1],) for start, text in records.texts.items()}
    return tuple(
        View(found.key, tuple(ALPHABET), shown, letter, hidden=row)
        for row, letter in zip(found.used, answer, strict=True)
    )


WORDS = shares_law(solve_word, lambda text: (read_sign(text)[1],), word_epsilon, views)
