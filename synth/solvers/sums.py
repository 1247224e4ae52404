"""Reference solver of sums: the numbers of all records with a name, from the text of records and of the query.

It knows no template: the name in the query, the numbers in each record that has this name, and the words that announce
a modulus or a revision tell all. None where the records do not settle the answer, being fewer than the query counts
on; Contradiction where they or the query say too much.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gristmill.synth.solvers.asking import Law, Records
from gristmill.synth.solvers.kinds import group_of, kinds
from gristmill.synth.solvers.sharing import Solved, Values, shares_law
from gristmill.synth.solvers.words import NAME_PATTERN, Contradiction, names_in, numbers_in

_MODULUS = re.compile(r"(?:modulo|division by|remainder by|dial of) (\d{1,9})(?!\d)")
_REVISION = re.compile(r"revision\W{1,2}(\d{1,9})(?!\d)")

_GIVER = re.compile(rf"\bfrom\W{{1,3}}({NAME_PATTERN})")
_TAKER = re.compile(rf"\bto\W{{1,3}}({NAME_PATTERN})")
_WORD = re.compile(r"[a-z]+")

MAX_MODULUS = 10_000


class SumQuery(NamedTuple):
    """What was booked under `name`, `entries` times, modulo `modulus`."""

    name: str
    entries: int
    modulus: int


class Entry(NamedTuple):
    """What a record adds, with its sign; no two of a sum have the same `label`, None: it has none."""

    number: int
    label: int | None = None


@dataclass(frozen=True)
class SumReader:
    """How queries and records are read. entry: None for a record that has the name and is not added.

    Both raise Contradiction.
    """

    query: Callable[[str], SumQuery]
    entry: Callable[[str, SumQuery, str], Entry | None]


def read_modulus(text: str) -> int:
    """The one modulus of a query. Raises Contradiction."""
    moduli = [int(m) for m in _MODULUS.findall(text)]
    if len(moduli) != 1 or not 2 <= moduli[0] <= MAX_MODULUS:
        raise Contradiction(f"a query modulo {moduli}")
    return moduli[0]


def read_sum_query(text: str) -> SumQuery:
    """Raises Contradiction where it has not one name, one modulus and one count."""
    names, modulus, numbers = set(names_in(text)), read_modulus(text), numbers_in(text)
    if len(names) != 1 or len(numbers) != 2 or modulus not in numbers:
        raise Contradiction(f"a query with names {sorted(names)}, modulus {modulus} and numbers {numbers}")
    numbers.remove(modulus)
    return SumQuery(names.pop(), numbers[0], modulus)


def read_revision_query(text: str) -> SumQuery:
    """As `read_sum_query`; the count is announced as a revision."""
    query = read_sum_query(text)
    if [int(m) for m in _REVISION.findall(text)] != [query.entries]:
        raise Contradiction("a query without its revision")
    return query


def read_entry(text: str) -> int:
    """The number of a record. Raises Contradiction."""
    numbers = numbers_in(text)
    if len(numbers) != 1:
        raise Contradiction(f"a record with numbers {numbers}")
    return numbers[0]


def read_change(text: str) -> tuple[int, int]:
    """(revision, number) of a record. Raises Contradiction."""
    numbers, found = numbers_in(text), [int(m) for m in _REVISION.findall(text)]
    if len(found) != 1 or found[0] not in numbers or len(numbers) != 2:
        raise Contradiction(f"a record with revisions {found} and numbers {numbers}")
    numbers.remove(found[0])
    return found[0], numbers[0]


def read_transfer(text: str) -> tuple[str, str, int]:
    """(who gives, who takes, how much) of a record. Raises Contradiction."""
    givers, takers, names = _GIVER.findall(text), _TAKER.findall(text), names_in(text)
    if sorted((*givers, *takers)) != sorted(names) or len(givers) != 1 or len(takers) != 1:
        raise Contradiction(f"a record with names {names}, from {givers} to {takers}")
    return givers[0], takers[0], read_entry(text)


def read_group(text: str) -> str:
    """The one group of goods that the lower-case words of a query name. Raises Contradiction."""
    found = set(_WORD.findall(text)) & set(kinds())
    if len(found) != 1:
        raise Contradiction(f"a query about goods {sorted(found)}")
    return found.pop()


def read_goods(text: str) -> str:
    """The group that the goods of a record belong to. Raises Contradiction."""
    found = [word for word in _WORD.findall(text) if word in group_of()]
    if len(found) != 1:
        raise Contradiction(f"a record with goods {found}")
    return group_of()[found[0]]


def solve_sum(reader: SumReader, text: str, records: Records, without: int = -1) -> Solved:
    """The answer from the records of the query's name."""
    query = reader.query(text)
    found: dict[int, Entry] = {}
    for start in records.with_name(query.name):
        entry = reader.entry(text, query, records.texts[start])
        if entry is not None and start != without:
            found[start] = entry
    labels = [entry.label for entry in found.values() if entry.label is not None]
    if len(found) > query.entries or len(set(labels)) < len(labels):
        raise Contradiction(f"{len(found)} records for {query.entries} entries, labels {labels}")

    def total(starts: Sequence[int]) -> str:
        return str(sum(found[start].number for start in starts) % query.modulus)

    used = tuple(found)
    answer = total(used) if len(used) == query.entries else None
    return Solved(query.name, answer, used, used, tuple(map(str, range(query.modulus))), total)


def sums_law(reader: SumReader, values: Values) -> Law:
    """The law of sums that are read so."""
    return shares_law(lambda text, records, without: solve_sum(reader, text, records, without), values)


def _entry(text: str, query: SumQuery, record: str) -> Entry:
    return Entry(read_entry(record))


def _change(text: str, query: SumQuery, record: str) -> Entry | None:
    revision, number = read_change(record)
    return Entry(number, revision) if revision <= query.entries else None


def _transfer(text: str, query: SumQuery, record: str) -> Entry:
    giver, _, number = read_transfer(record)
    return Entry(-number if giver == query.name else number)


def _delivery(text: str, query: SumQuery, record: str) -> Entry | None:
    return Entry(read_entry(record)) if read_goods(record) == read_group(text) else None


def _number(text: str) -> tuple[str, ...]:
    return (str(read_entry(text)),)


DELIVERIES = sums_law(SumReader(read_sum_query, _delivery), _number)
TRANSFERS = sums_law(SumReader(read_sum_query, _transfer), _number)
ENTRIES = sums_law(SumReader(read_sum_query, _entry), _number)
REVISIONS = sums_law(SumReader(read_revision_query, _change), lambda text: (str(read_change(text)[1]),))
