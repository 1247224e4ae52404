"""A reservoir keeps the same samples whether all rows or only its candidates are entered."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.samples import Reservoir

CELL = ("dedup", "drop", "near_duplicate")
BATCHES = st.lists(st.lists(st.integers(0, 30), max_size=30), max_size=5)


@given(BATCHES, st.integers(1, 6))
def test_what_is_no_candidate_would_not_stay(batches: list[list[int]], size: int) -> None:
    """Equal priorities are those of copies: which of them stays goes by their order, which candidates keep."""
    of_all, of_candidates = Reservoir(size), Reservoir(size)
    for number, batch in enumerate(batches):
        ranks = np.array(batch, np.uint64)
        for rows, reservoir in (
            (range(len(batch)), of_all),
            (of_candidates.candidates(CELL, ranks).tolist(), of_candidates),
        ):
            for row in rows:
                if reservoir.admits(CELL, batch[row]):
                    reservoir.put(CELL, batch[row], {"id": f"{row % 3}", "row": 100 * number + row})
    assert of_candidates.lines() == of_all.lines()
