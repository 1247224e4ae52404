"""M8, cross-modal join: a picture shows a number, a row says whose it is, whose picture shows a number. Class A.

Records of two kinds take turns on a path: a panel under a name, and a row from a number to a name. Three pictures and
two rows a path; the number of the last picture is the answer. Slots: name (captions), number and name (rows).
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording
from gristmill.synth.scenes.captions import CAPTIONS
from gristmill.synth.scenes.panels import panel

WORDING = Wording(
    clauses=(
        "whoever comes with number {number} is sent to {name}",
        "{name} answers when {number} is called",
        "number {number} belongs to {name}",
        "the ticket {number} was made out to {name}",
        "{name} keeps the locker {number}",
        "at the counter {number} means {name}",
        "under {number} the directory has {name}",
        "{name} drew lot {number} in the yard",
        "the bell with {number} on it rings for {name}",
        "for {number} one has to ask {name}",
        "{number} is the key that opens {name}",
        "{name} can be reached by dialling {number}",
        "the wagon numbered {number} goes to {name}",
        "parcels marked {number} end up with {name}",
        "{name} signs as {number} on every form",
        "a slip that says {number} leads on to {name}",
    ),
    fields=(
        "no={number} owner={name}",
        "{number}: {name}",
        "ticket {number} -> {name}",
        "holder[{number}] = {name}",
        "{name} | {number} | issued",
        "number: {number}; goes to: {name}",
        "route {number} via {name}",
        '<slot number="{number}" of="{name}"/>',
    ),
    asks=(
        "look at the picture of {start}, find whose number it shows, and go on so for {hops} records. What is the last",
        "{start} has a panel; its number leads to a name, that name to a panel. Which number ends these {hops} steps",
        "from the image {start}, by way of {hops} records in all, pictures and rows in turn, which number is reached",
        "take the figure on the plate {start}, see who has it, and repeat: which figure comes after {hops} records",
        "starting with what {start} displays, alternate text and image through {hops} of them. What is displayed then",
        "which number is on the display where a walk over {hops} records from {start} stops",
        "read {start}, follow its number to the next name, read that one too, {hops} records long. The final number is",
        "the trail of {hops} records that begins at the panel of {start} ends at another panel. What does it say",
    ),
)

_FIRST, _PAST = 1000, 10_000


def names_needed(size: Size) -> int:
    """One a picture."""
    return size.chains * (size.hops + 1) // 2


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` paths of `size.hops` records, an odd number."""
    style = draws.child("style")
    numbers: set[int] = set()
    while len(numbers) < names_needed(size):
        numbers.add(draws.integer(_FIRST, _PAST))
    pool = [str(n) for n in draws.shuffled(sorted(numbers))]
    shuffled = draws.shuffled(list(names))
    layers = [
        (shuffled if hop % 2 == 0 else pool)[hop // 2 * size.chains :][: size.chains] for hop in range(size.hops + 1)
    ]
    facts = [
        _fact(hop, chain, (layers[hop][chain], layers[hop + 1][chain]), style)
        for hop in range(size.hops)
        for chain in range(size.chains)
    ]
    questions = [
        Question(
            {"start": layers[0][c], "hops": str(size.hops)}, tuple(range(c, size.facts, size.chains)), layers[-1][c]
        )
        for c in range(size.chains)
    ]
    return Bank(tuple(facts), tuple(questions), tuple(sorted(layers[-1])), paths.params(size))


def _fact(hop: int, chain: int, row: tuple[str, str], style: Draws) -> Fact:
    if hop % 2:
        return Fact({"number": row[0], "name": row[1]}, chain, hop)
    return Fact({"name": row[0]}, chain, hop, drawing=panel(int(row[1]), style), wording=CAPTIONS)


FAMILY = Family(
    name="cross_modal",
    version=1,
    klass="A",
    law="path",
    sizes=(
        Size(tier=2, chains=48, hops=5, asked=12),
        Size(tier=2, chains=32, hops=5, asked=4),
        Size(tier=2, chains=16, hops=5, asked=1),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    pictured=True,
)
