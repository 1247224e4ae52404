"""T28, citation hop: a passage cites a number, the list says which treatise that is, the treatise states a figure.
Class A.

Slots of a record: one, other: "the passage on T in P" and "reference [n]"; "reference [n] in P" and "the treatise Q";
"the treatise Q" and "the figure F". Numbers, treatises and figures are drawn, so that no knowledge of books helps.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "{one} rests on {other}",
        "{other} stands behind {one}",
        "{one} has its authority from {other}",
        "for {one} the editors give {other}",
        "{one} points the reader to {other}",
        "{other} is what {one} comes down to",
        "{one} owes everything to {other}",
        "the note to {one} says nothing but {other}",
        "{one} was checked against {other}",
        "you can trace {one} back to {other}",
        "{other} turned out to be the ground for {one}",
        "{one} is backed by {other}",
        "the margin of {one} bears {other}",
        "{other} settles {one}",
        "{one} leads to {other} in the end",
        "{one} cites {other} in so many words",
    ),
    fields=(
        "cite: {one} => {other}",
        "from ({one}) to ({other})",
        "{one}: see {other}",
        "ref[{one}] = {other}",
        "{one} | {other}",
        "entry {one}, resolved as {other}",
        "source of {one} is {other}",
        '<cite in="{one}" is="{other}"/>',
    ),
    asks=(
        "which figure is given by the treatise that the passage on {topic} in {paper} cites",
        "the passage on {topic} in {paper} has a reference. Look it up: which figure does that work state",
        "what figure stands behind the passage on {topic} in {paper}",
        "find the source of the passage on {topic} in {paper} by its number. What is its figure",
        "by which figure would you check the passage on {topic} in {paper}",
        "a reviewer doubts the passage on {topic} in {paper} and goes to its source. What figure is there",
        "from the passage on {topic} in {paper} to the list and on to the work: which figure is found",
        "name the figure that the passage on {topic} in {paper} finally relies on",
    ),
)

_FIRST, _PAST = 1000, 10_000


def names_needed(size: Size) -> int:
    """The paper, topics and treatises."""
    return 1 + 2 * size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """A paper with `size.chains` passages, its list, and the treatises."""
    figures: set[int] = set()
    while len(figures) < size.chains:
        figures.add(draws.integer(_FIRST, _PAST))
    paper, topics, treatises = names[0], names[1 : 1 + size.chains], names[1 + size.chains :]
    marks = draws.shuffled([str(number + 1) for number in range(size.chains)])
    works, stated = draws.shuffled(treatises), draws.shuffled([str(figure) for figure in sorted(figures)])
    facts = [
        *(_fact(f"the passage on {t} in {paper}", f"reference [{marks[c]}]", c, 0) for c, t in enumerate(topics)),
        *(_fact(f"reference [{n}] in {paper}", f"the treatise {works[c]}", c, 1) for c, n in enumerate(marks)),
        *(_fact(f"the treatise {w}", f"the figure {stated[c]}", c, 2) for c, w in enumerate(works)),
    ]
    questions = tuple(
        Question({"topic": topic, "paper": paper}, paths.evidence(size, c), stated[c]) for c, topic in enumerate(topics)
    )
    return Bank(tuple(facts), questions, tuple(sorted(stated)), paths.params(size))


def _fact(one: str, other: str, chain: int, hop: int) -> Fact:
    return Fact({"one": one, "other": other}, chain, hop)


FAMILY = Family(
    name="citation_hop",
    version=1,
    klass="A",
    law="path",
    sizes=(
        Size(tier=1, chains=96, hops=3, asked=8),
        Size(tier=1, chains=64, hops=3, asked=4),
        Size(tier=1, chains=56, hops=3, asked=2),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
