"""Near-duplicates over whole datasets: candidates, verified pairs, and who stays."""
