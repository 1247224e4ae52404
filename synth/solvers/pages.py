"""Reads pages of print: letters of one width, by holding each cell against letters that were drawn here for that.

The letters of the face are drawn once a process for each advance, in the child of `render.svg`. A page is read with the
advance, the left edge and, line by line, the baseline at which what is drawn explains every cell: each must be nearly
its letter, so that nothing is guessed. Raises Contradiction where a line is not explained.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from gristmill.render.protocol import Rejected
from gristmill.render.svg.engines import DRAW, ask
from gristmill.render.svg.wire import Message
from gristmill.synth.solvers.pixels import Cover, Rgb, decode, ground_of
from gristmill.synth.solvers.words import Contradiction

LETTERS = " ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,:;!?'-()"
ADVANCES_PX = (12, 13)
EM_UNITS, ADVANCE_UNITS = 2048, 1233
MAX_OFF = 0.01
"""Mean squared difference of the cover of a cell from its letter: nearly 0 where the page is read as it was drawn."""
INK = 0.3
DOT_GAP_PX = 4
EDGES_TRIED = 6
FIRST_CELLS = 6
"""Looked at before a whole line is."""


class _Face(NamedTuple):
    """Letters of one advance: cover float64[letters, pixels] of cells of `rows` rows, of which `above` are over the
    baseline."""

    advance: int
    above: int
    rows: int
    letters: Cover


def text_of(page: Rgb) -> str:
    """The words of a page, lines joined by spaces."""
    cover = _cover(page)
    for advance, left in _edges(cover):
        lines = _lines(cover, _face(advance), left)
        if lines is not None:
            return " ".join(" ".join(lines).split())
    raise Contradiction("a page that is not of the known letters")


def _cover(page: Rgb) -> Cover:
    """How far each pixel is of the ink: the colour that is farthest from the ground."""
    away = page.astype(np.float64) - ground_of(page)
    far = np.abs(away).sum(axis=2)
    if far.max() < 1:
        raise Contradiction("an empty page")
    ink = away[np.unravel_index(int(far.argmax()), far.shape)]
    return np.clip(away @ ink / (ink @ ink), 0, 1)


def _edges(cover: Cover) -> list[tuple[int, int]]:
    """Advances, and where cells may begin, the likeliest first: letters have little ink at their edges."""
    first = int(np.flatnonzero(cover.max(axis=0) > INK)[0])
    sums = cover.sum(axis=0)

    def ink_at_edges(edge: tuple[int, int]) -> float:
        advance, left = edge
        return float(sums[left::advance].mean() + sums[left + advance - 1 :: advance].mean())

    found = [(advance, left) for advance in ADVANCES_PX for left in range(max(first - advance, 0), first + 1)]
    return sorted(found, key=ink_at_edges)[:EDGES_TRIED]


def _lines(cover: Cover, face: _Face, left: int) -> list[str] | None:
    """The lines; None where one of them is not explained."""
    found: list[str] = []
    for top, bottom in _bands(cover):
        tried = (_line(cover, face, left, baseline) for baseline in range(bottom, top, -1))
        line = next((line for line in tried if line is not None), None)
        if line is None:
            return None
        found.append(line)
    return found


def _bands(cover: Cover) -> list[tuple[int, int]]:
    """Rows [top, bottom) of each line; a few blank rows may part the dots of a line from its letters."""
    inked = (cover.max(axis=1) > INK).astype(np.int8)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], inked, [0])))).tolist()
    bands: list[tuple[int, int]] = []
    for top, bottom in zip(edges[::2], edges[1::2], strict=True):
        if bands and top - bands[-1][1] <= DOT_GAP_PX:
            bands[-1] = (bands[-1][0], bottom)
        else:
            bands.append((top, bottom))
    return bands


def _line(cover: Cover, face: _Face, left: int, baseline: int) -> str | None:
    """A line by its baseline; None where a cell is not nearly a letter."""
    top = baseline - face.above
    count = (cover.shape[1] - left) // face.advance
    if top < 0 or top + face.rows > cover.shape[0] or count < 1:
        return None
    strip = cover[top : top + face.rows, left : left + count * face.advance]
    cells = strip.reshape(face.rows, count, face.advance).swapaxes(0, 1).reshape(count, -1)
    if _nearest(cells[:FIRST_CELLS], face) is None:
        return None
    nearest = _nearest(cells, face)
    return None if nearest is None or not any(nearest) else "".join(LETTERS[n] for n in nearest).rstrip()


def _nearest(cells: Cover, face: _Face) -> list[int] | None:
    """The letter of each cell; None where one is not nearly any."""
    # Not by `@`: the threads of BLAS take ten times as long over so little where processors are busy.
    both = np.einsum("ij,kj->ik", cells, face.letters)
    off = (cells**2).sum(axis=1)[:, None] - 2 * both + (face.letters**2).sum(axis=1)[None, :]
    nearest = off.argmin(axis=1)
    far = off[np.arange(len(cells)), nearest].max() > MAX_OFF * cells.shape[1]
    return None if far else nearest.tolist()


@cache
def _face(advance: int) -> _Face:
    above, below = int(advance * 1.5), int(advance * 0.5)
    half = len(LETTERS) // 2
    rows = [_drawn(part, advance, above, below) for part in (LETTERS[:half], LETTERS[half:])]
    return _Face(advance, above, above + below, np.concatenate(rows))


def _drawn(letters: str, advance: int, above: int, below: int) -> Cover:
    width, height = advance * len(letters), above + below
    face = f'font-family="DejaVu Sans Mono" font-size="{advance * EM_UNITS / ADVANCE_UNITS:.4f}" fill="#000"'
    texts = "".join(f'<text x="{advance * n}" y="{above}">{c}</text>' for n, c in enumerate(letters) if c != " ")
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
        f'<rect width="{width}" height="{height}" fill="#fff"/><g {face}>{texts}</g></svg>'
    )
    try:
        shown = decode(
            ask(DRAW, Message({"what": "draw", "text": svg, "width": width, "height": height, "parts": []})).blob
        )
    except Rejected as error:
        raise Contradiction(f"letters cannot be drawn to compare with: {error}") from None
    cover = 1 - shown[..., 0].astype(np.float64) / 255
    return cover.reshape(height, len(letters), advance).swapaxes(0, 1).reshape(len(letters), -1)
