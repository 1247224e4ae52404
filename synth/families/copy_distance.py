"""T19, copying at a distance: a line of four names is told once; given its first three, the fourth is asked.

Slots of a record: line. Each line has siblings that share all of the first three names but one, so that nothing short
of the whole beginning tells which one is meant. One record holds the answer: a long way, not many places (`far`). A
reader without it has the fourth names of the lines that it does not see: class A, one of n.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "the old litany runs {line}",
        "they chanted {line} at the gate",
        "the roll was called as {line}",
        "the sign over the arch reads {line}",
        "{line} is how the verse goes",
        "the four bells are named {line}",
        "the children counted out {line} in the yard",
        "a plaque lists {line} from left to right",
        "someone carved {line} into the bench",
        "the password of that night was {line}",
        "the stations of the branch line are {line}",
        "{line} stands on the spine of the book",
        "the crew signed on as {line}",
        "the pipes are labelled {line} down the hall",
        "the toast went {line} and nobody laughed",
        "on the map the hills are marked {line}",
    ),
    fields=(
        "sequence: {line}",
        "order=[{line}]",
        "chant -> {line};",
        "tokens {line} end",
        "{line} | read aloud | once",
        "names in a row: {line}",
        'say "{line}" and stop',
        "<line>{line}</line>",
    ),
    asks=(
        "one line of names begins with {prefix}. Which name comes fourth in it",
        "go on where this stops: {prefix}. What is the next name",
        "which name was written right behind {prefix}",
        "somebody recited {prefix} and fell silent. What should have followed",
        "complete the row of four that opens with {prefix}: what is its last name",
        "the first three are {prefix}, in this very order. Who is number four",
        "after the words {prefix} a single further name was given. Which one",
        "what does the line that starts {prefix} end with",
    ),
)

_PREFIX = 3


def names_needed(size: Size) -> int:
    """Those of the three places of a beginning, and the ends."""
    return _PREFIX * _root(size) + size.chains


def _root(size: Size) -> int:
    """How many names there are for each place of a beginning: `size.chains` is its cube."""
    return next(n for n in range(2, size.chains) if n**_PREFIX == size.chains)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` lines, a cube of beginnings."""
    root = _root(size)
    first, second, third = (names[at : at + root] for at in range(0, _PREFIX * root, root))
    starts = [f"{a} {b} {c}" for a in first for b in second for c in third]
    ends = draws.shuffled(names[_PREFIX * root :])
    pairs = list(zip(draws.shuffled(starts), ends, strict=True))
    facts = tuple(Fact({"line": f"{start} {end}"}, chain, 0) for chain, (start, end) in enumerate(pairs))
    questions = tuple(Question({"prefix": start}, (chain,), end) for chain, (start, end) in enumerate(pairs))
    return Bank(facts, questions, tuple(sorted(ends)), {"chains": size.chains, "hops": size.hops})


FAMILY = Family(
    name="copy_distance",
    version=1,
    klass="A",
    law="weighed",
    placing="far",
    sizes=(
        Size(tier=0, chains=64, hops=1, asked=12),
        Size(tier=0, chains=27, hops=1, asked=6),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    embeds=True,
)
