"""T12, linked order: instalments of stories that each name the one to read next; which one is last. Class A.

Slots of a record: one, next. The name behind "after" or "from" is the earlier of the two, where there is one; else the
first name is. Other stories of the same length are the false threads.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "part {one} of the story is followed by part {next}",
        "whoever has read {one} should turn to {next}",
        "the sheet headed {next} comes straight after {one}",
        "at the foot of {one} it says to go on with {next}",
        "one passes to {next} from {one} without a break",
        "{one} closes in the middle of a sentence that {next} takes up",
        "the printer set {next} to be read after {one}",
        "behind {one} the reader should lay {next}",
        "you only get {next} after {one} in this serial",
        "the part named {one} hands over to {next}",
        "the plot runs on into {next} from {one}",
        "{one} breaks off and {next} carries the tale further",
        "we bind {next} right after {one} in every copy",
        "the last line of {one} sends you to {next}",
        "{one} must be put in front of {next}",
        "{next} continues from {one} with the same speaker",
    ),
    fields=(
        "part={one} next={next}",
        "{one} >> {next}",
        "page {one}; continue at: {next}",
        "successor[{one}] = {next}",
        "{next} | placed after {one}",
        "link {one} -> {next} (reading order)",
        "instalment {next} to print after {one}",
        '<part id="{one}" next="{next}"/>',
    ),
    asks=(
        "begin with part {start} and go on {hops} times to the part that comes next. Which part do you hold",
        "the story that opens with {start} has {hops} more parts. What is the last of them called",
        "somebody reads {start} first and then {hops} further parts in their order. Which is read last",
        "put the story of {start} in order, with its {hops} later parts behind it. What stands at the very end",
        "which part is {hops} places behind {start} when all parts are in sequence",
        "from {start} on, the reader is sent along {hops} times. At which part does that stop",
        "what is the name of the part that closes the thread of {start}, which is {hops} links long",
        "after {hops} turns of the page, each to the part named as the next, where has {start} led",
    ),
)


def names_needed(size: Size) -> int:
    """All parts."""
    return size.facts + size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` stories of `size.hops + 1` parts."""
    nodes = paths.layers(size, names[: size.facts], names[size.facts :], draws)
    questions = tuple(
        Question({"start": nodes[0][c], "hops": str(size.hops)}, paths.evidence(size, c), nodes[-1][c])
        for c in range(size.chains)
    )
    return Bank(paths.rows(nodes, "one", "next"), questions, tuple(sorted(nodes[-1])), paths.params(size))


FAMILY = Family(
    name="linked_order",
    version=1,
    klass="A",
    law="path",
    sizes=(
        Size(tier=3, chains=56, hops=7, asked=10),
        Size(tier=2, chains=48, hops=5, asked=8),
        Size(tier=2, chains=32, hops=5, asked=4),
        Size(tier=1, chains=56, hops=3, asked=4),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    embeds=True,
)
