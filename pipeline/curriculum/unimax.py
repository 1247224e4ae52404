"""UniMax: domain rates where no ablation says better (Chung et al., arXiv:2304.09151, algorithm 1).

The budget is spread evenly; a domain that would be gone through more often than the cap gives what it cannot take to
the others.
"""

from collections.abc import Mapping


def unimax(supply: Mapping[str, float], budget: float, caps: Mapping[str, float]) -> dict[str, float]:
    """Rates that add up to 1. supply, budget: tokens, the budget above 0; caps: epochs for each domain.

    Raises ValueError where all domains at their caps are less than the budget.
    """
    most = {name: tokens * caps[name] for name, tokens in supply.items()}
    if sum(most.values()) < budget * (1 - 1e-9):
        raise ValueError(f"{sum(most.values()):.4g} tokens at the caps are less than {budget:.4g}")
    rates: dict[str, float] = {}
    left = budget
    by_room = sorted(most, key=lambda name: (most[name], name))
    for number, name in enumerate(by_room):
        taken = min(left / (len(by_room) - number), most[name])
        rates[name] = taken / budget
        left -= taken
    return rates
