"""Reference solver of `visual_diff`: which things have other colours in the pictures of two dates.

A record told by sight has one name, one date in words and a line of things. None where one of the two is missing;
Contradiction where two records have one date, their things are not the same forms in the same places, or one has more
than two colours.
"""

import re
from collections.abc import Sequence
from itertools import combinations

from gristmill.synth.solvers.asking import Records
from gristmill.synth.solvers.sharing import Solved, shares_law
from gristmill.synth.solvers.sight import by_sight, scenes
from gristmill.synth.solvers.words import Contradiction, names_in

_DATE = re.compile(r"(?<!\d)(\d{1,2} [A-Z][a-z]{2,8} \d{4})(?!\d)")
_THING = re.compile(r"([a-z]+) ([a-z]+) (\[[\d, ]+\])")
NONE = "none"

State = dict[str, tuple[str, str]]
"""Of each form its colour and its box."""


def read_state(text: str) -> tuple[str, State]:
    """(date, things) of a record. Raises Contradiction."""
    words, _, shown = text.rpartition("shown: ")
    dates = _DATE.findall(words)
    things = {form: (colour, box) for colour, form, box in _THING.findall(shown)}
    if len(dates) != 1 or not things or len(things) != shown.count("["):
        raise Contradiction(f"a record of dates {dates} with {shown!r}")
    return dates[0], things


def solve(text: str, records: Records, without: int = -1) -> Solved:
    """The forms that differ between the two dates of a query."""
    names, dates = set(names_in(text)), _DATE.findall(text)
    if len(names) != 1 or len(dates) != 2 or dates[0] == dates[1]:
        raise Contradiction(f"a query with names {sorted(names)} and dates {dates}")
    (name,) = names
    states = {start: read_state(records.texts[start]) for start in records.with_name(name)}
    found = {date: start for start, (date, _) in states.items()}
    if len(found) < len(states):
        raise Contradiction("two records of one date")
    shapes = {tuple(sorted((form, box) for form, (_, box) in state.items())) for _, state in states.values()}
    if len(shapes) != 1:
        raise Contradiction("pictures of one series with other things")
    forms = sorted({form for form, _ in next(iter(shapes))})
    if any(len({state[form][0] for _, state in states.values()}) > 2 for form in forms):
        raise Contradiction("a thing of more than two colours")
    used = tuple(found[date] for date in dates if date in found and found[date] != without)

    def combine(starts: Sequence[int]) -> str:
        """What differs; of one picture, what it suggests by itself."""
        if len(starts) < 2:
            return _suggested(states[starts[0]][1]) if starts else NONE
        one, other = (states[start][1] for start in starts[:2])
        return _listed([form for form in forms if one[form][0] != other[form][0]])

    candidates = tuple(_listed(some) for count in range(len(forms) + 1) for some in combinations(forms, count))
    return Solved(name, combine(used) if len(used) == 2 else None, used, used, candidates, combine)


def _suggested(state: State) -> str:
    """What somebody says who sees one picture: the forms whose colour is in the first half of those in it."""
    colours = sorted(colour for colour, _ in state.values())
    return _listed(sorted(form for form, (colour, _) in state.items() if colour <= colours[len(colours) // 2 - 1]))


def _listed(forms: Sequence[str]) -> str:
    return ", ".join(forms) or NONE


DIFFS = by_sight(scenes, shares_law(solve, lambda text: (_suggested(read_state(text)[1]),)))
