"""The law of sums: each chain is k independent uniform numbers modulo M, its answer their sum.

Whoever lacks one number of a chain knows nothing of the sum, whatever else they see: class A, epsilon exactly 0.
Numbers are in [0, M), so that none is out of the ordinary.
"""

from collections.abc import Callable, Mapping, Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Question, Size

Told = Callable[[int, Sequence[int]], tuple[list[Fact], Mapping[str, str]]]
"""A chain's facts, one for each of its numbers, and the slots of its question beside `hops` and `modulus`."""


def numbers(size: Size, draws: Draws) -> list[list[int]]:
    """`size.hops + size.spare` numbers for each of `size.chains` chains."""
    return [[draws.integer(0, size.modulus) for _ in range(size.hops + size.spare)] for _ in range(size.chains)]


def candidates(size: Size) -> tuple[str, ...]:
    """Every answer that a sum can have."""
    return tuple(map(str, range(size.modulus)))


def params(size: Size) -> dict[str, int]:
    """The size as the row stores it."""
    return {"chains": size.chains, "hops": size.hops, "modulus": size.modulus, "spare": size.spare}


def bank(size: Size, draws: Draws, told: Told) -> Bank:
    """Chains of numbers as `told`: of each the first `size.hops` are asked for, the spare ones distract."""
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain, values in enumerate(numbers(size, draws)):
        evidence = tuple(range(len(facts), len(facts) + size.hops))
        own, slots = told(chain, values)
        facts += own
        slots = {**slots, "hops": str(size.hops), "modulus": str(size.modulus)}
        questions.append(Question(slots, evidence, str(sum(values[: size.hops]) % size.modulus)))
    return Bank(tuple(facts), tuple(questions), candidates(size), params(size))


def one_a_chain(size: Size) -> int:
    """Names that such a bank needs."""
    return size.chains
