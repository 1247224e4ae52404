"""T10, a count that no block tells: which of n ships landed a kind of goods most often. Class B.

Slots of a record: port, ship, goods. Each of `size.chains` ships has one record in each of `size.hops` blocks of the
sequence (`even`); one ship landed the goods that are asked for every time, each of the others all times but one, when
it landed something else. So every ship is seen equally often everywhere, and all but one are tied one behind.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "{ship} put a load of {goods} ashore at {port}",
        "{ship} unloaded {goods} on the quay of {port}",
        "a cargo of {goods} reached {port} on board {ship}",
        "{port} took in {goods} from the hold of {ship}",
        "{ship} came to {port} with nothing but {goods}",
        "the cranes of {port} lifted {goods} out of {ship}",
        "{ship} sold its {goods} to the merchants of {port}",
        "customs at {port} cleared the {goods} of {ship}",
        "{ship} brought {goods} to {port} once again",
        "{goods} left {ship} by the ramp at {port}",
        "{ship} berthed at {port}, full of {goods}",
        "at {port} they weighed the {goods} that {ship} carried",
        "{ship} delivered {goods} into the sheds of {port}",
        "{port} has a receipt for {goods} from {ship}",
        "{ship} emptied a hold of {goods} in {port}",
        "the {goods} on the pier of {port} are those of {ship}",
    ),
    fields=(
        "port={port} ship={ship} goods={goods}",
        "{port}: {ship} landed {goods}",
        "inbound {ship} -> pier of {port} ({goods})",
        "manifest of {ship}; at {port}; {goods}",
        "{port} | vessel {ship} | load {goods}",
        "unload {goods} from {ship} at {port}",
        "berth[{port}] = {ship} with {goods}",
        '<landing harbour="{port}" by="{ship}" of="{goods}"/>',
    ),
    asks=(
        "which ship landed {goods} at {port} more often than any other",
        "count the loads of {goods} at {port} by ship. Which ship leads",
        "{port} keeps a tally of {goods}. Which ship has the highest one",
        "at {port}, who brought {goods} the greatest number of times",
        "among all ships that called at {port}, which one is first for {goods}",
        "one ship beats the rest by a single load of {goods} at {port}. Name it",
        "add up the landings of {goods} in {port}: whose number is largest",
        "who would win a prize at {port} for the most frequent cargo of {goods}",
    ),
)

GOODS = ("barley", "copper", "timber", "salt", "wool", "cement", "herring", "glass", "coal", "oranges", "tea", "bricks")


def names_needed(size: Size) -> int:
    """A port, and the ships."""
    return 1 + size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.hops` landings of `size.chains` ships, and the one question that there is."""
    port, ships = names[0], names[1:]
    asked, *others = draws.shuffled(GOODS)
    chosen = draws.integer(0, size.chains)
    facts: list[Fact] = []
    for chain, ship in enumerate(ships):
        own = [asked] * size.hops
        if chain != chosen:
            own[draws.integer(0, size.hops)] = draws.pick(others)
        facts += [Fact({"port": port, "ship": ship, "goods": goods}, chain, hop) for hop, goods in enumerate(own)]
    evidence = tuple(range(chosen * size.hops, (chosen + 1) * size.hops))
    question = Question({"port": port, "goods": asked}, evidence, ships[chosen])
    return Bank(tuple(facts), (question,), tuple(sorted(ships)), {"ships": size.chains, "landings": size.hops})


FAMILY = Family(
    name="most_cargo",
    version=1,
    klass="B",
    law="weighed",
    placing="even",
    sizes=(
        Size(tier=3, chains=34, hops=8, asked=1),
        Size(tier=3, chains=36, hops=7, asked=1),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
