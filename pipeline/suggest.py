"""The remedy for a misspelt word: the nearest of the words that would have been right."""

import difflib
from collections.abc import Iterable

_SHOWN = 12


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean X`, or else the first words of `known`; "" when there are none."""
    words = sorted(set(known))
    near = difflib.get_close_matches(word[:100], words, 1)
    if near:
        return f"did you mean {near[0]}"
    if not words:
        return ""
    shown = ", ".join(words[:_SHOWN])
    return f"one of {shown}, ..." if len(words) > _SHOWN else f"one of {shown}"
