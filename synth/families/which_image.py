"""M1, which image: n scenes that differ from another in one attribute; which of them is described. Class A, 1 of n.

A record is a caption with a name and a scene of three things side by side; the question says what stands in it, and
only pixels tell which name that has. Distance only: the one record is far away, and no more is claimed.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording
from gristmill.synth.scenes.captions import CLAUSES, FIELDS
from gristmill.synth.scenes.things import COLOURS, FORMS, Kind, laid_out, scene

SIZE_PX, GRID = (168, 56), (3, 1)

WORDING = Wording(
    CLAUSES,
    FIELDS,
    asks=(
        "under which name is the picture filed that shows, from left to right, {first}, {second} and {third}",
        "one of the plates has {first} on its left, {second} in its middle and {third} on its right. Its title is",
        "somebody remembers {first}, beside it {second}, and at the right end {third}: what is that image called",
        "find the sheet on which {first} comes before {second} and {third} comes last. What name does it bear",
        "which caption goes with {first} followed by {second} followed by {third}",
        "reading the images like lines of text, only one says {first}, {second}, {third}. Whose is it",
        "give the label of the drawing where {second} stands between {first} (left) and {third} (right)",
        "{first}, then {second}, then {third}: of all figures, which one is meant",
    ),
)


def names_needed(size: Size) -> int:
    """One a scene."""
    return size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` scenes; each but the first is another one with one colour or form changed."""
    style = draws.child("style")
    rows = [tuple((style.pick(COLOURS), style.pick(FORMS)) for _ in range(GRID[0]))]
    while len(rows) < size.chains:
        other = _edited(style.pick(rows), style)
        if other not in rows:
            rows.append(other)
    rows = draws.shuffled(rows)
    facts = [
        Fact({"name": name}, chain, 0, drawing=scene(laid_out(row, GRID, SIZE_PX, style), SIZE_PX, style))
        for chain, (name, row) in enumerate(zip(names, rows, strict=True))
    ]
    questions = [Question(_slots(row), (chain,), names[chain]) for chain, row in enumerate(rows)]
    return Bank(tuple(facts), tuple(questions), tuple(sorted(names)), {"chains": size.chains, "hops": size.hops})


def _edited(row: tuple[Kind, ...], style: Draws) -> tuple[Kind, ...]:
    at = style.integer(0, len(row))
    colour, form = row[at]
    other = (style.pick(COLOURS), form) if style.chance(0.5) else (colour, style.pick(FORMS))
    return (*row[:at], other, *row[at + 1 :])


def _slots(row: tuple[Kind, ...]) -> dict[str, str]:
    said = [f"{'an' if colour[0] in 'aeiou' else 'a'} {colour} {form}" for colour, form in row]
    return dict(zip(("first", "second", "third"), said, strict=True))


FAMILY = Family(
    name="which_image",
    version=1,
    klass="A",
    law="path",
    placing="far",
    sizes=(
        Size(tier=0, chains=32, hops=1, asked=6),
        Size(tier=0, chains=16, hops=1, asked=3),
        Size(tier=0, chains=8, hops=1, asked=1),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    pictured=True,
)
