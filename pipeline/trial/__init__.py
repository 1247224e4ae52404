"""For people who add filters: try one on real documents, tune its limits from stored measures, gate a change."""
