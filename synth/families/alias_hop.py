"""T16, coreference across documents: people under several names, and a room each; whose room is asked by one name.

Slots of a record: one, other; the last record of a person gives a room, a number of four digits. Links have no
direction. Class A.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "{one} and {other} are one and the same",
        "{one} is known to some as {other}",
        "the one called {one} also signs as {other}",
        "{one} goes by {other} on the second floor",
        "you may find {one} listed as {other}",
        "what some call {one} others call {other}",
        "{one} is entered in the books under {other}",
        "the badge of {one} says {other}",
        "{one} answers to {other} as well",
        "{other} is just another way to say {one}",
        "letters for {one} are addressed to {other}",
        "{one} can be reached by asking for {other}",
        "the porter knows {one} only as {other}",
        "{one} was registered as {other} at the gate",
        "people who ask for {one} are sent to {other}",
        "{one} has {other} written on the door",
    ),
    fields=(
        "id={one} same_as={other}",
        "{one} == {other}",
        "alias {one} {other}",
        "link[{one}] = {other}",
        "{one} | see | {other}",
        "entry: {one}; refers to: {other}",
        "{one} <-> {other}",
        '<same first="{one}" second="{other}"/>',
    ),
    asks=(
        "which room number belongs to the person who is called {start} somewhere in the text",
        "{start} has other names, and one of these has a room. Which number is it",
        "under which number would a visitor find {start}",
        "trace {start} through every name until a number turns up. Which one",
        "where does {start} sit, by number, when all names are taken together",
        "what is the number of the room of {start}",
        "follow the names from {start} to the door. What number is on it",
        "somebody looks for {start} and needs a room number. Which is right",
    ),
)

_FIRST, _PAST = 1000, 10_000


def names_needed(size: Size) -> int:
    """Every name of every person."""
    return size.facts


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` people of `size.hops` names, linked one to the next and the last to a room."""
    rooms: set[int] = set()
    while len(rooms) < size.chains:
        rooms.add(draws.integer(_FIRST, _PAST))
    doors = [str(room) for room in sorted(rooms)]
    nodes = paths.layers(size, names, doors, draws)
    facts: list[Fact] = []
    for hop in range(size.hops):
        for chain in range(size.chains):
            pair = (nodes[hop][chain], nodes[hop + 1][chain])
            one, other = pair if hop == size.hops - 1 or draws.chance(0.5) else pair[::-1]
            facts.append(Fact({"one": one, "other": other}, chain, hop))
    questions = [
        Question({"start": nodes[0][c]}, tuple(range(c, size.facts, size.chains)), nodes[-1][c])
        for c in range(size.chains)
    ]
    return Bank(tuple(facts), tuple(questions), tuple(doors), paths.params(size))


FAMILY = Family(
    name="alias_hop",
    version=1,
    klass="A",
    law="path",
    sizes=(
        Size(tier=2, chains=64, hops=6, asked=16),
        Size(tier=2, chains=48, hops=5, asked=8),
        Size(tier=2, chains=32, hops=5, asked=4),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    embeds=True,
)
