"""Long-context sequences: tasks, placement, verification."""
