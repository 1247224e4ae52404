"""M3, image shares: each account has k panels, each with a number; their sum modulo M. Class A.

A record is a caption with the account's name and the picture of a panel; the number stands in its pixels alone.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Fact, Family, Size, Wording
from gristmill.synth.scenes.captions import CLAUSES, FIELDS
from gristmill.synth.scenes.panels import panel

WORDING = Wording(
    CLAUSES,
    FIELDS,
    asks=(
        "what do the numbers on the {hops} pictures of {name} make when added up, modulo {modulus}",
        "reading all {hops} panels of {name}, how much remains of their total after division by {modulus}",
        "the {hops} images that bear the name {name} show a number each. What is their sum modulo {modulus}",
        "take the figures on the {hops} plates called {name} together, and reduce modulo {modulus}: what is it",
        "how much do the {hops} displays of {name} come to, counted modulo {modulus}",
        "add what is printed on each of {hops} pictures of {name}, then take the remainder by {modulus}. The result",
        "which number modulo {modulus} do the {hops} panels under {name} amount to",
        "turning on a dial of {modulus} steps by what each of {hops} images of {name} says, where does one stop",
    ),
)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """Panels of `size.chains` accounts."""
    style = draws.child("style")

    def told(chain: int, values: Sequence[int]) -> tuple[list[Fact], dict[str, str]]:
        own = {"name": names[chain]}
        return [Fact(own, chain, hop, drawing=panel(v, style)) for hop, v in enumerate(values)], own

    return shares.bank(size, draws, told)


FAMILY = Family(
    name="image_shares",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=3, chains=9, hops=7, asked=8, modulus=97),
        Size(tier=2, chains=4, hops=5, asked=3, modulus=89),
        Size(tier=1, chains=4, hops=3, asked=3, modulus=53),
    ),
    wording=WORDING,
    names_needed=shares.one_a_chain,
    build=build,
    pictured=True,
)
