"""M10, object count: each place has k scenes; how many things of one form they show in all, modulo M. Class A.

A record is a caption with the place's name and a scene. The things of the form that is asked for are uniform in number,
independently in each scene; those of other forms have nothing to do with them.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Drawing, Fact, Family, Size, Wording
from gristmill.synth.scenes.captions import CLAUSES, FIELDS
from gristmill.synth.scenes.things import COLOURS, FORMS, Kind, laid_out, scene

SIZE_PX, GRID = (224, 168), (5, 3)
MAX_OTHERS = 6

WORDING = Wording(
    CLAUSES,
    FIELDS,
    asks=(
        "how many things in the form of a {form} do the {hops} pictures of {name} show together, modulo {modulus}",
        "count each {form} on all {hops} plates called {name}. What is left of the count after division by {modulus}",
        "over its {hops} images, how often does {name} have a {form}, reduced modulo {modulus}",
        "for every {form} that one finds in the {hops} views of {name} put down a bean. Beans modulo {modulus} are",
        "tally the {form} shapes of {name} through its {hops} drawings and take the remainder by {modulus}. The tally",
        "whatever the colour, how often is a {form} drawn on the {hops} sheets of {name}, counted modulo {modulus}",
        "which number modulo {modulus} tells how often a {form} turns up in {hops} prints of {name}",
        "a hand moves a step on a dial of {modulus} for each {form} in the {hops} figures of {name}. Where is it then",
    ),
)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """Scenes of `size.chains` places."""
    style = draws.child("style")

    def told(chain: int, counts: Sequence[int]) -> tuple[list[Fact], dict[str, str]]:
        own, form = {"name": names[chain]}, style.pick(FORMS)
        facts = [Fact(own, chain, hop, drawing=_scene(form, n, style)) for hop, n in enumerate(counts)]
        return facts, {**own, "form": form}

    return shares.bank(size, draws, told)


def _scene(form: str, count: int, style: Draws) -> Drawing:
    others = [other for other in FORMS if other != form]
    kinds: list[Kind | None] = [(style.pick(COLOURS), form) for _ in range(count)]
    kinds += [(style.pick(COLOURS), style.pick(others)) for _ in range(style.integer(1, MAX_OTHERS + 1))]
    kinds += [None] * (GRID[0] * GRID[1] - len(kinds))
    return scene(laid_out(style.shuffled(kinds), GRID, SIZE_PX, style), SIZE_PX, style)


FAMILY = Family(
    name="object_count",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=2, chains=9, hops=5, asked=8, modulus=7),
        Size(tier=2, chains=4, hops=4, asked=3, modulus=7),
        Size(tier=1, chains=4, hops=3, asked=3, modulus=7),
    ),
    wording=WORDING,
    names_needed=shares.one_a_chain,
    build=build,
    pictured=True,
)
