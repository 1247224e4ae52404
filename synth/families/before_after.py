"""T13, neighbours on a time line: the two events right before one of a chronicle, and the two right after. Class B.

Slots of a record: book, event, when. A bank is one chronicle of `size.chains` events on different days, drawn from
DAYS days; dates are written in many ways. Events are asked about whose neighbours are no other asked event's.
"""

from collections.abc import Sequence
from datetime import date, timedelta

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "the {event} took place on {when}, says the chronicle of {book}",
        "the chronicle of {book} dates the {event} to {when}",
        "on {when} there was the {event}, as one reads in {book}",
        "{book} remembers {when} for the {event}",
        "the {event} fell on {when} by the reckoning of {book}",
        "it was {when} when {book} saw the {event}",
        "the {event} is set down under {when} in the annals of {book}",
        "a margin of {book} links the {event} with {when}",
        "the annals of {book} put {when} next to the {event}",
        "{when} brought {book} the {event}",
        "people of {book} kept {when} as the day of the {event}",
        "the {event} has {when} written over it in {book}",
        "{book} lost an afternoon to the {event} on {when}",
        "for the {event} the book of {book} names {when}",
        "by {when} the {event} had come upon {book}, that very day",
        "as {book} tells it the {event} was no other day than {when}",
    ),
    fields=(
        "chronicle={book} event={event} day={when}",
        "{book}: {when} - {event}",
        "dated {when} / titled {event} / shelved with {book}",
        "event {event} of {book}, on {when}",
        "{book} | day of record {when} | subject {event}",
        "when: {when}; what: {event}; where: {book}",
        "log[{book}] += {event} at ({when})",
        '<event name="{event}" day="{when}" in="{book}"/>',
    ),
    asks=(
        "the chronicle of {book} has {count} events. Give the pair right before the {event} and the pair right after",
        "of {count} events in {book}, name the last pair ahead of the {event} and the first pair behind it, in order",
        "put the {count} events of {book} in order of their days: which pair is next to the {event} on either side",
        "{count} things happened in {book}. What are the nearest pairs in time around the {event}, from early to late",
        "which pair preceded the {event} and which followed it, if none of the {count} events of {book} is left out",
        "draw the time line of {book} with {count} marks. List the pair left of the {event}, then the one on its right",
        "between which pair and which other pair did {book} see the {event}, the {count} events being sorted by day",
        "name four events of {book} out of {count}: the pair just older than the {event} and the pair just younger",
    ),
)

FIRST_DAY = date(1700, 1, 1)
DAYS = 73_000
"""Two hundred years."""
SIDE = 2
"""Events asked about on each side."""
_APART = 2 * SIDE + 1

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "Sept", "October", "Nov", "Dec"]
"""The long names of three months would read as invented names."""


def names_needed(size: Size) -> int:
    """The chronicle, and the events."""
    return 1 + size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """A chronicle; chain c is the event of name c. Every fifth event of the time line may be asked about."""
    book, events = names[0], names[1:]
    days: set[int] = set()
    while len(days) < size.chains:
        days.add(draws.integer(0, DAYS))
    line = list(zip(sorted(days), draws.shuffled(range(size.chains)), strict=True))
    facts = [Fact({}, 0, 0)] * size.chains
    for day, chain in line:
        when = written(FIRST_DAY + timedelta(day), draws)
        facts[chain] = Fact({"book": book, "event": events[chain], "when": when}, chain, 0)
    questions: list[Question] = []
    for at in range(SIDE + draws.integer(0, _APART), size.chains - SIDE, _APART):
        near = [chain for _, chain in line[at - SIDE : at + SIDE + 1]]
        slots = {"book": book, "event": events[near[SIDE]], "count": str(size.chains)}
        answer = ", ".join(events[chain] for chain in near if chain != near[SIDE])
        questions.append(Question(slots, tuple(near), answer))
    return Bank(tuple(facts), tuple(questions), tuple(sorted(events)), {"events": size.chains})


def written(day: date, draws: Draws) -> str:
    """A date in one of many ways, all with the month in letters."""
    month, short = _MONTHS[day.month - 1], _MONTHS[day.month - 1][:3]
    suffix = "th" if 4 <= day.day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return draws.pick(
        (
            f"{day.day} {month} {day.year}",
            f"{month} {day.day}, {day.year}",
            f"the {day.day}{suffix} of {month} {day.year}",
            f"{day.day} {short} {day.year}",
            f"{short} {day.day} {day.year}",
            f"{day.year}, {month} {day.day}",
            f"{month} the {day.day}{suffix}, {day.year}",
            f"{day.day:02}-{short}-{day.year}",
        )
    )


FAMILY = Family(
    name="before_after",
    version=1,
    klass="B",
    law="weighed",
    sizes=(
        Size(tier=2, chains=100, hops=1, asked=4),
        Size(tier=2, chains=60, hops=1, asked=2),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
