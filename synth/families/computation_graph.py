"""T22, computation graph: quantities are sums or differences of others, down to numbers; what one is. Class A.

Slots of a record: left, right. Every number enters the answer once, with + or -, so that who lacks one knows nothing.
`size.spare` further quantities of a chain use two of it and are never asked: they stand in the way, no more.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "the quantity {left} amounts to {right}",
        "{left} comes out as {right} by definition",
        "for {left} the sheet has {right}",
        "whoever needs {left} works with {right}",
        "{left} was agreed to be {right}",
        "the figure for {left} is given by {right}",
        "in this model {left} means {right}",
        "{right} makes up the whole of {left}",
        "{left} is worth {right} to the letter",
        "the engineers put {left} at {right}",
        "{right} is all there is to {left}",
        "{left} can be read off as {right}",
        "to get {left} one takes {right}",
        "{left} always equals {right} here",
        "we substitute {right} wherever {left} turns up",
        "the line for {left} was replaced by {right}",
    ),
    fields=(
        "{left} = {right}",
        "def {left}: return {right}",
        "quantity={left} formula=({right})",
        "cell[{left}] := {right}",
        "{left} | computed | {right}",
        "name: {left}; value: {right}; unit: none",
        "compute {left} as {right}",
        '<node id="{left}" expr="{right}"/>',
    ),
    asks=(
        "evaluate {target} by way of everything that it is made of, modulo {modulus}. Which number is it",
        "what is the value of {target} modulo {modulus} once each quantity in it has been worked out",
        "insert the definitions into {target} until numbers alone are left. What do they make, modulo {modulus}",
        "{target} rests on other quantities, and these on numbers. Find its remainder by {modulus}",
        "which remainder by {modulus} does {target} leave when all that it depends on is resolved",
        "solve for {target}. The result is wanted modulo {modulus}, so what is it",
        "work {target} out from the bottom, and reduce modulo {modulus}. What stands there in the end",
        "on a dial of {modulus} steps, where does the computation of {target} stop",
    ),
)


def _leaves(size: Size) -> int:
    """Numbers of a chain: one more than sums and differences."""
    return (size.hops + 1) // 2


def names_needed(size: Size) -> int:
    """All quantities."""
    return size.facts


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` trees of `size.hops` quantities each, and what else uses them."""
    facts: list[Fact] = []
    questions: list[Question] = []
    each = size.hops + size.spare
    for chain in range(size.chains):
        first, own = len(facts), names[chain * each : (chain + 1) * each]
        equations, target, value = _tree(own[: size.hops], size, draws)
        noise = {name: _unasked(own[: size.hops], draws) for name in own[size.hops :]}
        for hop, (left, right) in enumerate((equations | noise).items()):
            facts.append(Fact({"left": left, "right": right}, chain, hop))
        evidence = tuple(range(first, first + size.hops))
        slots = {"target": target, "modulus": str(size.modulus)}
        questions.append(Question(slots, evidence, str(value % size.modulus), evidence[: _leaves(size)]))
    return Bank(tuple(facts), tuple(questions), shares.candidates(size), shares.params(size))


def _tree(names: Sequence[str], size: Size, draws: Draws) -> tuple[dict[str, str], str, int]:
    """Equations, the numbers first; the last name is the root; its value."""
    equations: dict[str, str] = {}
    open_nodes: list[tuple[str, int]] = []
    for name in names[: _leaves(size)]:
        number = draws.integer(0, size.modulus)
        equations[name] = str(number)
        open_nodes.append((name, number))
    for name in names[_leaves(size) :]:
        (a, one), (b, other) = draws.some(open_nodes, 2)
        equations[name], sign = _equation(a, b, draws)
        open_nodes = [node for node in open_nodes if node[0] not in (a, b)] + [(name, one + sign * other)]
    return equations, *open_nodes[0]


def _unasked(names: Sequence[str], draws: Draws) -> str:
    a, b = draws.some(names, 2)
    return _equation(a, b, draws)[0]


def _equation(a: str, b: str, draws: Draws) -> tuple[str, int]:
    plus = draws.chance(0.5)
    return f"{a} {'+' if plus else '-'} {b}", 1 if plus else -1


FAMILY = Family(
    name="computation_graph",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=3, chains=7, hops=9, asked=6, modulus=97, spare=2),
        Size(tier=3, chains=4, hops=7, asked=3, modulus=97, spare=2),
        Size(tier=2, chains=4, hops=5, asked=3, modulus=53, spare=1),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
