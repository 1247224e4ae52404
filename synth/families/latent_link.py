"""T17, latent association: a query names a country, a record its capital, its code or a sight of it, and neither says
that they belong together; from there a path goes on to a number. Class A.

Slots of a record: one, other: a member and a cue; a member and the next; the last one and "number N". Which country is
with which member is drawn: knowledge of the world tells which record is meant, and nothing about the end. The query
shares no word with the record that it means. One bank a sequence, as the cues of two would be the same.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording
from gristmill.synth.solvers.countries import KINDS, countries

WORDING = Wording(
    clauses=(
        "{one} drew the card with {other}",
        "{one} was paired with {other} by lot",
        "on the wall plan {one} is joined to {other}",
        "{one} keeps a picture that stands for {other}",
        "they have {one} down next to {other}",
        "{one} wears the badge that shows {other}",
        "the drawer of {one} is labelled with {other}",
        "{one} picked {other} and would not swap",
        "{one} got {other} when the slips were handed round",
        "i put {one} together with {other}",
        "the sticker on the bag of {one} is for {other}",
        "{one} ended up with {other}, as it happens",
        "the box of {one} is tied to {other}",
        "for {one} the list says {other}",
        "{one} holds the ticket for {other}",
        "the token that {one} carries belongs to {other}",
    ),
    fields=(
        "member={one} token={other}",
        "{one} ~ {other}",
        "pair({one}; {other})",
        "slot[{one}] holds {other}",
        "{one} | {other} | drawn by lot",
        "holder: {one}; holds: {other}",
        "assigned {one} with {other}",
        '<lot of="{one}" is="{other}"/>',
    ),
    asks=(
        "somebody has a thing from {country}. Follow that person's trail until a number comes up. Which one is it",
        "start from whoever is linked to {country}; where the trail ends there is a number. Name it",
        "{country} leads to one person, that one to another, and so on. What number is last",
        "which number do you reach from {country}, going from name to name",
        "the records never use the word {country}, yet they mean it. Go on from there to the end: what is the number",
        "think of {country}: who is meant, and what is the number at the far end",
        "trace {country} through the names that follow from it. Which number closes the trail",
        "a traveller comes home from {country} and asks what number awaits at the end of its trail",
    ),
)

_FIRST, _PAST = 1000, 10_000


def names_needed(size: Size) -> int:
    """Members for all hops but the first."""
    return size.chains * (size.hops - 1)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` countries and a path of `size.hops` records from each to a number."""
    numbers: set[int] = set()
    while len(numbers) < size.chains:
        numbers.add(draws.integer(_FIRST, _PAST))
    values = [str(number) for number in sorted(numbers)]
    asked = draws.some(tuple(countries()), size.chains)
    nodes = paths.layers(size, [*asked, *names], values, draws)
    facts: list[Fact] = []
    for fact in paths.rows(nodes, "one", "other"):
        one, other = fact.slots["one"], fact.slots["other"]
        if fact.hop == 0:
            one, other = other, countries()[one][draws.pick(KINDS)]
        elif fact.hop == size.hops - 1:
            other = f"number {other}"
        facts.append(Fact({"one": one, "other": other}, fact.chain, fact.hop))
    questions = tuple(
        Question({"country": nodes[0][c]}, paths.evidence(size, c), nodes[-1][c]) for c in range(size.chains)
    )
    return Bank(tuple(facts), questions, tuple(sorted(values)), paths.params(size))


FAMILY = Family(
    name="latent_link",
    version=1,
    klass="A",
    law="path",
    sizes=(
        Size(tier=3, chains=48, hops=7, asked=8),
        Size(tier=2, chains=48, hops=5, asked=8),
        Size(tier=2, chains=32, hops=5, asked=4),
        Size(tier=1, chains=52, hops=3, asked=4),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
