"""The laws of the design, stated once and run over every stage, recipe and engine."""
