"""Speed and memory, as ratios to peers in the same run; never a timed test."""
