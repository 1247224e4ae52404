"""The curriculum of a run: how many tokens of which domain and length each stage reads, and what that costs in epochs.

`solve` is the solver, `load_rates` the figures that it is given, `unimax` what stands in for them, `value_of_epochs`
what repeating is worth.
"""

from gristmill.pipeline.buckets import BOUNDS
from gristmill.pipeline.curriculum.cells import bucket_names
from gristmill.pipeline.curriculum.rates import PRIOR, Rates, StageRates, load_rates
from gristmill.pipeline.curriculum.repetition import value_of_epochs, value_of_next_epoch
from gristmill.pipeline.curriculum.solve import Demand, Drawn, Problem, Supply, solve, supplies_of
from gristmill.pipeline.curriculum.unimax import unimax

__all__ = [
    "BOUNDS",
    "PRIOR",
    "Demand",
    "Drawn",
    "Problem",
    "Rates",
    "StageRates",
    "Supply",
    "bucket_names",
    "load_rates",
    "solve",
    "supplies_of",
    "unimax",
    "value_of_epochs",
    "value_of_next_epoch",
]
