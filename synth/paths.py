"""The law of paths: k injective maps of n names each, followed from a start; every name stands in one path.

Whoever lacks the row of hop j of a path, and sees s rows of that map, has n - s images left, each as likely: maps are
uniform and independent of each other and of places. Paths that earlier answers gave away leave as many fewer.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Size


def layers(size: Size, names: Sequence[str], ends: Sequence[str], draws: Draws) -> list[list[str]]:
    """`size.hops + 1` layers of `size.chains` nodes; node c of each is that of chain c, `ends` the last layer shuffled.

    `names` fill the layers in front: `size.hops * size.chains` of them.
    """
    found = [draws.shuffled(names[at : at + size.chains]) for at in range(0, size.facts, size.chains)]
    return [*found, draws.shuffled(ends)]


def params(size: Size) -> dict[str, int]:
    """The size as the row stores it."""
    return {"chains": size.chains, "hops": size.hops}
