"""Where documents come from: one reader a format, each as `protocol` says, found by `catalogue`."""
