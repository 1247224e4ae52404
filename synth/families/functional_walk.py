"""T5, walk on a functional graph: every stop has one way out; where so many moves lead from a stop. Class A.

Slots of a record: here, there. The name behind "from" or "after" is the one that is left, where there is one; else the
first name is. Paths begin before the stops that are asked about and go on behind the answers: both neighbours of a
start are told, and the walk must be counted.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "the only ferry out of {here} calls at {there}",
        "from {here} the signpost leads to {there}",
        "you reach {there} in one move from {here}",
        "a traveller at {here} has no choice but {there}",
        "{there} is where the coach goes after {here}",
        "{here} opens on to {there} and to no other stop",
        "the path into {there} sets out from {here}",
        "pressing the lever at {here} brings the cart to {there}",
        "the lift carries people from {here} to {there}",
        "at {here} the arrow on the floor shows {there}",
        "{there} always lights up after {here} does",
        "the rails at {here} end in {there}",
        "one step from {here} and you stand in {there}",
        "{here} has a single door and behind it lies {there}",
        "the mail for {there} is forwarded from {here}",
        "moving on at {here} means arriving in {there}",
    ),
    fields=(
        "edge {here} -> {there}",
        "node={here} successor={there}",
        "goto({here}) = {there}",
        "step from {here} enters {there}",
        "{here} | exit | {there}",
        "move: {here}; arrives: {there}",
        "{there} entered after {here}, single way",
        '<stop id="{here}" leads="{there}"/>',
    ),
    asks=(
        "starting at {start} and making exactly {hops} moves, at which stop do you arrive",
        "{hops} steps are taken from {start}, each along the only way out. Where does that end",
        "which stop is {hops} moves away if one begins at {start} and never turns round",
        "put a cart on {start} and let it run {hops} times to the next stop. Where is it now",
        "apply the rule for going on {hops} times to {start}. Which stop comes out",
        "a walker leaves {start} and stops as soon as {hops} moves are done. Name the place",
        "count {hops} moves, not one more, and begin at {start}. On which stop do you stand",
        "where is the traveller after move {hops}, having been at {start} before the first",
    ),
)

_LEAD = 1
"""Moves in front of a start; what is left of `spare` comes behind the answer."""


def names_needed(size: Size) -> int:
    """All stops."""
    return size.facts + size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` paths of `size.hops + size.spare` moves, of which those from the second stop on are asked about."""
    nodes = paths.layers(size, names[: size.facts], names[size.facts :], draws)
    ends = nodes[_LEAD + size.hops]
    questions = tuple(
        Question({"start": nodes[_LEAD][c], "hops": str(size.hops)}, paths.evidence(size, c, _LEAD), ends[c])
        for c in range(size.chains)
    )
    return Bank(paths.rows(nodes, "here", "there"), questions, tuple(sorted(ends)), paths.params(size))


FAMILY = Family(
    name="functional_walk",
    version=1,
    klass="A",
    law="path",
    sizes=(
        Size(tier=3, chains=48, hops=7, asked=10, spare=2),
        Size(tier=2, chains=40, hops=5, asked=6, spare=2),
        Size(tier=2, chains=28, hops=5, asked=2, spare=2),
        Size(tier=1, chains=56, hops=3, asked=4, spare=2),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    embeds=True,
)
