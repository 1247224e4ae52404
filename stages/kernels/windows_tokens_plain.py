"""The plain-Python twin of `windows_tokens`: places of tokens, words in their stead, edges moved out of words."""

from collections.abc import Sequence

from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, SOLO, WORD
from gristmill.stages.kernels.windows_units_plain import units
from gristmill.stages.kernels.words_plain import flags_of


def token_places(pieces: Sequence[bytes], text: bytes) -> list[tuple[int, int]] | None:
    """Start and stop of each token, given by the bytes that it stands for; None where they do not spell the text."""
    if pieces and pieces[0][:1] == b" " and text[:1] != b" ":
        pieces = [pieces[0][1:], *pieces[1:]]
    if b"".join(pieces) != text:
        return None
    stops = [sum(map(len, pieces[: n + 1])) for n in range(len(pieces))]
    return list(zip([0, *stops[:-1]], stops, strict=True)) if pieces else []


def word_places(text: str) -> list[tuple[int, int]]:
    """Start and stop of each unit, in bytes."""
    return [(len(text[: unit.start].encode()), len(text[: unit.stop].encode())) for unit in units(text)]


def snapped(edges: Sequence[int], text: str) -> list[int]:
    """The edges (bytes, ascending) of spans that touch one another, each moved to where no word or character goes on:
    the last one back, the others forward, none past the last."""
    free = [len(text[:at].encode()) for at in range(len(text) + 1) if not _is_inside(text, at)]
    first = min(next(at for at in free if at >= edges[0]), edges[-1])
    last = max([first, *(at for at in free if at <= edges[-1])])
    moved = [first]
    for edge in edges[1:-1]:
        moved.append(min(next(at for at in free if at >= max(edge, moved[-1])), last))
    return [*moved, last]


def _is_inside(text: str, at: int) -> bool:
    if at in (0, len(text)):
        return False
    flag = flags_of(text[at])
    if flag & ATTACHED:
        return True
    if flag & SOLO or not flag & (ALPHA | WORD):
        return False
    before = at - 1
    while before > 0 and flags_of(text[before]) & ATTACHED:
        before -= 1
    flag = flags_of(text[before])
    return not flag & ATTACHED and not flag & SOLO and bool(flag & (ALPHA | WORD))
