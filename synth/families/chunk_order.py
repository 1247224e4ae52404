"""T11, the order of chunks: pieces of real documents stand apart, each behind a header with its name; the names of one
document's pieces are asked in its order. Class C: natural text, nothing is proved of what a reader knows.

Slots of a record: piece. A chain is a document of `size.hops` pieces; one piece of each stands in each stratum
(`even`). Documents are chosen by `cuts`.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Cuts, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "the piece called {piece} is printed right below",
        "what comes next is {piece}, torn from a longer text",
        "{piece} is the name of the passage that begins under this line",
        "the loose sheet {piece} reads as follows",
        "they labelled the next passage {piece}",
        "under this note you find {piece}, one of several parts",
        "{piece} starts here and was cut out of its place",
        "the following lines are kept as {piece}",
        "next up is {piece}, a part of something longer",
        "below stands the fragment {piece}",
        "here goes {piece}, out of order like the rest",
        "the passage after this message is {piece}",
        "i paste {piece} underneath, it lost its neighbours",
        "the text that follows goes by {piece}",
        "{piece} is all that comes before the next break",
        "right after this you read {piece}",
    ),
    fields=(
        "begin part={piece}",
        "--- {piece} ---",
        "fragment {piece} follows",
        "chunk[{piece}]: see next block",
        "{piece} | text below | cut from its document",
        "name: {piece}; body: next paragraph",
        "open {piece} and read on",
        '<part id="{piece}" body="next"/>',
    ),
    asks=(
        "the parts {pieces} are from one text. In which order did they stand there",
        "put {pieces} back into the order of the document that they were cut from",
        "{pieces} once followed each other. List them from first to last",
        "which sequence of {pieces} gives the original text",
        "sort {pieces} so that the text reads on from each to the next",
        "a reader wants the whole text: in what order should {pieces} be read",
        "reassemble the document out of {pieces} and name its parts from the top",
        "of {pieces}, which came first, which next, and so on to the end",
    ),
)


def names_needed(size: Size) -> int:
    """One a piece."""
    return size.facts


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` documents in pieces."""
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain in range(size.chains):
        own = names[chain * size.hops : (chain + 1) * size.hops]
        evidence = tuple(range(len(facts), len(facts) + size.hops))
        facts += [Fact({"piece": name}, chain, hop, behind=(chain, hop)) for hop, name in enumerate(own)]
        questions.append(Question({"pieces": ", ".join(draws.shuffled(own))}, evidence, ", ".join(own)))
    params = {"documents": size.chains, "pieces": size.hops}
    return Bank(tuple(facts), tuple(questions), tuple(names[: size.hops]), params)


FAMILY = Family(
    name="chunk_order",
    version=1,
    klass="C",
    law="passage",
    placing="even",
    sizes=(
        Size(tier=3, chains=4, hops=8, asked=4),
        Size(tier=2, chains=3, hops=5, asked=3),
        Size(tier=2, chains=1, hops=4, asked=1),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    cuts=Cuts(lambda size: size.chains, lambda size: size.hops),
)
