"""Scores by trained models: the `quality` stage, its scorers, calibration, and the file that holds a model."""
