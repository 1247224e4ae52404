"""Which paragraphs of a document with media stay together: a picture and its caption, a frame and its time.

In: a text with U+FFFC for each medium and the places where it might be cut; out: those where it still may. The text
between two places is a unit.

* A unit that holds media and words is whole by itself.
* Units of media alone that follow each other stay together, with the unit of words directly in front of them and the
  one directly behind: either may be the caption.
* A single unit of words between two of media is the caption of the former, as packing has it (`pipeline.breaks`); but
  of the latter where it is a time alone, or where nothing stands behind the last of such a chain.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from gristmill.manifests.schema import MEDIUM_CHAR

_TIME = re.compile(r"\W*(?:\w{1,12}\W{1,3})?\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?\W*")


class _Run(NamedTuple):
    """Units [first, last] of media alone; whether a unit of words stands in front of it and behind."""

    first: int
    last: int
    front: bool
    behind: bool


def free_places(text: str, places: Sequence[int]) -> list[int]:
    """Places between units that need not stay together. `places` ascend inside of the text."""
    if MEDIUM_CHAR not in text:
        return list(places)
    edges = [0, *places, len(text)]
    units = [text[a:b] for a, b in pairwise(edges)]
    runs = _runs(units)
    held: set[int] = set()
    for number, run in enumerate(runs):
        held.update(range(run.first + 1, run.last + 1))
        shared_front = number > 0 and runs[number - 1].last == run.first - 2 and run.front
        shared_behind = number + 1 < len(runs) and runs[number + 1].first == run.last + 2 and run.behind
        if run.front and (not shared_front or _of_latter(units, runs, number - 1)):
            held.add(run.first)
        if run.behind and (not shared_behind or not _of_latter(units, runs, number)):
            held.add(run.last + 1)
    return [place for number, place in enumerate(places, 1) if number not in held]


def _runs(units: Sequence[str]) -> list[_Run]:
    alone = [MEDIUM_CHAR in unit and not unit.replace(MEDIUM_CHAR, "").strip() for unit in units]
    words = [MEDIUM_CHAR not in unit for unit in units]
    runs: list[_Run] = []
    at = 0
    while at < len(units):
        last = at
        while alone[at] and last + 1 < len(units) and alone[last + 1]:
            last += 1
        if alone[at]:
            runs.append(_Run(at, last, at > 0 and words[at - 1], last + 1 < len(units) and words[last + 1]))
        at = last + 1
    return runs


def _of_latter(units: Sequence[str], runs: Sequence[_Run], number: int) -> bool:
    """Whether the unit between run `number` and the next is the caption of the next."""
    if _TIME.fullmatch(units[runs[number].last + 1].strip()):
        return True
    end = number + 1
    while end + 1 < len(runs) and runs[end].behind and runs[end + 1].first == runs[end].last + 2:
        end += 1
    begin = number
    while begin > 0 and runs[begin].front and runs[begin - 1].last == runs[begin].first - 2:
        begin -= 1
    return runs[begin].front and not runs[end].behind
