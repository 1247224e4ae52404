"""Tables: rows of cells where the table holds data, blocks as they are where it lays out a page.

A table lays out when another table stands in it, when a cell holds a heading, code or over MAX_CELL_CHARS characters,
or when it has but one row or one column. A data table becomes one ROW a row: cells on one line each, bars escaped,
as many cells as the widest row has; `colspan` leaves empty cells, `rowspan` is not followed.
"""

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gristmill.stages.text.html_blocks import CODE, HEADING, ROW, Block, Medium, cell_text

MAX_CELL_CHARS = 1000
MAX_COLUMNS = 200
_LAYOUT = (CODE, HEADING, ROW)
_COLSPAN = re.compile(r'\scolspan="(\d{1,4})"')


@dataclass
class Table:
    """A table while its cells are read; `first` is its first block's index. A million rows cost a few bytes a cell."""

    first: int
    starts: "array[int]" = field(default_factory=lambda: array("q"))
    headers: bytearray = field(default_factory=bytearray)
    colspans: bytearray = field(default_factory=bytearray)
    rows: "array[int]" = field(default_factory=lambda: array("q"))
    nested: bool = False

    def open_row(self) -> None:
        """<tr>"""
        if not self.rows or self.rows[-1] < len(self.starts):
            self.rows.append(len(self.starts))

    def open_cell(self, start: int, is_header: bool, attrs: str) -> None:
        """<td> or <th> whose blocks begin at `start`."""
        if not self.rows:
            self.rows.append(0)
        found = _COLSPAN.search(attrs) if attrs else None
        self.starts.append(start)
        self.headers.append(is_header)
        self.colspans.append(min(max(int(found[1]), 1), MAX_COLUMNS) if found else 1)

    @property
    def first_cell(self) -> int:
        """Index of the first cell's first block: what comes before (a caption) is not of the grid."""
        return self.starts[0] if self.starts else self.first

    def rows_of(self, blocks: Sequence[Block]) -> list[Block] | None:
        """The table's blocks (from `first_cell` to the end) as rows; None where it lays out."""
        bounds = [*self.rows, len(self.starts)]
        widths = [sum(self.colspans[a:b]) for a, b in pairwise(bounds)]
        if self.nested or len(self.rows) < 2 or max(widths) < 2:
            return None
        if any(block.kind in _LAYOUT for block in blocks[self.first_cell :]):
            return None
        width = min(max(widths), MAX_COLUMNS)
        ends = array("q", [*self.starts[1:], len(blocks)])
        made: list[Block] = []
        for first, last in pairwise(bounds):
            row = self._row(range(first, last), ends, blocks, width)
            if row is None:
                return None
            if any(row.cells):
                made.append(row)
        return made

    def _row(self, cells: range, ends: Sequence[int], blocks: Sequence[Block], width: int) -> Block | None:
        """One row; None where a cell is as long as those of a layout."""
        texts: list[str] = []
        media: tuple[Medium, ...] = ()
        written = 0
        for cell in cells:
            part = blocks[self.starts[cell] : ends[cell]]
            text = cell_text(part)
            if len(text) > MAX_CELL_CHARS:
                return None
            texts.append(text)
            texts.extend([""] * (self.colspans[cell] - 1))
            written += sum(block.written for block in part) + text.count("\\|")
            for block in part:
                media += block.media
        texts = [*texts[:width], *[""] * (width - len(texts))]
        is_header = all(self.headers[cell] for cell in cells)
        return Block(ROW, "", is_header, 0, media, written, tuple(texts))
