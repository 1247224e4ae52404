"""Training and judging of quality classifiers: inputs, splits, fitting, metrics, plots, model cards."""
