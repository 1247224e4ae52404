"""T14, version tracking: changes of one setting carry revision numbers; its value at a revision, modulo M. Class A.

A record's slots: name, rev, value. Setting's later revisions are there to be left out: distractors of the same chain,
worded and placed as the others. Places have nothing to do with revisions. A setting starts from 0.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Fact, Family, Size, Wording

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


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """Changes of `size.chains` settings: `size.hops` that count and `size.spare` that do not."""

    def told(chain: int, values: Sequence[int]) -> tuple[list[Fact], dict[str, str]]:
        name = names[chain]
        told = ({"name": name, "rev": str(hop + 1), "value": str(value)} for hop, value in enumerate(values))
        return [Fact(own, chain, hop) for hop, own in enumerate(told)], {"name": name, "rev": str(size.hops)}

    return shares.bank(size, draws, told)


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
    names_needed=shares.one_a_chain,
    build=build,
    embeds=True,
)
