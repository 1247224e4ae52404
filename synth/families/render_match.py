"""M5, render-code match: n nearly equal SVG programs and what each draws; which picture is whose. Class A, 1 of n.

A record is either a program under a name, or its picture under another. Each program is another one with one thing
changed, or a few where one is not enough; any two pictures differ in MIN_DIFFERING_FRAC of their pixels at least, and
in MIN_HASH_BITS of a difference hash of 64. Distance only: a window that holds a program and its picture knows.
"""

from collections.abc import Sequence
from dataclasses import replace

from gristmill.render.draws import Draws
from gristmill.render.pixels import Decoded, decode, differing
from gristmill.synth.protocol import Bank, Drawing, Fact, Family, Question, Size, Wording
from gristmill.synth.scenes.captions import CAPTIONS
from gristmill.synth.scenes.drawing import draw
from gristmill.synth.scenes.things import COLOURS, FORMS, GROUNDS, Thing, element, laid_out, picture, shade

SIZE_PX, GRID = (168, 112), (3, 2)
THINGS = 4
MIN_DIFFERING_FRAC, MIN_HASH_BITS = 0.005, 4
MAX_TRIES, TRIES_PER_EDIT = 2000, 64
"""Where so many drawings with one edit do not give enough, two are made, and so on."""

WORDING = Wording(
    clauses=(
        "the lines of code that follow draw {name}",
        "{name} is what a browser makes of the source below",
        "one gets {name} by running the markup at the end of this note",
        "the listing under this line is the program of {name}",
        "{name} was typed in as printed here",
        "whoever executes the block below sees {name}",
        "here is the text from which {name} was rendered",
        "the vector file of {name} reads as follows",
        "{name} has the source that comes next",
        "below stands all that is needed to paint {name}",
        "somebody saved {name} as the few elements listed here",
        "to get {name} back, feed the next lines to a renderer",
        "the code of {name} is short and comes right here",
        "for {name} the designers left this listing",
        "what you read below turns into {name} on a screen",
        "in the repository {name} is stored like this",
    ),
    fields=(
        "program={name} language=svg",
        "source of {name}:",
        "[code {name}]",
        "file: {name}; type: svg; inline",
        "render {name} <- block below",
        "{name} | vector source | text",
        "listing({name})",
        '<source of="{name}" type="svg"/>',
    ),
    asks=(
        "under which name stands the picture that the program of {name} draws",
        "run the code called {name} in your head: which of the plates comes out",
        "the source {name} was rendered once. What is the title of the image that it gave",
        "match {name} with its rendering: whose caption is it",
        "of all drawings shown, which one did the listing {name} produce",
        "which figure looks exactly as the markup of {name} would be painted",
        "a browser opens {name}. Which of the pictures does it show, by its label",
        "name the print whose pixels follow from the elements in {name}",
    ),
)


def names_needed(size: Size) -> int:
    """One a program, and one a picture."""
    return 2 * size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` programs and their pictures."""
    style = draws.child("style")
    drawings = draws.shuffled(_drawings(size.chains, style))
    programs, plates = names[: size.chains], names[size.chains :]
    facts = [
        Fact({"name": name}, chain, 0, body=f"```svg\n{drawing.svg}\n```")
        for chain, (name, drawing) in enumerate(zip(programs, drawings, strict=True))
    ]
    facts += [
        Fact({"name": name}, chain, 1, drawing=drawing, wording=CAPTIONS)
        for chain, (name, drawing) in enumerate(zip(plates, drawings, strict=True))
    ]
    questions = [Question({"name": programs[c]}, (c, size.chains + c), plates[c]) for c in range(size.chains)]
    return Bank(tuple(facts), tuple(questions), tuple(sorted(plates)), {"chains": size.chains, "hops": size.hops})


def _drawings(count: int, style: Draws) -> list[Drawing]:
    """Drawings that are far enough from each other. Raises ValueError where MAX_TRIES edits give too few."""
    ground = style.pick(GROUNDS)
    cells = style.shuffled([*range(THINGS), *[-1] * (GRID[0] * GRID[1] - THINGS)])
    kinds = [None if cell < 0 else (style.pick(COLOURS), style.pick(FORMS)) for cell in cells]
    scenes = [tuple(laid_out(kinds, GRID, SIZE_PX, style))]
    found = [_written(scenes[0], ground)]
    seen = [decode(draw(found[0]).data)]
    for tried in range(MAX_TRIES):
        if len(found) == count:
            return found
        things = style.pick(scenes)
        for _ in range(1 + tried // TRIES_PER_EDIT):
            things = _edited(things, style)
        drawing = _written(things, ground)
        decoded = decode(draw(drawing).data)
        if all(are_apart(decoded, other) for other in seen):
            scenes.append(things)
            found.append(drawing)
            seen.append(decoded)
    raise ValueError(f"{len(found)} of {count} drawings")


def _edited(things: tuple[Thing, ...], style: Draws) -> tuple[Thing, ...]:
    """Another colour, form or place for one thing."""
    at = style.integer(0, len(things))
    thing = things[at]
    way = style.pick(("colour", "form", "place", "place"))
    if way == "colour":
        other = replace(thing, colour=style.pick(COLOURS))
    elif way == "form":
        other = replace(thing, form=style.pick(FORMS))
    else:
        wide, high = SIZE_PX[0] // GRID[0], SIZE_PX[1] // GRID[1]
        left, top = thing.x // wide * wide, thing.y // high * high
        x, y = (corner + style.integer(2, room - thing.side - 1) for corner, room in ((left, wide), (top, high)))
        other = replace(thing, x=x, y=y)
    return (*things[:at], other, *things[at + 1 :])


def _written(things: Sequence[Thing], ground: str) -> Drawing:
    """The program, its things in order. A colour has always the same shade, so that one edit changes one thing."""
    lines = [element(thing, shade(thing.colour)) for thing in things]
    return picture([f'<rect width="{SIZE_PX[0]}" height="{SIZE_PX[1]}" fill="{ground}"/>', *lines], SIZE_PX)


def are_apart(one: Decoded, other: Decoded) -> bool:
    """Whether two pictures can be told from each other."""
    bits = (int(one.dhash, 16) ^ int(other.dhash, 16)).bit_count()
    return bits >= MIN_HASH_BITS and differing(one, other) >= MIN_DIFFERING_FRAC * SIZE_PX[0] * SIZE_PX[1]


FAMILY = Family(
    name="render_match",
    version=1,
    klass="A",
    law="path",
    placing="far",
    sizes=(
        Size(tier=1, chains=12, hops=2, asked=4),
        Size(tier=1, chains=8, hops=2, asked=2),
        Size(tier=1, chains=5, hops=2, asked=1),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    pictured=True,
)
