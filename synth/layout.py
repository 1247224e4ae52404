"""The stretches of a sequence in their order, as text and ids: atoms, ties, planted pieces, ends of documents.

Pieces stand at atoms' joins: one with place p in [0, 1) goes to the first join that has at least the share p of the
filler's tokens in front of it. In concat mode the end-of-sequence id follows each document; elsewhere documents
are mixed and it stands once, behind everything.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal

import numpy as np

from gristmill.manifests.tokenizer import Tokenizer
from gristmill.render.draws import Draws
from gristmill.synth.atoms import Ids, Prepared, encode
from gristmill.synth.budget import Taken
from gristmill.synth.order import Mode, order
from gristmill.synth.plant import Planted

Kind = Literal["text", "code", "marker", "record", "query", "answer", "separator"]

TIE_BITS = 24


@dataclass(frozen=True)
class Stretch:
    """Some ids of one kind. doc: which taken document, -1 for what was planted or ties; offset: tokens of it before.

    piece: which planted piece, -1 for none.
    """

    kind: Kind
    ids: Ids
    doc: int = -1
    offset: int = 0
    piece: int = -1


@dataclass(frozen=True)
class Ties:
    """How a document in several parts says so: `ends[i]` behind part i, `heads[i]` in front of part i + 1."""

    ends: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()


def draw_ties(parts: Sequence[int], draws: Draws) -> list[Ties]:
    """Ties for documents of so many parts; each names a section that no other names."""
    used: set[int] = set()
    out: list[Ties] = []
    for count in parts:
        names: list[str] = []
        while len(names) < count - 1:
            section = draws.integer(0, 1 << TIE_BITS)
            if section not in used:
                used.add(section)
                names.append(f"{section:06x}")
        ends = tuple(f"(This text goes on in section {name}.)\n\n" for name in names)
        out.append(Ties(ends, tuple(f"(Section {name}, which goes on from before.)\n\n" for name in names)))
    return out


@dataclass(frozen=True)
class Filler:
    """What a sequence is filled with: taken documents with the ids of their atoms, and their ties.

    atoms[d][i]: ids of atom i of taken document d, a cut one last.
    """

    documents: tuple[Prepared, ...]
    taken: tuple[Taken, ...]
    atoms: tuple[tuple[Ids, ...], ...]
    ties: tuple[Ties, ...] = field(default=())


def encode_filler(
    documents: Sequence[Prepared], taken: Sequence[Taken], ties: Sequence[Ties], tokenizer: Tokenizer
) -> Filler:
    """The filler with its ids; `documents` and `ties` as the plan has them."""
    chosen = tuple(documents[t.doc] for t in taken)
    texts = [[d.atom(i) for i in range(t.atoms)] + [t.cut] * bool(t.cut) for d, t in zip(chosen, taken, strict=True)]
    ids = iter(encode([text for own in texts for text in own], tokenizer))
    atoms = tuple(tuple(next(ids) for _ in own) for own in texts)
    return Filler(chosen, tuple(taken), atoms, tuple(ties[t.doc] for t in taken) if ties else ())


def filler_stretches(mode: Mode, filler: Filler, tokenizer: Tokenizer, draws: Draws) -> list[Stretch]:
    """Atoms and ties in the order of the mode, without what is planted; in concat mode with ends of documents."""
    counts = [[len(ids) for ids in own] for own in filler.atoms]
    knots = [len(ties.ends) + 1 for ties in filler.ties] or [1] * len(counts)
    parts = order(mode, counts, knots, draws)
    eos = np.array([tokenizer.identity.eos_id], np.uint32)
    before = [[0, *accumulate(own)] for own in counts]
    seen = [0] * len(counts)
    ids_of = _marker_ids(filler, tokenizer)
    out: list[Stretch] = []
    marked = 0
    for part in parts:
        number, seen[part.doc] = seen[part.doc], seen[part.doc] + 1
        ties = filler.ties[part.doc] if filler.ties else Ties()
        for text in ties.heads[number - 1 : number] if number else ():
            out.append(Stretch("marker", ids_of[text], offset=marked))
            marked += len(ids_of[text])
        kind: Kind = "code" if filler.documents[part.doc].source.domain == "code" else "text"
        for i in range(part.first, part.stop):
            out.append(Stretch(kind, filler.atoms[part.doc][i], part.doc, before[part.doc][i]))
        for text in ties.ends[number : number + 1] if part.stop < len(counts[part.doc]) else ():
            out.append(Stretch("marker", ids_of[text], offset=marked))
            marked += len(ids_of[text])
        if mode == "concat":
            out.append(Stretch("separator", eos, part.doc, before[part.doc][-1]))
    return out


def _marker_ids(filler: Filler, tokenizer: Tokenizer) -> dict[str, Ids]:
    """Ids of each tie; no two have the same text."""
    texts = [text for ties in filler.ties for text in (*ties.ends, *ties.heads)]
    return dict(zip(texts, encode(texts, tokenizer), strict=True))


def with_planted(filler: Sequence[Stretch], planted: Planted, ids: Sequence[Ids]) -> list[Stretch]:
    """The filler with the pieces in their places; ids[i] are those of piece i."""
    joins = [0, *accumulate(len(stretch.ids) for stretch in filler)]
    at_join: list[list[int]] = [[] for _ in joins]
    for index in sorted(range(len(planted.pieces)), key=lambda i: (planted.pieces[i].at, i)):
        at_join[bisect_left(joins, planted.pieces[index].at * joins[-1])].append(index)
    out: list[Stretch] = []
    offset = 0
    for join, here in enumerate(at_join):
        for index in here:
            out.append(Stretch(planted.pieces[index].kind, ids[index], offset=offset, piece=index))
            offset += len(ids[index])
        out += filler[join : join + 1]
    return out
