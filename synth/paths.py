"""The law of paths: k injective maps of n names each, followed from a start; every name stands in one path.

Whoever lacks the row of hop j of a path, and sees s rows of that map, has n - s images left, each as likely: maps are
uniform and independent of each other and of places. Paths that earlier answers gave away leave as many fewer.
"""

from collections.abc import Sequence
from itertools import pairwise

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Fact, Size


def layers(size: Size, names: Sequence[str], ends: Sequence[str], draws: Draws) -> list[list[str]]:
    """`size.hops + size.spare + 1` layers of `size.chains` nodes; node c of each is that of chain c, `ends` the last
    layer shuffled.

    `names` fill the layers in front: `size.facts` of them.
    """
    found = [draws.shuffled(names[at : at + size.chains]) for at in range(0, size.facts, size.chains)]
    return [*found, draws.shuffled(ends)]


def rows(nodes: Sequence[Sequence[str]], one: str, other: str) -> tuple[Fact, ...]:
    """A fact for each node and the next of its chain, in the slots `one` and `other`; fact hop * chains + c."""
    return tuple(
        Fact({one: a, other: b}, chain, hop)
        for hop, (here, after) in enumerate(pairwise(nodes))
        for chain, (a, b) in enumerate(zip(here, after, strict=True))
    )


def evidence(size: Size, chain: int, first: int = 0) -> tuple[int, ...]:
    """The facts of a chain: `size.hops` of them from hop `first` on."""
    return tuple((first + hop) * size.chains + chain for hop in range(size.hops))


def params(size: Size) -> dict[str, int]:
    """The size as the row stores it."""
    return {"chains": size.chains, "hops": size.hops} | ({"spare": size.spare} if size.spare else {})
