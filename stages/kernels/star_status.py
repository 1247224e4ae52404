"""What is carried of a node while duplicates are settled (`stages.dedup.stars`): one byte, free of numba."""

KEPT = 0
"""Kept so far: what every node starts as."""
DROPPED = 1
"""Goes; its keeper edge was told."""
INDEX = 2
"""Kept for good whatever its edges: a document that an earlier run decided to keep. Set by the caller at the start."""
KEEPER = 3
"""Kept for good: another node went in its favour."""
