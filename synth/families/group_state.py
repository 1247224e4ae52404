"""T4, state tracking in a group: a row of letters is laid out anew, by dated orders; how it stands in the end. Class A.

Slots of a record: name, when, order. Orders are uniform among all permutations of `size.modulus` places and do not
commute: dates tell which comes first, and have nothing to do with places in the text.
"""

from collections.abc import Sequence
from itertools import permutations

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "the order dated {when} lays {name} out by its old places {order}",
        "{name} was arranged anew by the note dated {when}, old places {order}",
        "a slip dated {when} tells the porters to take {name} by old places {order}",
        "old places {order}, read from the left, make the new {name}, dated {when}",
        "by the sheet dated {when} the things of {name} come in the sequence {order} of where they were",
        "the rule that puts {name} into the sequence {order} of its old places is dated {when}",
        "someone signed the change of {name} to old places {order}, dated {when}",
        "{name} follows {order}, counted by where things stood before, as dated {when}",
        "the plan for {name} has old places {order} from left to right, dated {when}",
        "{order} is how the old places of {name} were put in line, dated {when}",
        "we moved {name} about, see the paper dated {when}: old places {order}",
        "they read the old places of {name} as {order} in the memo dated {when}",
        "things in {name} were shifted to {order}, old places first to last, dated {when}",
        "the reshuffle of {name} dated {when} goes by old places {order}",
        "the card for {name}, dated {when}, says nothing but old places {order}",
        "when it came to {name} the letter dated {when} asked for old places {order}",
    ),
    fields=(
        "row={name} dated={when} old_places={order}",
        "{name} dated {when}: {order}",
        "permute({name}, by={order}, dated={when})",
        "dated {when} -> {name} takes {order}",
        "{name} | dated {when} | old places {order}",
        "rearrange: {name}; sequence: {order}; dated: {when}",
        "sequence {order} of old places for {name}, dated {when}",
        '<move row="{name}" dated="{when}" order="{order}"/>',
    ),
    asks=(
        "{name} reads {letters} from the left at first. What does it read after its {hops} rearrangements, by date",
        "apply the {hops} orders for {name} by their dates, beginning with {letters}. What is the row in the end",
        "{name} started as {letters} and was laid out anew {hops} times. How does it stand after the latest date",
        "take {letters} for {name} and go through its {hops} changes, the earliest first. Which row comes out",
        "in which sequence do the letters {letters} of {name} stand once all {hops} dated orders have been carried out",
        "replay the {hops} moves of {name} by date, from {letters} on, wherever they are told. What is left standing",
        "if {name} was {letters} before the earliest of its {hops} orders, what is it behind the last one",
        "sort the {hops} notes about {name} by date and carry them out on {letters}. Spell the result",
    ),
)

LETTERS = "ABCDEF"
_YEARS = (1990, 2026)


def names_needed(size: Size) -> int:
    """One a chain."""
    return size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.hops` orders for each of `size.chains` rows of `size.modulus` letters."""
    facts: list[Fact] = []
    questions: list[Question] = []
    letters = LETTERS[: size.modulus]
    for chain, name in enumerate(names[: size.chains]):
        evidence = tuple(range(len(facts), len(facts) + size.hops))
        row = letters
        for hop, when in enumerate(_dates(size.hops, draws)):
            places = draws.shuffled(range(size.modulus))
            order = "".join(str(place + 1) for place in places)
            facts.append(Fact({"name": name, "when": when, "order": order}, chain, hop))
            row = "".join(row[place] for place in places)
        questions.append(Question({"name": name, "letters": letters, "hops": str(size.hops)}, evidence, row))
    params = {"chains": size.chains, "hops": size.hops, "places": size.modulus}
    return Bank(tuple(facts), tuple(questions), tuple(map("".join, permutations(letters))), params)


def _dates(count: int, draws: Draws) -> list[str]:
    """Different ones, ascending."""
    found: set[str] = set()
    while len(found) < count:
        found.add(f"{draws.integer(*_YEARS)}-{draws.integer(1, 13):02}-{draws.integer(1, 29):02}")
    return sorted(found)


FAMILY = Family(
    name="group_state",
    version=1,
    klass="A",
    law="group",
    sizes=(
        Size(tier=3, chains=9, hops=7, asked=8, modulus=5),
        Size(tier=2, chains=4, hops=4, asked=3, modulus=5),
        Size(tier=1, chains=4, hops=3, asked=3, modulus=4),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
