"""A plan made into a sequence: the same ids wherever and by however many it is made.

In: a `SequencePlan`, the documents that it names (in content order), a tokenizer; out: a `Material` of exactly
`context` ids but for at most MAX_PAD of padding. Raises `Discarded` where the sequence cannot be as planned; the
reasons are REASONS.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gristmill.manifests.tokenizer import Tokenizer
from gristmill.render.draws import Draws
from gristmill.synth.atoms import Prepared, encode, encode_shown
from gristmill.synth.budget import MAX_PAD, Taken, take
from gristmill.synth.cuts import NoPassages
from gristmill.synth.hosts import take_hosts
from gristmill.synth.layout import (
    Filler,
    Stretch,
    Ties,
    draw_ties,
    encode_filler,
    filler_stretches,
    with_planted,
)
from gristmill.synth.media import Bits, Shown, length
from gristmill.synth.order import KNOT_PARTS, Mode
from gristmill.synth.plan import RESERVE_TOKENS, SequencePlan, SynthParams, embedded_facts
from gristmill.synth.plant import Chain, Manner, Planted, plant

MATERIAL_VERSION = 2

REASONS: Mapping[str, str] = {
    "padding": f"more than {MAX_PAD} tokens could not be filled",
    "over_budget": "what was planted leaves no room for documents",
    "no_passages": "too few documents can be taken apart for a task of passages",
}
"""Why a planned sequence is discarded; `prove` has more."""


class Discarded(Exception):
    """A planned sequence that does not come to be."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class Material:
    """A sequence before it is a row."""

    plan: SequencePlan
    filler: Filler
    planted: Planted
    piece_bits: tuple[Bits, ...]
    stretches: tuple[Stretch, ...]
    n_tokens: int
    """Valid ids, the last end-of-sequence id included."""
    hosts: tuple[tuple[Prepared, int], ...] = ()
    """Documents whose sentences stand in records, with how often each was used before; they are not in `plan`."""

    def media(self) -> dict[bytes, Shown]:
        """Every medium of the sequence, by its sha256."""
        return {s.shown.medium.sha256: s.shown for s in self.stretches if s.shown is not None}


def materialise(
    plan: SequencePlan,
    params: SynthParams,
    documents: Sequence[Prepared],
    tokenizer: Tokenizer,
    unasked: frozenset[Chain] = frozenset(),
) -> Material:
    """The sequence of a plan, without the questions `unasked`. Raises Discarded."""
    draws = Draws("synth", MATERIAL_VERSION, params.seed, params.context, plan.number)
    drawn = [documents[doc] for doc in plan.docs]
    planted = Planted((), ())
    hosts: tuple[tuple[Prepared, int], ...] = ()
    if plan.banks:
        texts = [doc.text.encode() for doc in drawn]
        whole = len(drawn) - sum(len(bank.docs) for bank in plan.banks)
        wanted, least = embedded_facts(params, plan.banks), params.context + RESERVE_TOKENS
        used, sentences = take_hosts(drawn[:whole], wanted, least) if wanted else (frozenset(), [])
        manner = Manner(params.split, params.embedded_frac, tuple(sentences), unasked)
        try:
            planted = plant(plan.banks, texts, manner, draws.child("plant"), drawn)
        except NoPassages as error:
            raise Discarded("no_passages", str(error)) from None
        plan, drawn, hosts = _without(plan, drawn, used)
    texts, media = [piece.text for piece in planted.pieces], [piece.media for piece in planted.pieces]
    piece_bits = tuple(encode_shown(texts, media, tokenizer, params.image_cost))
    ties, overhead = _ties(plan.mode, drawn, tokenizer, draws.child("ties"))
    ends = 0 if plan.mode == "concat" else 1
    room = params.context - ends - sum(map(length, piece_bits))
    if room <= MAX_PAD:
        raise Discarded("over_budget", f"{params.context - room} of {params.context} tokens are planted")
    whole = len(drawn) - sum(len(bank.docs) for bank in plan.banks)
    apart = sorted({piece.cut.doc for piece in planted.pieces if piece.cut is not None})
    taken = take(drawn[:whole], overhead[:whole], room, tokenizer)
    homes = {doc: len(taken) + number for number, doc in enumerate(apart)}
    taken += [Taken(doc - len(hosts), 0) for doc in apart]
    filler = encode_filler(drawn, taken, ties, tokenizer, params.image_cost)
    stretches = filler_stretches(plan.mode, filler, tokenizer, draws.child("order"))
    if planted.pieces:
        stretches = with_planted(stretches, planted, piece_bits, homes)
    n_tokens = sum(len(stretch.ids) for stretch in stretches) + ends
    if params.context - n_tokens > MAX_PAD:
        raise Discarded("padding", f"{params.context - n_tokens} tokens")
    return Material(plan, filler, planted, piece_bits, tuple(stretches), n_tokens, hosts)


def _without(
    plan: SequencePlan, drawn: Sequence[Prepared], used: frozenset[int]
) -> tuple[SequencePlan, list[Prepared], tuple[tuple[Prepared, int], ...]]:
    """The plan and its documents without those that are hosts, and these."""
    left = [i for i in range(len(drawn)) if i not in used]
    rest = replace(plan, docs=tuple(plan.docs[i] for i in left), uses=tuple(plan.uses[i] for i in left))
    return rest, [drawn[i] for i in left], tuple((drawn[i], plan.uses[i]) for i in sorted(used))


def _ties(
    mode: Mode, documents: Sequence[Prepared], tokenizer: Tokenizer, draws: Draws
) -> tuple[list[Ties], list[int]]:
    """Ties of each document (none but in knot mode), and what each costs beside its atoms."""
    if mode != "knot":
        return [], [1 if mode == "concat" else 0] * len(documents)
    counts = [min(draws.pick(KNOT_PARTS), len(doc.tokens)) for doc in documents]
    ties = draw_ties(counts, draws)
    costs = [len(ids) for ids in encode([text for tie in ties for text in (*tie.ends, *tie.heads)], tokenizer)]
    overhead: list[int] = []
    at = 0
    for tie in ties:
        size = len(tie.ends) + len(tie.heads)
        overhead.append(sum(costs[at : at + size]))
        at += size
    return ties, overhead
