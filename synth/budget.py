"""Exactly as many tokens as there is room for: which atoms of the drawn documents a sequence takes.

Documents are taken in the order of the plan until the room is full; of the last one, atoms from its start, and of the
atom that does not fit as much as does, cut between words. An atom with media is never cut: what it leaves is filled by
the next documents of the plan. What cannot be filled is padding, at most MAX_PAD tokens.
Nothing is encoded again but that one atom, some ten times.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.manifests.tokenizer import Tokenizer
from gristmill.synth.atoms import Prepared, encode

MAX_PAD = 256

_SPACE = re.compile(r"(?<=\S)\s")


@dataclass(frozen=True)
class Taken:
    """The first `atoms` atoms of a document and then `cut`, the beginning of the next one; "" for nothing."""

    doc: int
    atoms: int
    cut: str = ""


def take(documents: Sequence[Prepared], overhead: Sequence[int], room: int, tokenizer: Tokenizer) -> list[Taken]:
    """What fills `room` tokens; document i costs overhead[i] beside its atoms. Documents that are not reached are left.

    The last document is taken even where only part of it fits, unless nothing of it does.
    """
    taken: list[Taken] = []
    for index, (doc, extra) in enumerate(zip(documents, overhead, strict=True)):
        if doc.total + extra <= room:
            taken.append(Taken(index, len(doc.tokens)))
            room -= doc.total + extra
            continue
        last = _part(index, doc, room - extra, tokenizer)
        taken += [last] if last.atoms or last.cut else []
        if not _stops_at_media(doc, last):
            break
        room -= sum(doc.tokens[: last.atoms]) + extra if last.atoms else 0
    return taken


def _stops_at_media(doc: Prepared, last: Taken) -> bool:
    return MEDIUM_CHAR in doc.atom(last.atoms)


def _part(index: int, doc: Prepared, room: int, tokenizer: Tokenizer) -> Taken:
    atoms = 0
    while atoms < len(doc.tokens) and doc.tokens[atoms] <= room:
        room -= doc.tokens[atoms]
        atoms += 1
    if room <= 0 or MEDIUM_CHAR in doc.atom(atoms):
        return Taken(index, atoms)
    return Taken(index, atoms, longest_fit(doc.atom(atoms), room, tokenizer))


def longest_fit(text: str, room: int, tokenizer: Tokenizer) -> str:
    """The longest beginning of at most `room` tokens that ends between words, with a blank line behind; "" for none.

    A text with few spaces is cut between any characters. Found by bisection: a longer beginning has hardly ever fewer
    tokens, and one that is too long is never given.
    """
    places = [match.start() for match in _SPACE.finditer(text)]
    if len(places) * MAX_PAD < len(text):
        places = list(range(1, len(text)))
    low, high, best = 0, len(places) - 1, ""
    while low <= high:
        middle = (low + high) // 2
        tried = text[: places[middle]].rstrip() + "\n\n"
        if len(encode([tried], tokenizer)[0]) <= room:
            low, best = middle + 1, tried
        else:
            high = middle - 1
    return best
