"""T3, variable chain: variables take the value of others, in any order of the text; what one holds in the end. Class A.

Slots of a record: left, right. The last variable of a chain is given a number of four digits; the chains' numbers are
the candidates.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "{left} takes whatever value {right} has",
        "the value of {left} is set to {right}",
        "{left} is made equal to {right}",
        "{left} copies {right} and nothing else",
        "one reads {left} as {right}",
        "{left} is defined to be {right}",
        "{right} is assigned to {left}",
        "{left} holds exactly what is meant by {right}",
        "variable {left} gets {right}",
        "we let {left} be {right}",
        "{left} was bound to {right} long ago",
        "{right} is the content of {left}",
        "{left} simply equals {right}",
        "into {left} goes {right}",
        "everyone who needs {left} uses {right} for it",
        "{left} now points at {right}",
    ),
    fields=(
        "let {left} = {right};",
        "{left} := {right}",
        "set {left} {right}",
        "export {left}={right}",
        "{left} <- {right}",
        "name: {left}; value: {right}",
        "assign({left}, {right})",
        '<var name="{left}" is="{right}"/>',
    ),
    asks=(
        "which number does {start} hold once every assignment is followed",
        "follow the assignments from {start} on. What number is at the end",
        "{start} depends on others, and these on others again. What is its value",
        "what would a program print for {start} when all of this has been set",
        "resolve {start} through the variables that it was set to: which number is it",
        "after all definitions are in force, {start} is equal to which number",
        "to which number does {start} come down, whatever the order of the lines",
        "evaluate {start}. Which number do you get",
    ),
)

_FIRST, _PAST = 1000, 10_000


def names_needed(size: Size) -> int:
    """The variables."""
    return size.facts


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` chains of `size.hops` assignments, the last one of a number."""
    numbers: set[int] = set()
    while len(numbers) < size.chains:
        numbers.add(draws.integer(_FIRST, _PAST))
    values = [str(n) for n in sorted(numbers)]
    nodes = paths.layers(size, names, values, draws)
    facts = [
        Fact({"left": nodes[hop][chain], "right": nodes[hop + 1][chain]}, chain, hop)
        for hop in range(size.hops)
        for chain in range(size.chains)
    ]
    questions = [
        Question({"start": nodes[0][c]}, tuple(range(c, size.facts, size.chains)), nodes[-1][c])
        for c in range(size.chains)
    ]
    return Bank(tuple(facts), tuple(questions), tuple(values), paths.params(size))


FAMILY = Family(
    name="variable_chain",
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
