"""Reference solver of sums: `share_sum` and `version_track`, from the text of records and of the query.

It knows no template: the name in the query, the numbers in each record that has this name, and the words that announce
a modulus or a revision tell all. None where the records do not settle the answer, being fewer than the query counts
on; Contradiction where they or the query say too much.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gristmill.synth.solvers.words import names_in, numbers_in

_MODULUS = re.compile(r"(?:modulo|division by|remainder by|dial of) (\d{1,9})(?!\d)")
_REVISION = re.compile(r"revision\W{1,2}(\d{1,9})(?!\d)")

MAX_MODULUS = 10_000


class Contradiction(Exception):
    """Records or a query that cannot be read in one way."""


class SumQuery(NamedTuple):
    """What was booked under `name`, `entries` times, modulo `modulus`; numbered from 1 where `by_revision`."""

    name: str
    entries: int
    modulus: int
    by_revision: bool


def read_sum_query(text: str, by_revision: bool) -> SumQuery:
    """Raises Contradiction where it has not one name, one modulus and one count."""
    names = set(names_in(text))
    moduli = [int(m) for m in _MODULUS.findall(text)]
    numbers = numbers_in(text)
    if len(names) != 1 or len(moduli) != 1 or len(numbers) != 2:
        raise Contradiction(f"a query with names {sorted(names)}, moduli {moduli} and numbers {numbers}")
    if not 2 <= moduli[0] <= MAX_MODULUS or moduli[0] not in numbers:
        raise Contradiction(f"a query modulo {moduli[0]}")
    numbers.remove(moduli[0])
    if by_revision and [int(m) for m in _REVISION.findall(text)] != numbers:
        raise Contradiction("a query without its revision")
    return SumQuery(names.pop(), numbers[0], moduli[0], by_revision)


def read_entry(text: str, by_revision: bool) -> tuple[int, int]:
    """(revision, number) of a record; revision 0 where there are none. Raises Contradiction."""
    numbers = numbers_in(text)
    revision = 0
    if by_revision:
        found = [int(m) for m in _REVISION.findall(text)]
        if len(found) != 1:
            raise Contradiction(f"a record with revisions {found}")
        revision = found[0]
        if revision not in numbers:
            raise Contradiction(f"a record whose revision {revision} is no number")
        numbers.remove(revision)
    if len(numbers) != 1:
        raise Contradiction(f"a record with numbers {numbers}")
    return revision, numbers[0]


def needed(query: SumQuery, records: Sequence[str]) -> list[int]:
    """Indices of the records that are added up: those of the name, up to the revision where there is one."""
    own = [index for index, text in enumerate(records) if query.name in names_in(text)]
    if not query.by_revision:
        return own
    return [index for index in own if read_entry(records[index], True)[0] <= query.entries]


def solve_sum(query: SumQuery, records: Sequence[str]) -> str | None:
    """The answer from the records of this name (others may be among them)."""
    entries = [read_entry(records[index], query.by_revision) for index in needed(query, records)]
    if len(entries) > query.entries:
        raise Contradiction(f"{len(entries)} records for {query.entries} entries")
    if query.by_revision and len({revision for revision, _ in entries}) < len(entries):
        raise Contradiction("two records of one revision")
    if len(entries) < query.entries:
        return None
    return str(sum(value for _, value in entries) % query.modulus)
