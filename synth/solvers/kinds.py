"""What ordinary words are kinds of: the table of `kinds.json`, group -> words. No word is in two groups."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def kinds() -> Mapping[str, tuple[str, ...]]:
    """The words of each group, in the order of the file."""
    table = json.loads(Path(__file__).with_name("kinds.json").read_text())
    return {group: tuple(words) for group, words in table.items()}


@cache
def group_of() -> Mapping[str, str]:
    """The group of each word."""
    return {word: group for group, words in kinds().items() for word in words}
