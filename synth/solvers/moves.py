"""Reference solver of states that operations change: rows of letters that are laid out anew, in the order of dates.

A record names a row, a date (behind "dated") and an order of digits, a permutation: the first digit tells which old
place comes first. The query names the row, its letters at the beginning, and how many operations there are. Operations
are uniform in the group of all permutations: who lacks one knows nothing. None where one is missing.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import permutations
from typing import NamedTuple

from gristmill.synth.solvers.asking import Records
from gristmill.synth.solvers.sharing import Solved, shares_law
from gristmill.synth.solvers.words import Contradiction, names_in, numbers_in

_DATE = re.compile(r"\bdated\W{1,2}(\d{4}-\d{2}-\d{2})")
_LETTERS = re.compile(r"\b[A-F]{3,6}\b")
LETTERS = "ABCDEF"


class Move(NamedTuple):
    """An operation; dates compare as text."""

    date: str
    order: str


def read_move(text: str) -> Move:
    """Raises Contradiction."""
    dates, numbers = _DATE.findall(text), numbers_in(text)
    if len(dates) != 1 or len(numbers) != 1 or sorted(str(numbers[0])) != list("123456"[: len(str(numbers[0]))]):
        raise Contradiction(f"a record with dates {dates} and orders {numbers}")
    return Move(dates[0], str(numbers[0]))


def moved(letters: str, order: str) -> str:
    """The letters after one operation. Raises Contradiction where it is of another number of places."""
    if len(letters) != len(order):
        raise Contradiction(f"an order {order} for {letters}")
    return "".join(letters[int(place) - 1] for place in order)


def solve_moves(text: str, records: Records, without: int = -1) -> Solved:
    """How the row of a query ends."""
    names, numbers, letters = set(names_in(text)), numbers_in(text), _LETTERS.findall(text)
    if len(names) != 1 or len(numbers) != 1 or len(letters) != 1 or letters[0] != LETTERS[: len(letters[0])]:
        raise Contradiction(f"a query with names {sorted(names)}, numbers {numbers} and letters {letters}")
    key = names.pop()
    moves = {start: read_move(records.texts[start]) for start in records.with_name(key) if start != without}
    used = tuple(sorted(moves, key=lambda start: moves[start].date))
    if len(used) > numbers[0] or len({move.date for move in moves.values()}) < len(used):
        raise Contradiction(f"{len(used)} operations for {numbers[0]}, or two of one date")

    def after(starts: Sequence[int]) -> str:
        row = letters[0]
        for start in sorted(starts, key=used.index):
            row = moved(row, moves[start].order)
        return row

    answer = after(used) if len(used) == numbers[0] else None
    return Solved(key, answer, used, used, arrangements(letters[0]), after)


@cache
def arrangements(letters: str) -> tuple[str, ...]:
    """All orders of so many letters, sorted."""
    return tuple(map("".join, permutations(letters)))


def _shown(text: str) -> tuple[str, ...]:
    order = read_move(text).order
    return (moved(LETTERS[: len(order)], order),)


MOVES = shares_law(solve_moves, _shown)
