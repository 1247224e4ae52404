"""T14, version tracking: changes of one setting carry revision numbers; its value at a revision, modulo M. Class A.

A record's slots: name, rev, value. Setting's later revisions are there to be left out: distractors of the same chain,
worded and placed as the others. Places have nothing to do with revisions. A setting starts from 0.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "revision {rev} raised {name} by {value}",
        "{name} went up by {value} in revision {rev}",
        "with revision {rev} another {value} was added to {name}",
        "an increase of {value} for {name} came with revision {rev}",
        "revision {rev} of the plan lifts {name} by {value} steps",
        "they turned {name} up by {value} when revision {rev} was signed",
        "the change called revision {rev} adds {value} to {name}",
        "{value} steps were given to {name} under revision {rev}",
        "{name} gained {value} as soon as revision {rev} was out",
        "revision {rev} brought {name} a rise of {value}",
        "plus {value} on {name} is all that revision {rev} holds",
        "{name} was stepped up by {value}, see revision {rev}",
        "the gauge of {name} climbed {value} at revision {rev}",
        "revision {rev} is where {name} got its extra {value}",
        "for {name} the sheet of revision {rev} says plus {value}",
        "somebody moved {name} forward by {value} through revision {rev}",
    ),
    fields=(
        "revision={rev} setting={name} delta=+{value}",
        "{name}: +{value} @ revision {rev}",
        "revision {rev} -> {name} += {value}",
        "patch[{name}] revision {rev} adds {value}",
        "{name} | revision {rev} | plus {value}",
        "change of {name}; by: {value}; in revision: {rev}",
        "delta {value} on {name}, revision {rev}",
        '<change revision="{rev}" of="{name}" plus="{value}"/>',
    ),
    asks=(
        "{name} starts from zero. Where does it stand at revision {rev}, modulo {modulus}",
        "after revision {rev}, with all changes from the first on, what is {name} modulo {modulus}",
        "what had {name} grown to, modulo {modulus}, once revision {rev} was in force (it began at zero)",
        "summing each change of {name} up to and with revision {rev}, what do you get modulo {modulus}",
        "ignore what came later than revision {rev}: how high is {name} by then, modulo {modulus}, counted from zero",
        "if {name} was zero before its first change, which value modulo {modulus} did revision {rev} leave it with",
        "a reader at revision {rev} looks up {name}, which was zero at first. Which number modulo {modulus} is there",
        "replay the changes of {name} in their order until revision {rev} is done. What is shown modulo {modulus}",
    ),
)


def names_needed(size: Size) -> int:
    """One a chain."""
    return size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """Changes of `size.chains` settings: `size.hops` that count and `size.spare` that do not."""
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain, values in enumerate(shares.numbers(size, draws)):
        first = len(facts)
        for hop, value in enumerate(values):
            slots = {"name": names[chain], "rev": str(hop + 1), "value": str(value)}
            facts.append(Fact(slots, chain, hop))
        slots = {"name": names[chain], "rev": str(size.hops), "modulus": str(size.modulus)}
        answer = str(sum(values[: size.hops]) % size.modulus)
        questions.append(Question(slots, tuple(range(first, first + size.hops)), answer))
    return Bank(tuple(facts), tuple(questions), shares.candidates(size), shares.params(size))


FAMILY = Family(
    name="version_track",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=3, chains=9, hops=7, asked=8, modulus=97, spare=2),
        Size(tier=2, chains=4, hops=4, asked=3, modulus=89, spare=2),
        Size(tier=1, chains=4, hops=3, asked=3, modulus=53, spare=2),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    embeds=True,
)
