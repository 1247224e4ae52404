"""T6, search in breadth: everybody passes the news on to two others; who has it after exactly two rounds. Class B.

Slots of a record: giver, taker; the giver comes first. The graph is a forest: `size.chains` roots, two takers for
everybody in front of the last layer, and no taker has two givers. The answer is the set of four that stand two steps
away, in the order of the alphabet.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "{giver} tells {taker} whatever comes in",
        "{giver} rings up {taker} as soon as there is news",
        "{giver} always writes to {taker} about it",
        "{giver} hands the bulletin on to {taker}",
        "{giver} cannot keep a thing from {taker}",
        "{giver} lives next door to {taker} and shouts it over the fence",
        "{giver} leaves a note for {taker} under the mat",
        "{giver} shares every rumour with {taker}",
        "{giver} passes word to {taker}",
        "{giver} forwards all of it to {taker}",
        "{giver} keeps {taker} up to date",
        "{giver} wires the story to {taker} before noon",
        "{giver} is bound to inform {taker}",
        "{giver} gives {taker} a nod when something happens",
        "{giver} sends a runner to {taker} each time",
        "{giver} briefs {taker} at the corner",
    ),
    fields=(
        "from={giver} to={taker} topic=news",
        "{giver} -> {taker}",
        "edge({giver}, {taker})",
        "{giver} notifies {taker}",
        "sender: {giver}; receiver: {taker}",
        "{giver} | tells | {taker}",
        "relay {giver} {taker}",
        '<hop by="{giver}" for="{taker}"/>',
    ),
    asks=(
        "{start} hears of something. Everybody tells {fan} others. Who first hears of it in round {steps}, all names",
        "news starts with {start} and each hands it to {fan} others. List all who are reached in round {steps}",
        "as each one informs {fan} others, whom does a story of {start} get to in round {steps}, and not before",
        "which names are exactly as far from {start} as round {steps}, when all have {fan} others to tell",
        "{start} is the source and all pass it on to {fan} others. Give the set that is new in round {steps}",
        "follow the word of {start}, who like all tells {fan} others, and name everybody that round {steps} adds",
        "who stands at the end of round {steps} if {start} begins and none tells more or fewer than {fan} others",
        "with {fan} others for each to tell, which people does a rumour by {start} get to precisely in round {steps}",
    ),
)

FAN, STEPS = 2, 2
_TREE = FAN + FAN**STEPS


def names_needed(size: Size) -> int:
    """Roots and everybody below them."""
    return size.chains * (1 + _TREE)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` trees."""
    roots, rest = names[: size.chains], draws.shuffled(names[size.chains :])
    middles, leaves = rest[: FAN * size.chains], rest[FAN * size.chains :]
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain, root in enumerate(roots):
        own = middles[FAN * chain : FAN * (chain + 1)]
        ends = leaves[FAN**STEPS * chain : FAN**STEPS * (chain + 1)]
        pairs = [(root, m) for m in own] + [(own[i // FAN], end) for i, end in enumerate(ends)]
        evidence = tuple(range(len(facts), len(facts) + _TREE))
        facts += [Fact({"giver": g, "taker": t}, chain, hop) for hop, (g, t) in enumerate(pairs)]
        slots = {"start": root, "fan": str(FAN), "steps": str(STEPS)}
        questions.append(Question(slots, evidence, ", ".join(sorted(ends))))
    answers = tuple(sorted(question.answer for question in questions))
    return Bank(tuple(facts), tuple(questions), answers, {"chains": size.chains, "fan": FAN, "steps": STEPS})


FAMILY = Family(
    name="news_tree",
    version=1,
    klass="B",
    law="weighed",
    sizes=(
        Size(tier=2, chains=24, hops=_TREE, asked=8),
        Size(tier=2, chains=14, hops=_TREE, asked=4),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    embeds=True,
)
