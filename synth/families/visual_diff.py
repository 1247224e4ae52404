"""M6, visual diff: dated pictures of one place; which of its things have another colour at one date than at another.

Class A: at each date each thing has one of two colours, independently and as likely, so one of the two pictures says
nothing about what changed, nor do those of other dates, which distract. Where pictures stand has nothing to do with
their dates. Slots of a record: name, day (in words: dates of decorations are in figures).
"""

from collections.abc import Sequence
from itertools import combinations

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording
from gristmill.synth.scenes.things import COLOURS, FORMS, Thing, laid_out, scene

SIZE_PX, GRID = (168, 112), (3, 2)
THINGS = 5
MONTHS = ("January", "March", "April", "May", "June", "July", "August", "October", "December")
NONE = "none"

WORDING = Wording(
    clauses=(
        "{name} looked on {day} as it does in the picture here",
        "the view of {name} beside this line was taken on {day}",
        "on {day} somebody painted {name}, and this is the sheet",
        "the plate at this place shows {name} as of {day}",
        "what stands here is {name} in its state of {day}",
        "this image of {name} has {day} on its back",
        "a visitor of {day} brought home the print of {name} given here",
        "the card here keeps the look that {name} had on {day}",
        "{day} is when {name} was drawn as one sees it here",
        "for {day} the album of {name} has the page that is shown",
        "whoever came to {name} on {day} saw the arrangement pictured here",
        "the shutter clicked at {name} on {day}, with this result",
        "{name}, {day}: the picture is the one beside these words",
        "the figure here goes back to {day} and is of {name}",
        "they recorded {name} on {day} in the drawing at this point",
        "in the series of {name} the sheet here is that of {day}",
    ),
    fields=(
        "series={name} taken={day} image=inline",
        "{name} @ {day}: see picture",
        "snapshot of {name}, {day}",
        "[{name}] state of {day} attached",
        "{day} | {name} | embedded view",
        "view({name}, at: {day})",
        "frame of {name}; day: {day}; type: picture",
        '<view of="{name}" day="{day}"/>',
    ),
    asks=(
        "which things in the pictures of {name} have another colour on {second} than on {first} ({rule})",
        "lay the view of {name} from {first} on that from {second}: which forms were painted over ({rule})",
        "what changed its colour at {name} from {first} to {second} ({rule})",
        "{name} was seen on {first} and on {second}. Name the forms whose colours differ between both ({rule})",
        "comparing {first} with {second}, which parts of {name} look different ({rule})",
        "for {name}, list each form that is not coloured on {second} as it was on {first} ({rule})",
        "tell which shapes of {name} were repainted from the sheet of {first} to that of {second} ({rule})",
        "between {first} and {second}, whatever happened in other years, what is no longer the same at {name} ({rule})",
    ),
)
RULE = "in alphabetical order, with commas; none where all are the same"


def names_needed(size: Size) -> int:
    """One a chain."""
    return size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """Series of `size.chains` places: two dates that are asked about and `size.spare` others."""
    facts: list[Fact] = []
    questions: list[Question] = []
    style = draws.child("style")
    forms = tuple(sorted(style.some(FORMS, THINGS)))
    for chain in range(size.chains):
        first = len(facts)
        states = [[draws.chance(0.5) for _ in forms] for _ in range(size.hops + size.spare)]
        dates = _dates(len(states), style)
        for hop, shown in enumerate(_shown(forms, states, style)):
            drawing = scene(shown, SIZE_PX, style, one_shade=True)
            facts.append(Fact({"name": names[chain], "day": dates[hop]}, chain, hop, drawing=drawing))
        slots = {"name": names[chain], "first": dates[0], "second": dates[1], "rule": RULE}
        changed = [form for form, a, b in zip(forms, *states[:2], strict=True) if a != b]
        questions.append(Question(slots, (first, first + 1), ", ".join(changed) or NONE))
    sizes = {"chains": size.chains, "hops": size.hops, "spare": size.spare, "things": THINGS}
    return Bank(tuple(facts), tuple(questions), _subsets(forms), sizes)


def _shown(forms: Sequence[str], states: Sequence[Sequence[bool]], style: Draws) -> list[list[Thing]]:
    """The things of each state: places, sizes and the two colours of each are those of the series."""
    cells = [*forms, *[None] * (GRID[0] * GRID[1] - len(forms))]
    kinds = [None if form is None else (COLOURS[0], form) for form in style.shuffled(cells)]
    things = {thing.form: thing for thing in laid_out(kinds, GRID, SIZE_PX, style)}
    pairs = {form: style.some(COLOURS, 2) for form in forms}
    return [
        [_with_colour(things[form], pairs[form][on]) for form, on in zip(forms, state, strict=True)] for state in states
    ]


def _with_colour(thing: Thing, colour: str) -> Thing:
    return Thing(colour, thing.form, thing.x, thing.y, thing.side)


def _dates(count: int, style: Draws) -> list[str]:
    found: set[str] = set()
    ordered: list[str] = []
    while len(ordered) < count:
        date = f"{style.integer(1, 29)} {style.pick(MONTHS)} {style.integer(1950, 2020)}"
        if date not in found:
            found.add(date)
            ordered.append(date)
    return ordered


def _subsets(forms: Sequence[str]) -> tuple[str, ...]:
    """Every answer that there can be; `forms` in alphabetical order."""
    chosen = (some for count in range(len(forms) + 1) for some in combinations(forms, count))
    return tuple(", ".join(some) or NONE for some in chosen)


FAMILY = Family(
    name="visual_diff",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=1, chains=7, hops=2, asked=6, modulus=0, spare=3),
        Size(tier=1, chains=4, hops=2, asked=3, modulus=0, spare=2),
        Size(tier=1, chains=2, hops=2, asked=1, modulus=0, spare=1),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    pictured=True,
)
