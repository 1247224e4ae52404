"""Sequences from documents: plan, materialise, prove, and only then a row.

Every row that `build` gives has been read back and proved by `solvers.prove`; one that fails is raised as `Discarded`
with its reason, so that whoever calls can count it. `solvers.verify` does it again from the row alone. The bytes of
the pictures and videos that a row shows come with it (`Built.media`), for a writer of media shards to store once.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.manifests.tokenizer import Tokenizer
from gristmill.manifests.trainer_schema import TrainerFormat
from gristmill.render.draws import Draws
from gristmill.synth import grammar, materialise
from gristmill.synth.atoms import Prepared, encode
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.materialise import Discarded
from gristmill.synth.media import Shown, check_format
from gristmill.synth.plan import Costs, SequencePlan, SynthParams, content_order, make_plans, skipped
from gristmill.synth.plant import Chain, record_text
from gristmill.synth.protocol import Family
from gristmill.synth.rows import to_row
from gristmill.synth.solvers import asking, prove
from gristmill.synth.solvers.asking import Unproved
from gristmill.synth.solvers.reading import read_row

REASONS: Mapping[str, str] = {
    **materialise.REASONS,
    **asking.REASONS,
    "unasked": "a window knows too much of a question, which was left out; the sequence was not",
}
"""Every reason why a planned sequence is discarded, and why a question is."""
MAX_UNASKED = 16
"""Of a sequence."""

_COST_STRIDE = 5


def measure_costs(tokenizer: Tokenizer, cost: ImageCost | None = None, without: Collection[str] = ()) -> Costs:
    """What records and questions of each family cost in this tokenizer: the mean over every fifth template, rounded up.

    Decided by the tokenizer and the cost of pictures alone. Names and numbers are drawn as those of banks are.
    `without`: families that are not asked about.
    """
    chosen = {name: family for name, family in FAMILIES.items() if name not in without}
    pictures = {name: _picture_tokens(family, cost or ImageCost()) for name, family in chosen.items()}
    record = {name: _mean(_records(family), tokenizer) + pictures[name] for name, family in chosen.items()}
    ask = {name: _mean(_asks(family), tokenizer) for name, family in chosen.items()}
    return Costs(record, ask)


def _mean(texts: Sequence[str], tokenizer: Tokenizer) -> int:
    return -(-sum(map(len, encode(texts, tokenizer))) // len(texts))


def _records(family: Family) -> list[str]:
    draws, size = Draws("synth costs", family.name), family.sizes[-1]
    bank = family.build(size, _names(family.names_needed(size), draws), draws)
    numbers = range(0, grammar.record_templates(family.wording), _COST_STRIDE)
    facts = [draws.pick(bank.facts) for _ in numbers]
    both = zip(facts, numbers, strict=True)
    templates = [grammar.record_template(fact.wording or family.wording, number) for fact, number in both]
    texts = [(grammar.fill(t, f.slots, draws), f) for t, f in zip(templates, facts, strict=True)]
    return [record_text(text, fact, draws).replace(MEDIUM_CHAR, "") for text, fact in texts]


def _picture_tokens(family: Family, cost: ImageCost) -> int:
    """Of a record of the smallest bank, the mean, rounded up."""
    draws, size = Draws("synth costs", family.name), family.sizes[-1]
    facts = family.build(size, _names(family.names_needed(size), draws), draws).facts if family.pictured else ()
    tokens = [cost.image_tokens(f.drawing.width, f.drawing.height) for f in facts if f.drawing is not None]
    return -(-sum(tokens) // len(facts)) if facts else 0


def _asks(family: Family) -> list[str]:
    draws, size = Draws("synth costs", family.name), family.sizes[-1]
    bank = family.build(size, _names(family.names_needed(size), draws), draws)
    question = bank.questions[0]
    templates = (grammar.ask_template(family.wording, number) for number in range(grammar.ASK_TEMPLATES))
    return [f"{grammar.fill(t, question.slots, draws)}\n{question.answer}\n\n" for t in templates]


def _names(count: int, draws: Draws) -> list[str]:
    from gristmill.synth.lexicon import names

    return names(draws, count, lambda _: set())


def plans(params: SynthParams, documents: Sequence[Prepared], tokenizer: Tokenizer) -> list[SequencePlan]:
    """Plans over these documents, in any order. Raises as `make_plans`."""
    return make_plans(params, content_order(documents), _costs(params, documents, tokenizer))


def _costs(params: SynthParams, documents: Sequence[Prepared], tokenizer: Tokenizer) -> Costs:
    return measure_costs(tokenizer, params.image_cost, skipped(params, documents))


@dataclass(frozen=True)
class Built:
    """A proved row, and each medium that it shows by its sha256. unasked: questions that were left out of it."""

    row: pa.RecordBatch
    media: Mapping[bytes, Shown]
    unasked: int = 0


def build_with_media(
    plan: SequencePlan, params: SynthParams, documents: Sequence[Prepared], tokenizer: Tokenizer, form: TrainerFormat
) -> Built:
    """The proved row of a plan and its media; `documents` in content order.

    A question of which a window knows too much is not asked: the sequence is made again without it.
    Raises Discarded, and UsageError where the format counts pictures by another cost than `params`.
    """
    unasked: set[Chain] = set()
    while True:
        material = materialise.materialise(plan, params, documents, tokenizer, frozenset(unasked))
        media = material.media()
        check_format(media, params.image_cost, form)
        draft = to_row(material, form, params.split)
        shown = {sha: one.data for sha, one in media.items()}
        try:
            proofs = prove.prove(read_row(draft, tokenizer, shown), tokenizer)
        except Unproved as error:
            if error.reason != "epsilon" or len(unasked) == MAX_UNASKED or len(material.planted.tasks) == 1:
                raise Discarded(error.reason, error.detail) from None
            asked = material.planted.tasks[error.task]
            unasked.add((asked.bank, asked.chain))
        else:
            return Built(to_row(material, form, params.split, proofs), media, len(unasked))


def build(
    plan: SequencePlan, params: SynthParams, documents: Sequence[Prepared], tokenizer: Tokenizer, form: TrainerFormat
) -> pa.RecordBatch:
    """The row alone of `build_with_media`."""
    return build_with_media(plan, params, documents, tokenizer, form).row


def build_all_with_media(
    params: SynthParams,
    documents: Sequence[Prepared],
    tokenizer: Tokenizer,
    form: TrainerFormat,
    counted: dict[str, int],
) -> Iterator[Built]:
    """The rows of all plans in order; `counted` takes how many were discarded for which reason, and `unasked`."""
    ordered = content_order(documents)
    for plan in make_plans(params, ordered, _costs(params, documents, tokenizer)):
        try:
            built = build_with_media(plan, params, ordered, tokenizer, form)
            counted.update({"unasked": counted.get("unasked", 0) + built.unasked} if built.unasked else {})
            yield built
        except Discarded as discarded:
            counted[discarded.reason] = counted.get(discarded.reason, 0) + 1


def build_all(
    params: SynthParams,
    documents: Sequence[Prepared],
    tokenizer: Tokenizer,
    form: TrainerFormat,
    counted: dict[str, int],
) -> Iterator[pa.RecordBatch]:
    """The rows alone of `build_all_with_media`."""
    return (built.row for built in build_all_with_media(params, documents, tokenizer, form, counted))
