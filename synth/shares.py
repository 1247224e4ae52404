"""The law of sums: each chain is k independent uniform numbers modulo M, its answer their sum.

Whoever lacks one number of a chain knows nothing of the sum, whatever else they see: class A, epsilon exactly 0.
Numbers are in [0, M), so that none is out of the ordinary.
"""

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Size


def numbers(size: Size, draws: Draws) -> list[list[int]]:
    """`size.hops + size.spare` numbers for each of `size.chains` chains."""
    return [[draws.integer(0, size.modulus) for _ in range(size.hops + size.spare)] for _ in range(size.chains)]


def candidates(size: Size) -> tuple[str, ...]:
    """Every answer that a sum can have."""
    return tuple(map(str, range(size.modulus)))


def params(size: Size) -> dict[str, int]:
    """The size as the row stores it."""
    return {"chains": size.chains, "hops": size.hops, "modulus": size.modulus, "spare": size.spare}
