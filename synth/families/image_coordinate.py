"""M2, image coordinate: a chain of names leads to a picture; where on it is a thing that all pictures have. Class A.

Records are rows from a name to the next one, and, last, scenes under the names of the ends. The answer is a box as
`manifests.coordinates_text` writes it, in one of its views, which the question names: pixels of the picture as the
model sees it, or fractions of its sides. Slots: left, right (rows), name (captions).
"""

from collections.abc import Sequence

from gristmill.manifests.coordinates import Size as Sides
from gristmill.manifests.coordinates_text import VIEWS, TextView, box_text, view_sentence
from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording
from gristmill.synth.scenes.captions import CAPTIONS
from gristmill.synth.scenes.things import COLOURS, FORMS, Kind, Thing, laid_out, scene

SIZE_PX, GRID = (168, 112), (3, 2)
THINGS = 4

WORDING = Wording(
    clauses=(
        "{left} hands the lamp to {right}",
        "{left} is followed by {right}",
        "behind the door of {left} sits {right}",
        "{left} always passes the parcel to {right}",
        "the rope of {left} is tied to {right}",
        "one comes from {left} straight to {right}",
        "{left} has written the address of {right} on the back",
        "{left} whispers to {right} and to nobody else",
        "the arrow that starts at {left} hits {right}",
        "after {left} it is the turn of {right}",
        "{left} borrows the ladder from {right}",
        "water from {left} runs down into {right}",
        "{left} opens onto {right}",
        "the cable of {left} is plugged into {right}",
        "{left} left everything to {right}",
        "who leaves {left} arrives at {right}",
    ),
    fields=(
        "from={left} to={right}",
        "{left} => {right}",
        "next of {left} is {right}",
        "link[{left}] = {right}",
        "{left} | onward | {right}",
        "node: {left}; next: {right}",
        "goto {left} then {right}",
        '<edge from="{left}" to="{right}"/>',
    ),
    asks=(
        "go on from {start} until a picture is reached. Where in it is the {thing} ({view})",
        "{start} leads to others and at last to an image: give the box around its {thing} ({view})",
        "follow the trail of {start} to the plate at its end, and locate the {thing} on that plate ({view})",
        "which box bounds the {thing} in the drawing that one arrives at from {start} ({view})",
        "starting with {start}, take each step up to the figure. Its {thing} lies in which box ({view})",
        "the way of {start} stops at a sheet of things. State where on it the {thing} stands ({view})",
        "find the view at the far end of {start} and measure its {thing} ({view})",
        "from {start}, name by name, to the print that closes the row: where does it have the {thing} ({view})",
    ),
)


def names_needed(size: Size) -> int:
    """One for each row's beginning, and one a picture."""
    return size.facts


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` chains of `size.hops` records, the last one a picture."""
    style = draws.child("style")
    view: TextView = style.pick(VIEWS)
    kind = (style.pick(COLOURS), style.pick(FORMS))
    layers = [draws.shuffled(names[at : at + size.chains]) for at in range(0, size.facts, size.chains)]
    scenes = _scenes(size.chains, kind, view, draws)
    facts = [
        Fact({"left": layers[hop][c], "right": layers[hop + 1][c]}, c, hop)
        for hop in range(size.hops - 1)
        for c in range(size.chains)
    ]
    facts += [
        Fact({"name": layers[-1][c]}, c, size.hops - 1, drawing=scene(things, SIZE_PX, style), wording=CAPTIONS)
        for c, (_, things) in enumerate(scenes)
    ]
    said = view_sentence(view, Sides(*SIZE_PX)).rstrip(".")
    questions = [
        Question(
            {"start": layers[0][c], "thing": " ".join(kind), "view": said},
            tuple(range(c, size.facts, size.chains)),
            answer,
        )
        for c, (answer, _) in enumerate(scenes)
    ]
    return Bank(tuple(facts), tuple(questions), tuple(sorted(answer for answer, _ in scenes)), paths.params(size))


def _scenes(count: int, kind: Kind, view: TextView, draws: Draws) -> list[tuple[str, list[Thing]]]:
    """(box, things) of scenes that each have one thing of the kind, no two in one box."""
    found: dict[str, list[Thing]] = {}
    while len(found) < count:
        kinds: list[Kind | None] = [kind]
        while len(kinds) < THINGS:
            other = (draws.pick(COLOURS), draws.pick(FORMS))
            kinds += [other] if other != kind else []
        kinds += [None] * (GRID[0] * GRID[1] - len(kinds))
        things = laid_out(draws.shuffled(kinds), GRID, SIZE_PX, draws)
        (wanted,) = (thing for thing in things if (thing.colour, thing.form) == kind)
        found.setdefault(box_text(wanted.box, view, Sides(*SIZE_PX)), things)
    return list(found.items())


FAMILY = Family(
    name="image_coordinate",
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
