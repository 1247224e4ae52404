"""Reference solver of paths: `table_chain`, `variable_chain`, `alias_hop`, from the text of records and of the query.

A path needs no direction: each name stands in the row that leads to it and in the one that leads on. Rows of a table
chain are found by table and name, those of the others by the name alone, the row that led there left out. The answer
is the number that ends the path, or the name behind the last table. None where a row is missing; Contradiction where
two would do.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from gristmill.synth.solvers.following import PathQuery, PathReader
from gristmill.synth.solvers.words import Contradiction, names_in, numbers_in


class Row(NamedTuple):
    """A record: its two or three names in order, and the number that it ends a path with, "" for none."""

    names: tuple[str, ...]
    number: str


def read_path_query(by_table: bool, text: str) -> PathQuery:
    """Raises Contradiction where it has not one start, or no list of tables where it should."""
    names = names_in(text)
    if not by_table:
        if len(names) != 1:
            raise Contradiction(f"a query with names {names}")
        return PathQuery(names[0], ())
    tables = tuple(name for name in names if _in_list(name, names, text))
    others = [name for name in names if name not in tables]
    if len(others) != 1 or len(tables) < 2:
        raise Contradiction(f"a query with starts {others} and tables {list(tables)}")
    return PathQuery(others[0], tables)


def _in_list(name: str, names: Sequence[str], text: str) -> bool:
    """Whether a comma and a space alone stand between it and another name."""
    return any(f"{name}, {other}" in text or f"{other}, {name}" in text for other in names if other != name)


def read_row(by_table: bool, text: str) -> Row:
    """Raises Contradiction where a record has not as many names, or not one number where it ends a path."""
    names = tuple(names_in(text))
    numbers = numbers_in(text)
    if by_table:
        if len(set(names)) != 3 or len(names) != 3 or numbers:
            raise Contradiction(f"a record with names {names} and numbers {numbers}")
        return Row(names, "")
    if (len(names), len(numbers)) not in ((2, 0), (1, 1)) or len(set(names)) < len(names):
        raise Contradiction(f"a record with names {names} and numbers {numbers}")
    return Row(names, str(numbers[0]) if numbers else "")


def read_rows(by_table: bool, query: PathQuery, texts: Sequence[str]) -> list[Row]:
    """All rows of a bank."""
    return [read_row(by_table, text) for text in texts]


def walk(query: PathQuery, rows: Sequence[Row], without: int = -1) -> tuple[str | None, list[int]]:
    """(answer, indices of the rows that lead to it); the answer is None where one is missing. `without` is not seen."""
    by_name: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        for name in row.names:
            by_name.setdefault(name, []).append(index)
    here, path = query.start, list[int]()
    for table in query.tables or _forever(len(rows) + 1):
        found = [i for i in by_name.get(here, ()) if i != without and i not in path and (table in ("", *rows[i].names))]
        if len(found) > 1:
            raise Contradiction(f"{len(found)} records lead on from {here}")
        if not found:
            return None, path
        path.append(found[0])
        row = rows[found[0]]
        if row.number:
            return row.number, path
        (here,) = (name for name in row.names if name not in (here, table))
    return here, path


def _forever(rows: int) -> tuple[str, ...]:
    """No table, for as many steps as there can be."""
    return ("",) * rows


def starts(query: PathQuery, rows: Sequence[Row]) -> list[str]:
    """Names that stand once and begin a path: in the first table, where there are tables; elsewhere none ends one."""
    counts = Counter(name for row in rows for name in row.names)
    first = {name for row in rows for name in row.names if not query.tables or query.tables[0] in row.names}
    return sorted(name for name in first if counts[name] == 1)


LINKS, TABLES = (
    PathReader(partial(read_path_query, by_table), partial(read_rows, by_table), walk, starts)
    for by_table in (False, True)
)
