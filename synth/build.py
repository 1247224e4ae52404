"""Sequences from documents: plan, materialise, prove, and only then a row.

Every row that `build` gives has been read back and proved by `solvers.prove`; one that fails is raised as `Discarded`
with its reason, so that whoever calls can count it. `solvers.verify` does it again from the row alone.
"""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from gristmill.manifests.tokenizer import Tokenizer
from gristmill.manifests.trainer_schema import TrainerFormat
from gristmill.render.draws import Draws
from gristmill.synth import grammar, materialise
from gristmill.synth.atoms import Prepared, encode
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.materialise import Discarded
from gristmill.synth.plan import Costs, SequencePlan, SynthParams, content_order, make_plans
from gristmill.synth.protocol import Family
from gristmill.synth.rows import to_row
from gristmill.synth.solvers import asking, prove
from gristmill.synth.solvers.asking import Unproved
from gristmill.synth.solvers.reading import read_row

REASONS: Mapping[str, str] = {**materialise.REASONS, **asking.REASONS}
"""Every reason why a planned sequence is discarded."""

_COST_STRIDE = 5


def measure_costs(tokenizer: Tokenizer) -> Costs:
    """What records and questions of each family cost in this tokenizer: the mean over every fifth template, rounded up.

    Decided by the tokenizer alone. Names and numbers are drawn as those of banks are.
    """
    record = {name: _mean(_records(family), tokenizer) for name, family in FAMILIES.items()}
    ask = {name: _mean(_asks(family), tokenizer) for name, family in FAMILIES.items()}
    return Costs(record, ask)


def _mean(texts: Sequence[str], tokenizer: Tokenizer) -> int:
    return -(-sum(map(len, encode(texts, tokenizer))) // len(texts))


def _records(family: Family) -> list[str]:
    draws, size = Draws("synth costs", family.name), family.sizes[-1]
    bank = family.build(size, _names(family.names_needed(size), draws), draws)
    numbers = range(0, grammar.record_templates(family.wording), _COST_STRIDE)
    facts = [draws.pick(bank.facts) for _ in numbers]
    templates = (grammar.record_template(family.wording, number) for number in numbers)
    return [grammar.fill(t, fact.slots, draws) + "\n\n" for t, fact in zip(templates, facts, strict=True)]


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
    return make_plans(params, content_order(documents), measure_costs(tokenizer))


def build(
    plan: SequencePlan, params: SynthParams, documents: Sequence[Prepared], tokenizer: Tokenizer, form: TrainerFormat
) -> pa.RecordBatch:
    """The proved row of a plan; `documents` in content order. Raises Discarded."""
    material = materialise.materialise(plan, params, documents, tokenizer)
    draft = to_row(material, form, params.split)
    try:
        proofs = prove.prove(read_row(draft, tokenizer), tokenizer)
    except Unproved as error:
        raise Discarded(error.reason, error.detail) from None
    return to_row(material, form, params.split, proofs)


def build_all(
    params: SynthParams,
    documents: Sequence[Prepared],
    tokenizer: Tokenizer,
    form: TrainerFormat,
    counted: dict[str, int],
) -> Iterator[pa.RecordBatch]:
    """The rows of all plans in order; `counted` takes how many were discarded for which reason."""
    ordered = content_order(documents)
    for plan in make_plans(params, ordered, measure_costs(tokenizer)):
        try:
            yield build(plan, params, ordered, tokenizer, form)
        except Discarded as discarded:
            counted[discarded.reason] = counted.get(discarded.reason, 0) + 1
