"""The stretches of a sequence in their order, as text and ids: atoms, ties, planted pieces, ends of documents.

An atom with media is several stretches, of which all but the first are `joined`: nothing may stand in front of these.
Pieces stand at atoms' joins: one with place p in [0, 1) goes to the first join that has at least the share p of the
filler's tokens in front of it. In concat mode the end-of-sequence id follows each document; elsewhere documents
are mixed and it stands once, behind everything.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Literal

import numpy as np

from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.tokenizer import Tokenizer
from gristmill.render.draws import Draws
from gristmill.synth.atoms import Ids, Prepared, encode, encode_shown
from gristmill.synth.budget import Taken
from gristmill.synth.media import Bits, Shown, length
from gristmill.synth.order import Mode, order
from gristmill.synth.plant import Planted

Kind = Literal["text", "code", "image", "video", "marker", "record", "query", "answer", "separator"]

TIE_BITS = 24


@dataclass(frozen=True)
class Stretch:
    """Some ids of one kind. doc: which taken document, -1 for what was planted or ties; offset: tokens of it before.

    piece: which planted piece, -1 for none. shown: the medium of this place.
    """

    kind: Kind
    ids: Ids
    doc: int = -1
    offset: int = 0
    piece: int = -1
    shown: Shown | None = None
    joined: bool = False


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

    atoms[d][i]: ids and media of atom i of taken document d, a cut one last.
    """

    documents: tuple[Prepared, ...]
    taken: tuple[Taken, ...]
    atoms: tuple[tuple[Bits, ...], ...]
    ties: tuple[Ties, ...] = field(default=())


def encode_filler(
    documents: Sequence[Prepared], taken: Sequence[Taken], ties: Sequence[Ties], tokenizer: Tokenizer, cost: ImageCost
) -> Filler:
    """The filler with its ids; `documents` and `ties` as the plan has them."""
    chosen = tuple(documents[t.doc] for t in taken)
    texts = [[d.atom(i) for i in range(t.atoms)] + [t.cut] * bool(t.cut) for d, t in zip(chosen, taken, strict=True)]
    media = [(*d.media_by_atom()[: t.atoms], *[()] * bool(t.cut)) for d, t in zip(chosen, taken, strict=True)]
    flat = [text for own in texts for text in own], [shown for own in media for shown in own]
    bits = iter(encode_shown(*flat, tokenizer, cost))
    atoms = tuple(tuple(next(bits) for _ in own) for own in texts)
    return Filler(chosen, tuple(taken), atoms, tuple(ties[t.doc] for t in taken) if ties else ())


def filler_stretches(mode: Mode, filler: Filler, tokenizer: Tokenizer, draws: Draws) -> list[Stretch]:
    """Atoms and ties in the order of the mode, without what is planted; in concat mode with ends of documents."""
    counts = [[length(bits) for bits in own] for own in filler.atoms]
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
            first = Stretch(kind, eos, part.doc, before[part.doc][i])
            out += in_stretches(filler.atoms[part.doc][i], first)
        for text in ties.ends[number : number + 1] if part.stop < len(counts[part.doc]) else ():
            out.append(Stretch("marker", ids_of[text], offset=marked))
            marked += len(ids_of[text])
        if mode == "concat":
            out.append(Stretch("separator", eos, part.doc, before[part.doc][-1]))
    return out


def in_stretches(bits: Bits, like: Stretch) -> list[Stretch]:
    """Text and media in turn, with the kind (of text), document, offset and piece of `like`."""
    out: list[Stretch] = []
    offset = like.offset
    for bit in bits:
        kind: Kind = like.kind if bit.shown is None else "video" if bit.shown.medium.kind == "video" else "image"
        out.append(replace(like, kind=kind, ids=bit.ids, offset=offset, shown=bit.shown, joined=bool(out)))
        offset += len(bit.ids)
    return out


def _marker_ids(filler: Filler, tokenizer: Tokenizer) -> dict[str, Ids]:
    """Ids of each tie; no two have the same text."""
    texts = [text for ties in filler.ties for text in (*ties.ends, *ties.heads)]
    return dict(zip(texts, encode(texts, tokenizer), strict=True))


def with_planted(
    filler: Sequence[Stretch], planted: Planted, bits: Sequence[Bits], docs: Mapping[int, int]
) -> list[Stretch]:
    """The filler with the pieces in their places; bits[i] are the ids and media of piece i.

    docs: which taken document stands at a place of the plan.
    """
    before = [0, *accumulate(len(stretch.ids) for stretch in filler)]
    joins = [at for at in range(len(before)) if at == len(filler) or not filler[at].joined]
    places = [before[at] for at in joins]
    at_join: dict[int, list[int]] = {}
    for index in sorted(range(len(planted.pieces)), key=lambda i: (planted.pieces[i].at, i)):
        join = joins[bisect_left(places, planted.pieces[index].at * before[-1])]
        at_join.setdefault(join, []).append(index)
    out: list[Stretch] = []
    offset = 0
    for join in range(len(before)):
        for index in at_join.get(join, ()):
            piece = planted.pieces[index]
            like = Stretch(piece.kind, filler[0].ids, offset=offset, piece=index)
            if piece.cut is not None:
                like = replace(like, doc=docs[piece.cut.doc], offset=piece.cut.before)
            else:
                offset += length(bits[index])
            out += in_stretches(bits[index], like)
        out += filler[join : join + 1]
    return out
