"""T27, the missing middle: a passage was taken out of each of some real documents and put far away under a name; which
one belongs in a gap. Class C: natural text, nothing is proved of what a reader knows.

Slots of a record: name. The record of a gap stands between the passages around it, that of a passage in front of it. A
chain is a document; its gap and its passage stand an eighth of the sequence apart, or more (`apart`).
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Cuts, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "this spot of the page goes by {name}",
        "a strip of paper here says {name} and no more",
        "{name} is pencilled in right at this place",
        "whoever copied this wrote {name} at the seam",
        "one should think of {name} between these lines",
        "the binder marked the place with {name}",
        "{name} was stamped where the sheet is cut",
        "at this seam the copyist put {name}",
        "the mark at this point is {name}",
        "look for {name} in the index if this seems abrupt",
        "{name} is the tag of this place in the scan",
        "they filed this very spot as {name}",
        "right here the roll has the sign {name}",
        "someone glued a slip with {name} onto the edge",
        "i call this place {name} from now on",
        "the cut at this place is known as {name}",
    ),
    fields=(
        "anchor={name}",
        "--cut-- {name} --cut--",
        "splice mark {name}",
        "slot[{name}] is here",
        "{name} | seam | see index",
        "place: {name}; kind: cut",
        "tag this spot {name}",
        '<seam id="{name}"/>',
    ),
    asks=(
        "at the seam {gap} a passage is missing. Which of these begins behind its own mark and belongs there: {names}",
        "one of the passages behind {names} was cut out at {gap}. Which one",
        "{gap} interrupts a text. Under which mark did its missing lines end up, of {names}",
        "choose among {names} the mark whose following passage fills the hole at {gap}",
        "what stood at {gap} before it was moved: the text behind which of {names}",
        "to mend the text around {gap}, from behind which mark would you bring the passage, {names}",
        "the lines after one of {names} go between what stands on both sides of {gap}. After which",
        "read both sides of {gap} and say where their middle is now, behind one of {names}",
    ),
)


def names_needed(size: Size) -> int:
    """A gap and a passage for each document."""
    return 2 * size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` documents of three passages, the second of which stands elsewhere."""
    gaps, moved = names[: size.chains], names[size.chains :]
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain, (gap, name) in enumerate(zip(gaps, moved, strict=True)):
        evidence = (len(facts), len(facts) + 1)
        facts.append(Fact({"name": gap}, chain, 0, ahead=(chain, 0), behind=(chain, 2)))
        facts.append(Fact({"name": name}, chain, 1, behind=(chain, 1)))
        questions.append(Question({"gap": gap, "names": ", ".join(draws.shuffled(moved))}, evidence, name))
    return Bank(tuple(facts), tuple(questions), tuple(sorted(moved)), {"documents": size.chains})


FAMILY = Family(
    name="fill_middle",
    version=1,
    klass="C",
    law="passage",
    placing="apart",
    sizes=(
        Size(tier=1, chains=12, hops=2, asked=8),
        Size(tier=1, chains=6, hops=2, asked=4),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    cuts=Cuts(lambda size: size.chains, lambda size: 3),
)
