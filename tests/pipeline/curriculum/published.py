"""A curriculum of four stages that was worked out elsewhere: targets, tables, and the pool that follows from them.

The shares of each stage are known to 0.1 %, the epochs of documents over 512K to two digits, and that these are 0.9 %
of a pool of 2.6T tokens, those of 128-512K 4 %. In the last stage no cap binds, so its table is sqrt(pool) scaled by
rows and columns; what is drawn of the longest documents over their epochs gives one column of the pool, and so the
factors of the rows. The factors of the other columns cancel in every fit: any pool of these odds has the same solution.
"""

import numpy as np

from gristmill.pipeline.curriculum.cells import Floats

DOMAINS = ("web", "code", "math", "knowledge")
RATES = np.array([0.50, 0.22, 0.10, 0.18])
NAMES = ("P1", "P2", "C1", "C2")
CONTEXTS = (8192, 65_536, 262_144, 1_048_576)
TOKENS = (890e9, 80e9, 22e9, 8e9)
BUCKETS = (
    (0.70, 0.17, 0.10, 0.025, 0.005),
    (0.40, 0.15, 0.30, 0.11, 0.04),
    (0.40, 0.10, 0.15, 0.27, 0.08),
    (0.40, 0.08, 0.12, 0.16, 0.24),
)
TABLES = (
    ((41.5, 6.1, 2.1, 0.3, 0.0), (12.2, 5.1, 3.4, 1.0, 0.3), (6.6, 2.3, 0.9, 0.2, 0.0), (9.7, 3.6, 3.6, 1.0, 0.2)),
    ((28.9, 7.5, 9.9, 2.9, 0.9), (4.5, 3.4, 8.6, 3.7, 1.8), (3.3, 2.0, 3.2, 1.1, 0.3), (3.3, 2.1, 8.3, 3.3, 1.0)),
    ((29.8, 5.3, 5.4, 7.7, 1.9), (4.0, 2.0, 4.0, 8.6, 3.5), (3.3, 1.4, 1.7, 2.9, 0.7), (3.0, 1.3, 3.9, 7.9, 1.9)),
    ((30.2, 4.4, 4.5, 4.8, 6.1), (3.5, 1.4, 2.9, 4.6, 9.6), (3.3, 1.1, 1.4, 1.8, 2.3), (2.9, 1.1, 3.2, 4.8, 6.0)),
)
LONGEST_EPOCHS = np.array([3.3, 0.38, 1.9, 0.54])
POOL_TOKENS = 2.6e12
BUCKET_SHARES = np.array([0.62, 0.19, 0.1415, 0.04, 0.0085])
"""Of the pool; the last two are known, the first three are free (they cancel), and add up to the rest."""


def pool() -> Floats:
    """float64[4, 5] tokens."""
    last = np.array(TABLES[3])
    shares = [np.array(table)[:, 4] / 100 for table in TABLES]
    first = np.array(TABLES[0])[:, 0] * last[:, 4] / last[:, 0]  # 0.0 % says too little: by the odds of the last stage
    shares[0] = first / first.sum() * BUCKETS[0][4]
    longest = sum(tokens * share for tokens, share in zip(TOKENS, shares, strict=True)) / LONGEST_EPOCHS
    shape = (last / (last[:, 4] / np.sqrt(longest))[:, None]) ** 2
    return shape / shape.sum(axis=0) * BUCKET_SHARES * POOL_TOKENS
