"""The remedy for a misspelt word: the nearest of those that would have been right."""

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean X`, or what is to be said where none is near."""
    near = difflib.get_close_matches(word[:100], list(known), n=1)
    return f"did you mean {near[0]}" if near else otherwise
