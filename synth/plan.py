"""Plans of sequences, from metadata alone: which documents, in which way permuted, with which banks of tasks.

In: the metadata of prepared documents (`atoms.Prepared`; the text is not looked at), what a record costs in this
tokenizer, and the parameters. Out: one `SequencePlan` a sequence; `materialise` makes its bytes anywhere. A plan
depends on no order of documents, no worker and no clock.

No document and no cluster of near duplicates stands twice in a sequence, and none in more than `max_uses` of them;
longer ones are drawn more often, in proportion to the square root of their length (reference 4.7). Documents are drawn
until they have RESERVE more tokens than the context, so that nothing is ever repeated to fill it. Where some of them
hold media, which cannot be cut, documents of text alone follow that can fill what the longest such atom leaves.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import isqrt

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.image_tokens import ImageCost
from gristmill.render.draws import Draws
from gristmill.synth.atoms import Prepared
from gristmill.synth.cuts import PASSAGE_TOKENS
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.grammar import Split
from gristmill.synth.hosts import HOST_TOKENS
from gristmill.synth.order import MODES, Mode
from gristmill.synth.protocol import WHOLE, Family, Size
from gristmill.synth.scenes import drawing

PLAN_VERSION = 2
MIN_CONTEXT = 8192
MILLION = 1 << 20
ALL = ("all",)
RESERVE_TOKENS = 512
RECORDS_FRAC = 0.13
"""Most that records may take of a sequence."""
PATHS_FRAC = 0.5
"""Most that all banks of paths may take of that, where other families are wanted too."""
PATH_TURNS = 4
"""So many banks of paths should fit: the largest is chosen that leaves room for the others, or else the smallest."""
LONG_PARTS, LONG_ATOM = 128, 4096
"""A document with a stretch of more than a 128th of the window (or so many tokens) that has no place for a record is
not drawn for tasks: a table of half a megabyte would leave a hole in the evidence."""
MISSES_BEFORE_SCAN = 32
LARGEST_PX = (448, 336)
"""Sides of the largest picture of a record: where the image cost makes it smaller, none is planted."""
CUT_CHOICE, CUT_SPARE, CUT_LOOK = 2, 2, 4
"""Of documents to take apart a plan names twice as many as needed and two more, the shortest of four times these."""
CUT_ATOM = 1024
"""Longest atom of such a document, in tokens."""
CUT_FRAC = 1 / 8
"""Most that one bank's passages may take of a sequence."""

DEFAULT_COST = ImageCost()
DEFAULT_MODES: Mapping[str, float] = {mode: 1.0 for mode in MODES}


@dataclass(frozen=True)
class SynthParams:
    """What is wanted. `context` tokens a sequence; `modes` weights; `tasks_per_million` for 2**20 tokens.

    `families` are names, or ALL: those that find room. `split`: which templates records and questions are worded with.
    `embedded_frac`: of records, of families that allow it, that stand beside a sentence of a document (`hosts`).
    `image_cost`: what pictures take, the same that documents were prepared with and rows are written for.
    """

    context: int
    sequences: int
    seed: int
    modes: Mapping[str, float] = field(default_factory=lambda: DEFAULT_MODES)
    families: tuple[str, ...] = ALL
    tasks_per_million: int = 400
    split: Split = "train"
    max_uses: int = 4
    embedded_frac: float = 0.5
    image_cost: ImageCost = DEFAULT_COST

    def __post_init__(self) -> None:
        if self.context < MIN_CONTEXT:
            raise UsageError("a window is too short for tasks", "synth.context", self.context, f"give {MIN_CONTEXT}")
        unknown = sorted(set(self.modes) - set(MODES))
        if unknown or not any(self.modes.values()) or min(self.modes.values()) < 0:
            remedy = f"give weights, not all 0, to some of {', '.join(MODES)}"
            raise UsageError("no such modes", "synth.modes", dict(self.modes), remedy)
        missing = [] if self.families == ALL else sorted(set(self.families) - set(FAMILIES))
        if missing:
            raise UsageError("no such family", "synth.families", missing[0], f"name some of {', '.join(FAMILIES)}")
        if min(self.sequences, self.tasks_per_million, self.max_uses) < 1:
            raise UsageError("out of range", "synth", None, "sequences, tasks_per_million and max_uses are at least 1")
        if not 0 <= self.embedded_frac <= 1:
            raise UsageError("out of range", "synth.embedded_frac", self.embedded_frac, "give 0 to 1")


@dataclass(frozen=True)
class Costs:
    """Tokens of a record and of a question with its answer, of each family: no less than the mean over templates."""

    record: Mapping[str, int]
    ask: Mapping[str, int]


@dataclass(frozen=True)
class BankPlan:
    """A bank to plant: `asked` questions of it."""

    family: str
    size: Size
    asked: int
    docs: tuple[int, ...] = ()
    """Of the sequence's documents, by their place in it, those that may be taken apart for it, more than it needs."""


@dataclass(frozen=True)
class SequencePlan:
    """Sequence `number`: documents by their index in content order, how often each was used before, and banks.

    Documents that banks may take apart are the last ones, and no filler.
    """

    number: int
    mode: Mode
    docs: tuple[int, ...]
    uses: tuple[int, ...]
    banks: tuple[BankPlan, ...]


def content_order(documents: Sequence[Prepared]) -> list[Prepared]:
    """The order that plans count documents in: by content hash, then id."""
    return sorted(documents, key=lambda d: (d.source.content_hash, d.source.id))


def make_plans(params: SynthParams, documents: Sequence[Prepared], costs: Costs) -> list[SequencePlan]:
    """A plan for each sequence; `documents` in content order.

    Raises UsageError where a family that is named finds no room, InputError where there are too few documents.
    """
    without = skipped(params, documents)
    if params.families != ALL and without:
        name, why = min(without.items())
        raise UsageError("a family of tasks cannot be made here", "synth.families", name, why)
    pool = _Pool(documents, params)
    used: Counter[str] = Counter()
    plans: list[SequencePlan] = []
    for number, mode in enumerate(mode_turns(params.modes, params.sequences)):
        draws = Draws("synth plan", PLAN_VERSION, params.seed, params.context, number)
        longest = max(params.context // LONG_PARTS, LONG_ATOM) if mode == "task" else None
        banks = plan_banks(params, costs, used, frozenset(without)) if mode == "task" else ()
        needed, hosts = params.context + RESERVE_TOKENS, embedded_facts(params, banks) * HOST_TOKENS
        docs = pool.draw(needed, hosts, longest, draws.child("documents"))
        docs, banks = _with_cuts(params, pool, docs, banks, draws.child("cuts"))
        uses = tuple(pool.use(doc) for doc in docs)
        used.update({bank.family for bank in banks})
        plans.append(SequencePlan(number, mode, docs, uses, banks))
    return plans


def skipped(params: SynthParams, documents: Sequence[Prepared]) -> dict[str, str]:
    """Families that cannot be planted, and why: those with pictures where none can be drawn, where the image cost would
    make them too small to read, or, unless they are named, where no document has any."""
    pictured = sorted(name for name, family in FAMILIES.items() if family.pictured)
    wanted = [name for name in pictured if params.families == ALL or name in params.families]
    if not wanted:
        return {}
    if params.families == ALL and not any(doc.media for doc in documents):
        return dict.fromkeys(wanted, "the documents hold no pictures")
    if params.image_cost.resized(*LARGEST_PX) != LARGEST_PX:
        reason = f"an image cost of at most {params.image_cost.max_tokens} tokens makes pictures too small to read"
        return dict.fromkeys(wanted, reason)
    lacking = drawing.absent()
    return dict.fromkeys(wanted, lacking) if lacking else {}


def _with_cuts(
    params: SynthParams, pool: "_Pool", docs: tuple[int, ...], banks: Sequence[BankPlan], draws: Draws
) -> tuple[tuple[int, ...], tuple[BankPlan, ...]]:
    """Documents for the banks that take some apart, behind the others; a bank without enough of them is left out.

    Raises InputError where its family is named.
    """
    kept: list[BankPlan] = []
    for bank in banks:
        cuts = FAMILIES[bank.family].cuts
        if cuts is None:
            kept.append(bank)
            continue
        wanted = cuts.documents(bank.size)
        more = pool.short(wanted * CUT_CHOICE + CUT_SPARE, cuts.parts(bank.size), docs, draws)
        if len(more) >= wanted:
            kept.append(replace(bank, docs=tuple(range(len(docs), len(docs) + len(more)))))
            docs = (*docs, *more)
        elif params.families != ALL:
            raise InputError(
                "too few documents to take apart",
                where="synth.families",
                value=f"{len(more)} for {bank.family}, {wanted} needed",
                remedy="give more documents of several paragraphs, or do not name the family",
            )
    return docs, tuple(kept)


def mode_turns(modes: Mapping[str, float], sequences: int) -> list[Mode]:
    """The mode of each sequence: always the one that is furthest behind its share, `task` where several are."""
    total = sum(modes.values())
    given = dict.fromkeys(MODES, 0)
    turns: list[Mode] = []
    for number in range(1, sequences + 1):
        owing = [(modes.get(m, 0.0) / total * number - given[m], MODES.index(m)) for m in MODES if modes.get(m)]
        turns.append(MODES[max(owing)[1]])
        given[turns[-1]] += 1
    return turns


class _Pool:
    """Documents to draw from."""

    def __init__(self, documents: Sequence[Prepared], params: SynthParams) -> None:
        self._totals = [doc.total for doc in documents]
        self._clusters = [doc.source.cluster for doc in documents]
        self._longest = [max(doc.tokens) for doc in documents]
        self._atoms = [len(doc.tokens) for doc in documents]
        self._plain = [not any(doc.media_by_atom()) for doc in documents]
        self._uncut = [doc.uncut for doc in documents]
        self._longest_uncut = params.context // 2
        self._uses = [0] * len(documents)
        self._max_uses = params.max_uses
        self._sums = list(accumulate(isqrt(total) for total in self._totals))

    def use(self, doc: int) -> int:
        """How often it was used before; it is used once more."""
        self._uses[doc] += 1
        return self._uses[doc] - 1

    def draw(self, needed: int, hosts: int, longest: int | None, draws: Draws) -> tuple[int, ...]:
        """Documents with at least `needed` tokens, and `hosts` more if there are, in random order, none with an atom
        of more than `longest`."""
        tokens = needed + hosts
        fits = [
            (longest is None or most <= longest) and uncut <= self._longest_uncut
            for most, uncut in zip(self._longest, self._uncut, strict=True)
        ]
        chosen: list[int] = []
        clusters: set[bytes] = set()
        have = misses = 0
        while have < tokens and misses < MISSES_BEFORE_SCAN and self._sums:
            doc = bisect_right(self._sums, draws.integer(0, self._sums[-1]))
            if fits[doc] and self._free(doc, clusters):
                misses, have = 0, have + self._take(doc, chosen, clusters)
            else:
                misses += 1
        if have < tokens:
            for doc in draws.shuffled(range(len(self._totals))):
                if have < tokens and fits[doc] and self._free(doc, clusters):
                    have += self._take(doc, chosen, clusters)
        if have < needed:
            raise InputError(
                "too few documents for a sequence",
                where="synth",
                value=f"{have} tokens that it may hold, {needed} needed",
                remedy="give more documents, fewer or shorter sequences, or a higher max_uses; none is ever repeated",
            )
        left = max(self._uncut[doc] for doc in chosen) and RESERVE_TOKENS + max(self._uncut[doc] for doc in chosen)
        for doc in draws.shuffled(range(len(self._totals))) if left else ():
            if left > 0 and not self._uncut[doc] and fits[doc] and self._free(doc, clusters):
                left -= self._take(doc, chosen, clusters)
        return tuple(chosen)

    def short(self, wanted: int, atoms: int, docs: Sequence[int], draws: Draws) -> tuple[int, ...]:
        """Up to so many documents beside `docs`, of as many atoms at least, without media, the short ones first."""
        clusters, chosen = {self._clusters[doc] for doc in docs}, list[int]()
        fits = [doc for doc in range(len(self._totals)) if self._atoms[doc] >= atoms and self._plain[doc]]
        for doc in sorted(draws.shuffled(fits)[: wanted * CUT_LOOK], key=lambda doc: (self._totals[doc], doc)):
            if len(chosen) < wanted and self._longest[doc] <= CUT_ATOM and self._free(doc, clusters):
                self._take(doc, chosen, clusters)
        return tuple(chosen)

    def _free(self, doc: int, clusters: set[bytes]) -> bool:
        return self._uses[doc] < self._max_uses and self._clusters[doc] not in clusters

    def _take(self, doc: int, chosen: list[int], clusters: set[bytes]) -> int:
        chosen.append(doc)
        clusters.add(self._clusters[doc])
        return self._totals[doc]


def embedded_facts(params: SynthParams, banks: Sequence[BankPlan]) -> int:
    """How many records of these banks stand beside a sentence, about."""
    facts = sum(bank.size.facts for bank in banks if FAMILIES[bank.family].embeds)
    return round(params.embedded_frac * facts)


def plan_banks(
    params: SynthParams, costs: Costs, used: Mapping[str, int], without: frozenset[str] = frozenset()
) -> tuple[BankPlan, ...]:
    """The banks of a sequence of this context: one of paths a family while there is room, the others for the rest.

    Families that do not all find room take turns: those come first that were `used` in fewer sequences before.
    `without`: those of all that are left out.
    Raises UsageError where a named family, or any at all, finds no room.
    """
    names = set(FAMILIES) - without if params.families == ALL else set(params.families)
    chosen = [FAMILIES[name] for name in sorted(names, key=lambda name: (used.get(name, 0), name))]
    paths, others = [f for f in chosen if f.law in WHOLE], [f for f in chosen if f.law not in WHOLE]
    wanted = max(1, round(params.tasks_per_million * params.context / MILLION))
    room = int(params.context * RECORDS_FRAC)
    turns = PATH_TURNS if params.families == ALL else len(paths)
    banks = _path_banks(
        paths, int(room * PATHS_FRAC) if others else room, turns, wanted, costs, int(params.context * CUT_FRAC)
    )
    room -= sum(bank.size.facts * costs.record[bank.family] for bank in banks)
    wanted -= sum(bank.asked for bank in banks)
    banks += _other_banks(others, room, wanted, costs)
    absent = [f.name for f in chosen if f.name not in {bank.family for bank in banks}]
    if not banks or (absent and params.families != ALL):
        raise UsageError(
            "a family of tasks finds no room",
            where="synth.families",
            value=", ".join(absent),
            remedy="raise context or tasks_per_million, or do not name it",
        )
    return tuple(banks)


def _path_banks(
    families: Sequence[Family], room: int, turns: int, wanted: int, costs: Costs, longest: int
) -> list[BankPlan]:
    """A bank of each family that fits and is asked often enough to be worth its records; `longest`: its passages."""
    banks: list[BankPlan] = []
    share = room // max(turns, 1)
    for family in families:
        sizes = [s for s in family.sizes if s.asked <= wanted and s.facts * costs.record[family.name] <= room]
        sizes = [s for s in sizes if _passages(family, s) <= longest]
        size = next((s for s in sizes if s.facts * costs.record[family.name] <= share), sizes[-1] if sizes else None)
        if size is not None:
            banks.append(BankPlan(family.name, size, size.asked))
            room, wanted = room - size.facts * costs.record[family.name], wanted - size.asked
    return banks


def _passages(family: Family, size: Size) -> int:
    """Tokens that its passages take, about."""
    return family.cuts.documents(size) * family.cuts.parts(size) * PASSAGE_TOKENS if family.cuts else 0


def _other_banks(families: Sequence[Family], room: int, wanted: int, costs: Costs) -> list[BankPlan]:
    """Families in turn, the hardest size that leaves room for the rest, until all are asked or the room is full."""
    banks: list[BankPlan] = []
    at = misses = 0
    while wanted > 0 and misses < len(families):
        family = families[at % len(families)]
        sizes = [_asking(size, wanted) for size in family.sizes]
        share, cost = room / wanted, costs.record[family.name]
        size = next((s for s in sizes if s.facts * cost <= share * s.asked), sizes[-1])
        at, misses = at + 1, misses + 1
        if size.facts * cost <= room:
            banks.append(BankPlan(family.name, size, size.asked))
            room, wanted, misses = room - size.facts * cost, wanted - size.asked, 0
    return banks


def _asking(size: Size, wanted: int) -> Size:
    """The size with no more chains than for `wanted` questions, and one that nobody asks about."""
    asked = min(size.asked, wanted)
    return replace(size, chains=min(size.chains, asked + 1), asked=asked)
