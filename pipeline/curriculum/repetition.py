"""What an epoch over the same data is worth.

Muennighoff et al., "Scaling Data-Constrained Language Models" (arXiv:2305.16264): of U tokens gone through E times, the
R = E - 1 repetitions are worth U * R_STAR * (1 - exp(-R / R_STAR)) unique tokens, beside the U themselves.
"""

import math

R_STAR = 15.4
"""R_D* of that paper to three digits: after as many repetitions 1 - 1/e of all that repeating can give is had."""


def value_of_epochs(epochs: float) -> float:
    """Unique-equivalents of one token that comes `epochs` times on average; up to one epoch nothing is repeated."""
    if epochs <= 1:
        return epochs
    return 1 + R_STAR * (1 - math.exp(-(epochs - 1) / R_STAR))


def value_of_next_epoch(epochs: float) -> float:
    """The derivative: what one more token is worth, 1 for a new one."""
    return 1.0 if epochs <= 1 else math.exp(-(epochs - 1) / R_STAR)
