"""T21, labels from examples: things of a kind get the label of their kind; which labels get others of these kinds.

Slots of a record: map, item, label. A bank has `size.chains` maps; each gives every kind of `solvers.things` a label of
two digits of its own, and shows it by one thing of that kind. The query gives `size.hops` things of different kinds,
none of which its map has shown. Class B.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording
from gristmill.synth.solvers.things import KINDS

WORDING = Wording(
    clauses=(
        "{map} sorts {item} under {label}",
        "under the scheme {map} the label for {item} is {label}",
        "{item} goes into bin {label} by the rules of {map}",
        "{map} files {item} as {label}",
        "the stickers of {map} put {label} on {item}",
        "a demonstration of {map} turned {item} into {label}",
        "{label} is the mark that {map} gives to {item}",
        "shown {item}, the scheme {map} says {label}",
        "in {map} you write {label} for {item}",
        "{map} would call {item} a {label}",
        "for example {item} is {label} in {map}",
        "{item} has the label {label} as far as {map} goes",
        "the drawer of {map} with {item} reads {label}",
        "they trained {map} to answer {label} to {item}",
        "one sample from {map}: {item} and the label {label}",
        "{map} stamps {label} upon {item}",
    ),
    fields=(
        "scheme={map} input={item} label={label}",
        "{map}: {item} => {label}",
        "call {map} with ({item}) == {label}",
        "example of {map} | thing {item} | code {label}",
        "x: {item}; y: {label}; by: {map}",
        "{item} / tagged {label} / after {map}",
        "train {map} on {item}, target {label}",
        '<shot map="{map}" x="{item}" y="{label}"/>',
    ),
    asks=(
        "{map} labels alike what is of one kind. Which labels get, in this order, {items}",
        "from the samples of {map}, all of a kind sharing a label, infer those of {items}",
        "what would {map} say to {items}, one after the other, given that kinds decide",
        "label {items} in the manner of {map}, where two things of the same kind never differ",
        "{items}: each is of a kind that {map} has shown. List the labels as the things stand here",
        "going by kind, as {map} does, give a label to each of {items}",
        "the scheme {map} is consistent for every kind of thing. What are the labels of {items}",
        "apply {map} to {items}, though it has shown only other things of these kinds",
    ),
)

_LOW, _HIGH = 10, 100


def names_needed(size: Size) -> int:
    """The maps."""
    return size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` maps of all kinds, a question each."""
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain, name in enumerate(names):
        labels = dict(zip(KINDS, draws.some(range(_LOW, _HIGH), len(KINDS)), strict=True))
        shown = {kind: draws.some(words, 2) for kind, words in KINDS.items()}
        asked = draws.some(tuple(KINDS), size.hops)
        at = {kind: len(facts) + hop for hop, kind in enumerate(KINDS)}
        facts += [
            Fact({"map": name, "item": shown[kind][0], "label": str(label)}, chain, hop)
            for hop, (kind, label) in enumerate(labels.items())
        ]
        slots = {"map": name, "items": ", ".join(shown[kind][1] for kind in asked)}
        answer = " ".join(str(labels[kind]) for kind in asked)
        questions.append(Question(slots, tuple(at[kind] for kind in asked), answer))
    answers = tuple(map(str, range(_LOW, _HIGH)))
    return Bank(tuple(facts), tuple(questions), answers, {"maps": size.chains, "kinds": len(KINDS), "items": size.hops})


FAMILY = Family(
    name="label_map",
    version=1,
    klass="B",
    law="weighed",
    sizes=(
        Size(tier=2, chains=8, hops=4, asked=6, spare=len(KINDS) - 4),
        Size(tier=2, chains=4, hops=4, asked=3, spare=len(KINDS) - 4),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
