"""T8, set algebra: who is on all of k lists, when everybody else misses one of them. Class B.

Slots of a record: member, list. Each of `size.chains` members is on `size.hops` lists: one on all that are asked about,
the others on all but one, which is another for each at random, and on one list more that is not asked about. So all
are mentioned as often. A member's records stand one in each of as many strata, in random order (`even`).
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "{member} belongs to {list}",
        "{member} was admitted to {list}",
        "the members of {list} count {member} among them",
        "{member} pays dues to {list}",
        "one finds {member} on the list of {list}",
        "{list} has taken in {member}",
        "{member} holds a card of {list}",
        "{list} lists {member} in full standing",
        "{member} joined {list} a while ago",
        "the rolls of {list} include {member}",
        "{member} is in {list} for sure",
        "{list} would not be complete without {member}",
        "{member} wears the pin of {list}",
        "{list} elected {member} without debate",
        "{member} never misses an evening of {list}",
        "when {list} meets, {member} has a chair",
    ),
    fields=(
        "member={member} list={list}",
        "{list}: + {member}",
        "{member} in {list}",
        "{list}.add({member})",
        "{member} | member of | {list}",
        "group: {list}; name: {member}",
        "enrol {member} into {list}",
        '<member of="{list}" name="{member}"/>',
    ),
    asks=(
        "which single name is on every one of these: {lists}",
        "{lists} have one member in common. Who is it",
        "intersect {lists}. Which name is left",
        "all but one are missing from at least one of {lists}. Who is missing from none",
        "who belongs to {lists}, to each of them without exception",
        "lay {lists} on top of one another: which member shows through all",
        "name the only one who could attend the meetings of {lists} alike",
        "among all members, one carries the cards of {lists} together. Who",
    ),
)

SPARE_LISTS = 2
"""Lists that are not asked about."""


def names_needed(size: Size) -> int:
    """Members and lists."""
    return size.chains + size.hops + SPARE_LISTS


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` members of `size.hops` lists each, and the one question that there is."""
    members, lists = names[: size.chains], names[size.chains :]
    asked, others = lists[: size.hops], lists[size.hops :]
    chosen = draws.integer(0, size.chains)
    facts: list[Fact] = []
    for chain, member in enumerate(members):
        own = list(asked)
        if chain != chosen:
            own[draws.integer(0, size.hops)] = draws.pick(others)
        facts += [Fact({"member": member, "list": name}, chain, hop) for hop, name in enumerate(own)]
    evidence = tuple(range(chosen * size.hops, (chosen + 1) * size.hops))
    question = Question({"lists": ", ".join(asked)}, evidence, members[chosen])
    return Bank(tuple(facts), (question,), tuple(sorted(members)), {"members": size.chains, "lists": size.hops})


FAMILY = Family(
    name="common_member",
    version=1,
    klass="B",
    law="weighed",
    placing="even",
    sizes=(
        Size(tier=3, chains=40, hops=7, asked=1),
        Size(tier=3, chains=36, hops=7, asked=1),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    embeds=True,
)
