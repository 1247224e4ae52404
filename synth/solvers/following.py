"""The laws of paths: rows of injective maps that are followed from a start.

A reader (`PathReader`) turns the records of a bank into rows and walks them. Proved: the walk from the start of the
query ends in the answer, by the stored evidence in its order; without any one of its rows it ends nowhere; evidence
and distractors are the paths of a bank, as many as there are ends, of one length, whose names stand in no other
records; and epsilon of each window (`windows.PathBank`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from gristmill.synth.solvers.asking import Asked, Found, Law, Records, Seen, Unproved, View
from gristmill.synth.solvers.reading import Reading
from gristmill.synth.solvers.windows import WINDOW_PARTS, PathBank
from gristmill.synth.solvers.words import names_in, numbers_in

R = TypeVar("R")


class PathQuery(NamedTuple):
    """Where to start; what else all questions of a bank have alike: tables in their order, and how many steps to go.

    () and 0 where rows have no tables, and a path is followed until it ends.
    """

    start: str
    tables: tuple[str, ...] = ()
    steps: int = 0


@dataclass(frozen=True)
class PathReader(Generic[R]):
    """How queries and rows of a family are read; all of these raise Contradiction.

    walk: (answer, rows that lead to it) of a query, the answer None where a row is missing, as if one row (-1: none)
    were not there; starts: where else the query could begin, its own start among them. `spare`: rows of a bank may
    belong to no path. foreign: whether a record of no bank that has its names could be one of these all the same.
    """

    query: Callable[[str], PathQuery]
    rows: Callable[[PathQuery, Sequence[str]], Sequence[R]]
    walk: Callable[[PathQuery, Sequence[R], int], tuple[str | None, list[int]]]
    starts: Callable[[PathQuery, Sequence[R]], list[str]]
    spare: bool = False
    foreign: Callable[[str], bool] | None = None


@dataclass(frozen=True)
class _Paths(Generic[R]):
    """A bank of paths as read: its rows, the rows of each chain, the candidates, and what windows know of it."""

    rows: Sequence[R]
    chains: tuple[tuple[int, ...], ...]
    ends: tuple[str, ...]
    counted: PathBank


def paths_law(reader: PathReader[R]) -> Law:
    """The law of a reader."""

    def prove(seen: Seen, asked: Asked) -> Found:
        query, bank = reader.query(asked.query), asked.bank
        known = (asked.family, bank, query.tables, query.steps)
        if known not in seen.records.memo:
            seen.records.memo[known] = _read_bank(reader, seen, asked, query)
        paths: _Paths[R] = seen.records.memo[known]
        path = _followed(reader, query, asked, paths)
        own, earlier = paths.chains.index(path), _earlier(seen.reading, asked)
        windows = (seen.reading.context // parts for parts in WINDOW_PARTS)
        return Found(paths.ends, tuple(paths.counted.epsilon(own, earlier, window) for window in windows))

    def look(query: str, records: Records, answer: str) -> tuple[View, ...]:
        asked = reader.query(query)
        known = ("view", asked.tables, asked.steps)
        if known not in records.memo:
            records.memo[known] = _ends(reader, asked, records)
        ends, values = records.memo[known]
        return (View(asked.start, ends, values, answer),)

    def solve(query: str, records: Records) -> str | None:
        asked = reader.query(query)
        return reader.walk(asked, reader.rows(asked, list(records.texts.values())), -1)[0]

    return Law(prove, look, solve)


def _ends(
    reader: PathReader[R], query: PathQuery, records: Records
) -> tuple[tuple[str, ...], dict[int, tuple[str, ...]]]:
    """What paths of a bank end in, and which of these each record mentions."""
    rows = reader.rows(query, list(records.texts.values()))
    found = (reader.walk(query._replace(start=start), rows, -1)[0] for start in reader.starts(query, rows))
    ends = tuple(sorted({end for end in found if end is not None}))
    known = frozenset(ends)
    words = {start: (*names_in(text), *map(str, numbers_in(text))) for start, text in records.texts.items()}
    return ends, {start: tuple(word for word in own if word in known) for start, own in words.items()}


def _followed(reader: PathReader[R], query: PathQuery, asked: Asked, paths: _Paths[R]) -> tuple[int, ...]:
    """The rows of the path that is asked for."""
    bank = asked.bank
    found, path = reader.walk(query, paths.rows, -1)
    if found != asked.answer or tuple(bank[i] for i in path) != asked.evidence:
        raise Unproved("unsolved", f"the solver finds {found!r} by {len(path)} records", asked.index)
    for row in path:
        if reader.walk(query, paths.rows, row)[0] is not None:
            raise Unproved("not_necessary", f"the record at {bank[row][0]}", asked.index)
    if tuple(path) not in paths.chains:
        raise Unproved("claims", "a path that begins where none of its bank does", asked.index)
    return tuple(path)


def _read_bank(reader: PathReader[R], seen: Seen, asked: Asked, query: PathQuery) -> _Paths[R]:
    """The paths of a bank: disjoint, of one length, with an end each; its names stand nowhere else."""
    bank = asked.bank
    texts = [seen.records.texts[start] for start, _ in bank]
    rows = reader.rows(query, texts)
    own = {start for start, _ in bank}
    if any(not seen.records.named[name] <= own for text in texts for name in names_in(text)):
        raise Unproved("leak", "a name of the bank stands in records of another", asked.index)
    if reader.foreign and any(reader.foreign(text) for at, text in seen.records.texts.items() if at not in own):
        raise Unproved("leak", "a record of another bank may be meant", asked.index)
    found = [reader.walk(query._replace(start=start), rows, -1) for start in reader.starts(query, rows)]
    chains = tuple(tuple(path) for end, path in found if end is not None)
    ends = tuple(sorted({end for end, _ in found if end is not None}))
    used = sorted(i for chain in chains for i in chain)
    whole = len(set(used)) == len(used) if reader.spare else used == list(range(len(rows)))
    if not whole or len({len(c) for c in chains}) != 1 or len(ends) < len(chains):
        raise Unproved("claims", "evidence and distractors are not the paths of a bank", asked.index)
    at = np.array([[bank[chain[hop]] for chain in chains] for hop in range(len(chains[0]))], np.int64)
    return _Paths(rows, chains, ends, PathBank(at[..., 0], at[..., 1]))


def _earlier(reading: Reading, asked: Asked) -> int:
    """How many questions of the bank are answered in front of this one."""
    task, spans = reading.tasks[asked.index], set(asked.bank)
    return sum(
        other["family"] == task["family"]
        and (other["answer_end"] or 0) <= task["query_start"]
        and any((e["start"], e["end"]) in spans for e in other["evidence"] or ())
        for other in reading.tasks
    )
