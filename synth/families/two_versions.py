"""T15, a contradiction: of many things that a register states twice, one is not stated alike. Class B.

Slots of a record: book, entry, thing, value. Of `size.chains` pairs of statements, four in five are two of one thing,
the others of two things that are stated once; each statement has a number of its own. The two of a thing stand an
eighth of the sequence apart, or more (`apart`). The answer is the two numbers of the statements that differ.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "entry {entry} of {book} gives {value} for {thing}",
        "{thing} measures {value} according to entry {entry} in {book}",
        "in {book}, entry {entry}, the height of {thing} is put at {value}",
        "{book} notes {value} beside {thing} in entry {entry}",
        "the surveyor of entry {entry} in {book} made it {value} for {thing}",
        "{thing} appears with {value} feet in {book}, entry {entry}",
        "entry {entry} states that {thing} has {value}, if {book} is right",
        "whoever wrote entry {entry} of {book} found {thing} to be {value}",
        "{book} says {value} of {thing}, see entry {entry}",
        "for {thing} entry {entry} of {book} has the figure {value}",
        "{value} is what {book} records under entry {entry} about {thing}",
        "by entry {entry} in {book} one would think {thing} to be {value}",
        "{thing} stands at {value} in the words of entry {entry} from {book}",
        "{book} counts {value} at {thing}, that is entry {entry}",
        "going through {book} i see {thing} at {value} in entry {entry}",
        "entry {entry}: {thing} was paced out and came to {value}, thus {book}",
    ),
    fields=(
        "book={book} entry {entry} item={thing} value={value}",
        "{book}, entry {entry}: {thing} = {value}",
        "{thing}: {value} (from {book} entry {entry})",
        "entry {entry} / found in {book} / on {thing} / it says {value}",
        "{book} | line | entry {entry} | about | {thing} | figure | {value}",
        "set {thing} to {value} by entry {entry} of {book}",
        "{value} <- {thing}, as in {book}, under entry {entry}",
        '<figure of="{thing}" is="{value}" src="{book}" at="entry {entry}"/>',
    ),
    asks=(
        "two entries of {book} contradict each other. What are their numbers",
        "{book} speaks twice of many things, and once it does not agree with itself. In which two entries",
        "which pair of entries in {book} gives different figures for one and the same thing",
        "compare all that {book} states twice. Where do two entries differ, by number",
        "one of the things in {book} has two figures. Name the two entries that say so",
        "an auditor of {book} finds a single conflict. Between which entries",
        "{book} cannot be right in two of its entries at once. Which are they",
        "find the double statement in {book} whose halves do not match, and tell both entry numbers",
    ),
)

_FIRST, _PAST = 1000, 10_000
_LOW, _HIGH = 10, 100


def pairs(size: Size) -> int:
    """How many things are stated twice."""
    return size.chains * 4 // 5


def names_needed(size: Size) -> int:
    """The register, and the things."""
    return 1 + size.facts - pairs(size)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """A register; chain 0 is the one that contradicts itself."""
    book, things = names[0], names[1:]
    entries: set[int] = set()
    while len(entries) < size.facts:
        entries.add(draws.integer(_FIRST, _PAST))
    numbers = draws.shuffled(sorted(entries))
    facts: list[Fact] = []
    for chain, thing in enumerate(things):
        value = draws.integer(_LOW, _HIGH)
        other = draws.pick([v for v in range(_LOW, _HIGH) if v != value]) if chain == 0 else value
        for hop, stated in enumerate((value, other)[: 2 if chain < pairs(size) else 1]):
            slots = {"book": book, "entry": str(numbers[len(facts)]), "thing": thing, "value": str(stated)}
            facts.append(Fact(slots, chain, hop))
    pair = sorted((facts[0].slots["entry"], facts[1].slots["entry"]))
    question = Question({"book": book}, (0, 1), " and ".join(pair))
    params = {"pairs": pairs(size), "singles": size.facts - 2 * pairs(size)}
    return Bank(tuple(facts), (question,), tuple(sorted(things)), params)


FAMILY = Family(
    name="two_versions",
    version=1,
    klass="B",
    law="weighed",
    placing="apart",
    sizes=(
        Size(tier=1, chains=70, hops=2, asked=1),
        Size(tier=1, chains=45, hops=2, asked=1),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
