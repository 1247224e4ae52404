"""T9, weighted count: deliveries of many goods to one place; how much of one group of goods, modulo M. Class A.

Slots of a record: site, value, kind. The query names the group ("fruit"), records its members ("pears"), so that who
looks for the word of the query finds no record. The chains of a site are its groups; they are exchangeable.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording
from gristmill.synth.solvers.kinds import kinds

WORDING = Wording(
    clauses=(
        "{value} loads of {kind} were brought to {site}",
        "a cart with {value} loads of {kind} rolled into {site}",
        "{site} took in {value} loads of {kind}",
        "at {site} they weighed {value} loads of {kind}",
        "the gate of {site} was opened for {value} loads of {kind}",
        "somebody sent {value} loads of {kind} down to {site}",
        "{value} loads of {kind} lie in the yard at {site} now",
        "the barge put {value} loads of {kind} ashore near {site}",
        "{site} has been given {value} loads of {kind}",
        "another {value} loads of {kind} came up the hill to {site}",
        "with the mist came {value} loads of {kind} bound for {site}",
        "the keeper of {site} signed for {value} loads of {kind}",
        "{kind}, {value} loads of it all, went straight to {site}",
        "we counted {value} loads of {kind} on the scales of {site}",
        "the fair left {site} with {value} more loads of {kind}",
        "{site} paid on the spot for {value} loads of {kind}",
    ),
    fields=(
        "site={site} goods={kind} loads={value}",
        "{site} << {value} x {kind}",
        "{kind} ({value}) unloaded, {site}",
        "stock[{site}][{kind}] += {value}",
        "{site} | {kind} | {value} loads",
        "delivered: {kind}; quantity: {value}; to: {site}",
        "intake {value} {kind} at {site}",
        '<intake site="{site}" kind="{kind}" loads="{value}"/>',
    ),
    asks=(
        "how many loads of {group} came to {site} in its {hops} deliveries of that sort, modulo {modulus}",
        "{site} received {group} {hops} times. What do these loads add up to, modulo {modulus}",
        "leaving all other goods aside, what is the sum of the {hops} loads of {group} at {site}, modulo {modulus}",
        "count the {group} at {site}, {hops} deliveries in all, and take the remainder by {modulus}. What is it",
        "what is left after division by {modulus} when the {hops} deliveries of {group} to {site} are put together",
        "of everything that reached {site}, {hops} entries were {group}. Their total modulo {modulus} is what",
        "add the {hops} loads of {group} that {site} took in on a dial of {modulus} marks. Where does the hand end",
        "which number modulo {modulus} do the {hops} entries about {group} for {site} make together",
    ),
)


def names_needed(size: Size) -> int:
    """The site."""
    return 1


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """Deliveries of `size.chains` groups of goods, `size.hops` of each."""
    groups = draws.some(tuple(kinds()), size.chains)
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain, values in enumerate(shares.numbers(size, draws)):
        evidence = tuple(range(len(facts), len(facts) + size.hops))
        for hop, value in enumerate(values):
            kind = draws.pick(kinds()[groups[chain]])
            facts.append(Fact({"site": names[0], "value": str(value), "kind": kind}, chain, hop))
        slots = {"site": names[0], "group": groups[chain], "hops": str(size.hops), "modulus": str(size.modulus)}
        questions.append(Question(slots, evidence, str(sum(values) % size.modulus)))
    return Bank(tuple(facts), tuple(questions), shares.candidates(size), shares.params(size))


FAMILY = Family(
    name="weighted_count",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=3, chains=8, hops=7, asked=7, modulus=97),
        Size(tier=2, chains=4, hops=5, asked=3, modulus=89),
        Size(tier=1, chains=4, hops=3, asked=3, modulus=53),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
