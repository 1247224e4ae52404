"""datatrove 0.10.1's words and arithmetic, its faults included: what `words: compat` measures."""
