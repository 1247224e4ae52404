"""Cheap ways to answer that must stay at chance, and the gate that holds them to it.

A cheater sees the texts of a row's records in their order, the query and the candidates, and never which records are
evidence. None is a solver: each takes a short cut that a careless generator would reward. The gate is two-sided: a
cheater that is right less often than chance has found something too (what is *not* the answer). Reference 2.5.

In: `Puzzle`s (`puzzles` makes them from a `Reading`); out: `Score` for each cheater and family.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

from gristmill.synth.solvers.asking import Records, View
from gristmill.synth.solvers.laws import LAWS
from gristmill.synth.solvers.reading import Reading
from gristmill.synth.solvers.records import read_records, record_pieces
from gristmill.synth.solvers.words import names_in

SIGMAS = 3.0
MIN_TASKS = 2000
"""Fewer tasks of a family than this are no gate, but an indication."""
LAST_FRAC = 1 / 16


class Seen(NamedTuple):
    """A record: the token where it begins, its text, its names, and the candidates that it mentions."""

    start: int
    text: str
    names: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True)
class Puzzle:
    """What a cheater sees, and what it should have said.

    records: those of the bank in front of the query; view: what its law makes of them.
    """

    family: str
    query: str
    records: tuple[Seen, ...]
    view: View
    answer: str
    query_start: int
    context: int

    @property
    def key(self) -> str:
        """The name that the query asks about."""
        return self.view.key

    @property
    def candidates(self) -> tuple[str, ...]:
        """The answers that there can be."""
        return self.view.candidates


@dataclass(frozen=True)
class Score:
    """How often a cheater was right: `hits` of `tasks`, `expected` by chance, `sigma` what chance makes it stray."""

    family: str
    cheater: str
    tasks: int
    hits: int
    expected: float
    sigma: float

    @property
    def deviation(self) -> float:
        """In sigmas."""
        return (self.hits - self.expected) / self.sigma if self.sigma else 0.0

    @property
    def at_chance(self) -> bool:
        """Whether it is as good as a guess, and no worse."""
        return abs(self.deviation) <= SIGMAS


def puzzles(reading: Reading) -> list[Puzzle]:
    """Puzzles for each task of a row; records are those of its bank: evidence and distractors, and no labels."""
    pieces = {piece.span[0]: piece for piece in record_pieces(reading)}
    banks: dict[tuple[int, ...], Records] = {}
    out: list[Puzzle] = []
    for task in reading.tasks:
        query = reading.piece(task["query_start"], task["query_end"])
        bank = tuple(sorted({part["start"] for part in (*task["evidence"], *task["distractors"])}))
        if bank not in banks:
            banks[bank] = read_records(reading, [pieces[start] for start in bank if start in pieces])
        for view in LAWS[task["family"]].look(query, banks[bank], task["answer"]):
            records = _shown(banks[bank], view, task["query_start"])
            place = (task["query_start"], reading.context)
            out.append(Puzzle(task["family"], query, records, view, view.answer, *place))
    return out


def _shown(bank: Records, view: View, query_start: int) -> tuple[Seen, ...]:
    """The records in front of the query but for the one that is hidden."""
    return tuple(
        Seen(start, text, tuple(names_in(text)), view.values[start])
        for start, text in bank.texts.items()
        if start < query_start and start != view.hidden
    )


Cheater = Callable[[Puzzle], str]


def _guess(puzzle: Puzzle, salt: str = "") -> str:
    """A candidate that has nothing to do with the answer: what a cheater says when its short cut leads nowhere."""
    return puzzle.candidates[zlib.crc32((puzzle.query + salt).encode()) % len(puzzle.candidates)]


def question_only(puzzle: Puzzle) -> str:
    """A candidate by the query's text alone."""
    return _guess(puzzle, "question")


def by_place(puzzle: Puzzle) -> str:
    """A candidate by how far into the row the query stands."""
    return puzzle.candidates[puzzle.query_start * len(puzzle.candidates) // puzzle.context]


def _first_value(puzzle: Puzzle, records: Iterable[Seen]) -> str:
    return next((value for seen in records for value in seen.values), _guess(puzzle))


def latest_with_key(puzzle: Puzzle) -> str:
    """The value in the last record that has the key, or the next behind it."""
    with_key = [i for i, seen in enumerate(puzzle.records) if puzzle.key in seen.names]
    return _first_value(puzzle, puzzle.records[with_key[-1] :] if with_key else ())


def first_with_key(puzzle: Puzzle) -> str:
    """The value in the first record that has the key, or the next behind it."""
    with_key = [i for i, seen in enumerate(puzzle.records) if puzzle.key in seen.names]
    return _first_value(puzzle, puzzle.records[with_key[0] :] if with_key else ())


def nearest_to_query(puzzle: Puzzle) -> str:
    """The value of the last record in front of the query that has one."""
    return _first_value(puzzle, reversed(puzzle.records))


def earliest(puzzle: Puzzle) -> str:
    """The value of the first record that has one."""
    return _first_value(puzzle, puzzle.records)


def most_frequent(puzzle: Puzzle) -> str:
    """The candidate that records mention most, one of several by chance."""
    counts = Counter(value for seen in puzzle.records for value in seen.values)
    return min(counts, key=lambda v: (-counts[v], _salted(v, puzzle))) if counts else _guess(puzzle)


def never_mentioned(puzzle: Puzzle) -> str:
    """A candidate that no record mentions, else the one that is mentioned least."""
    counts = Counter(value for seen in puzzle.records for value in seen.values)
    return min(puzzle.candidates, key=lambda v: (counts.get(v, 0), _salted(v, puzzle)))


def _salted(value: str, puzzle: Puzzle) -> int:
    return zlib.crc32((value + puzzle.query).encode())


def best_match(puzzle: Puzzle) -> str:
    """The value of the record that shares the rarest words with the query, as BM25 weighs them; the last of several."""
    words = [set(seen.text.lower().split()) for seen in puzzle.records]
    counts = Counter(word for own in words for word in own)
    asked = set(puzzle.query.lower().replace("?", " ").split())
    weights = [sum(log(1 + len(words) / counts[w]) for w in own & asked) for own in words]
    order = sorted(range(len(words)), key=lambda i: (-weights[i], -i))
    return _first_value(puzzle, (puzzle.records[i] for i in order))


def last_window(puzzle: Puzzle) -> str:
    """A reader of the last sixteenth: combines the shares that it sees, or takes the last end of a path in it."""
    edge = puzzle.query_start - int(LAST_FRAC * puzzle.context)
    if puzzle.view.combine is not None:
        own = [start for start in puzzle.view.shares if start >= edge]
        return puzzle.view.combine(own) if own else _guess(puzzle)
    return _first_value(puzzle, reversed([seen for seen in puzzle.records if seen.start >= edge]))


def all_but_one(puzzle: Puzzle) -> str:
    """Combines all shares but the first; for paths, follows the key one row and takes the next end."""
    if puzzle.view.combine is not None:
        return puzzle.view.combine(puzzle.view.shares[1:])
    own = [seen for seen in puzzle.records if puzzle.key in seen.names]
    names = {name for seen in own for name in seen.names} - {puzzle.key}
    return _first_value(puzzle, (s for s in puzzle.records if s not in own and names & set(s.names)))


CHEATERS: Mapping[str, Cheater] = {
    cheater.__name__: cheater
    for cheater in (
        question_only,
        by_place,
        latest_with_key,
        first_with_key,
        nearest_to_query,
        earliest,
        most_frequent,
        never_mentioned,
        best_match,
        last_window,
        all_but_one,
    )
}


def scores(given: Sequence[Puzzle]) -> list[Score]:
    """Of every cheater on every family."""
    out: list[Score] = []
    for family in sorted({puzzle.family for puzzle in given}):
        own = [puzzle for puzzle in given if puzzle.family == family]
        chances = [1 / len(puzzle.candidates) for puzzle in own]
        expected = sum(chances)
        sigma = sqrt(sum(p * (1 - p) for p in chances))
        for name, cheater in CHEATERS.items():
            if name in LAWS[family].solved_by:
                continue
            hits = sum(cheater(puzzle) == puzzle.answer for puzzle in own)
            out.append(Score(family, name, len(own), hits, expected, sigma))
    return out
