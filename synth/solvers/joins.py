"""How rows of joins are read as `trails.Edge`: tables with columns, and citations.

Tables: a record has a key and cells, "Column = Value"; the query names a start and, between commas, the columns to go
through. Citations: a record tells which reference a passage of a paper has, which treatise a reference of a paper is,
or which figure a treatise gives; the query names a passage and its paper.
"""

import re
from collections.abc import Sequence

from gristmill.synth.solvers.following import PathQuery, PathReader
from gristmill.synth.solvers.trails import Edge, follow, starts
from gristmill.synth.solvers.walks import read_path_query
from gristmill.synth.solvers.words import NAME_PATTERN, Contradiction, names_in, numbers_in

_CELL = re.compile(rf"({NAME_PATTERN}) = ({NAME_PATTERN})")
_PASSAGE = re.compile(rf"\bthe passage on ({NAME_PATTERN}) in ({NAME_PATTERN})")
_REFERENCE = re.compile(r"\breference \[(\d{1,3})\]")
_LISTED = re.compile(rf"\breference \[\d{{1,3}}\] in ({NAME_PATTERN})")
_TREATISE = re.compile(rf"\bthe treatise ({NAME_PATTERN})")
_FIGURE = re.compile(r"\bthe figure (\d{4})(?!\d)")


def read_columns(text: str) -> PathQuery:
    """A start and columns; as many steps as these. Raises Contradiction."""
    query = read_path_query(True, text)
    return query._replace(steps=len(query.tables))


def read_cells(query: PathQuery, text: str) -> Edge:
    """Raises Contradiction where a record has not one key and one of the columns of the query."""
    names, cells = names_in(text), _CELL.findall(text)
    inside = [name for cell in cells for name in cell]
    keys = list(names)
    for name in inside:
        keys.remove(name)
    asked = [value for column, value in cells if column in query.tables]
    if len(cells) != 2 or len(keys) != 1 or len(asked) != 1:
        raise Contradiction(f"a record with keys {keys} and cells {cells}")
    return Edge(keys[0], asked[0])


def read_passage(text: str) -> PathQuery:
    """Raises Contradiction where a query names not one passage."""
    found = _PASSAGE.findall(text)
    if len(found) != 1 or sorted(found[0]) != sorted(names_in(text)) or numbers_in(text):
        raise Contradiction(f"a query with passages {found}")
    topic, paper = found[0]
    return PathQuery(topic, (paper,))


def read_citation(query: PathQuery, text: str) -> Edge:
    """One of the three kinds of records. Raises Contradiction."""
    passages, marks, lists = _PASSAGE.findall(text), _REFERENCE.findall(text), _LISTED.findall(text)
    works, figures = _TREATISE.findall(text), _FIGURE.findall(text)
    kinds = tuple(map(len, (passages, marks, lists, works, figures)))
    if kinds == (1, 1, 0, 0, 0) and passages[0][1] in query.tables:
        return Edge(passages[0][0], f"[{marks[0]}]")
    if kinds == (0, 1, 1, 1, 0) and lists[0] in query.tables:
        return Edge(f"[{marks[0]}]", works[0])
    if kinds == (0, 0, 0, 1, 1):
        return Edge(works[0], figures[0])
    raise Contradiction(f"a record with passages {passages}, references {marks}, treatises {works}, figures {figures}")


def _all_cells(query: PathQuery, texts: Sequence[str]) -> list[Edge]:
    return [read_cells(query, text) for text in texts]


def _citations(query: PathQuery, texts: Sequence[str]) -> list[Edge]:
    return [read_citation(query, text) for text in texts]


COLUMNS = PathReader(read_columns, _all_cells, follow, starts)
CITATIONS = PathReader(read_passage, _citations, follow, starts)
