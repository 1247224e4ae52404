"""`alarm:` of a step, or of what `read:` reads: how much of one source may be lost there before the run stops.

In: a `RecipeShape` with its node tree. Out: the `Alarm` of a step, or problems with their places. An alarm
stands among the parameters of a step and is none of them: it never reaches the stage nor a key of work, so that
raising it does nothing anew.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gristmill.pipeline.recipe_shape import Params, Problem, RecipeShape, declared, path_text, shown, without
from gristmill.pipeline.recipe_yaml import Node, place_of

ALARM = "alarm"
LIMITS = ("max_drop_frac", "max_cut_frac")
MIN_RECORDS = 100
"""Of so many records each is one in a hundred of its source: a single odd one moves no fraction by more, and the
standard error of a loss of 30 % is 5 points."""

_REMEDY = "write `alarm: {max_drop_frac: 0.3}`"


@dataclass(frozen=True)
class Alarm:
    """Limits in [0, 1]; None: no limit. The run stops when a source of `min_records` or more exceeds one.

    `max_drop_frac`: records dropped and quarantined / records that came in; `max_cut_frac`: characters cut inside
    records / characters that came in. `where` is `FILE:LINE`.
    """

    max_drop_frac: float | None = None
    max_cut_frac: float | None = None
    min_records: int = MIN_RECORDS
    where: str = field(default="", compare=False)

    def plain(self) -> dict[str, Any]:
        """As a recipe and a manifest hold it, defaults written out."""
        return {name: getattr(self, name) for name in (*LIMITS, "min_records")}

    def limits(self) -> dict[str, float]:
        """The limits that are set, by name."""
        return {name: value for name, value in self.plain().items() if name in LIMITS and value is not None}


def take_alarm(params: Params, where: str) -> tuple[Params, Alarm | None]:
    """The parameters without the alarm, and the alarm, of a recipe that has no `alarm_problems`."""
    rest, given = without(params, ALARM)
    if given is None:
        return rest, None
    limits = {name: None if given.get(name) is None else float(given[name]) for name in LIMITS}
    return rest, Alarm(**limits, min_records=given.get("min_records", MIN_RECORDS), where=where)


def alarm_problems(shape: RecipeShape, root: Node) -> Iterator[Problem]:
    """What is wrong with the alarms of all datasets."""
    for given, path in declared(shape, ALARM):
        yield from _problems(given, path, root)


def _problems(given: object, path: tuple[str | int, ...], root: Node) -> Iterator[Problem]:
    what = path_text(path)
    if given is None:
        return
    if not isinstance(given, Mapping):
        yield Problem(place_of(root, path), f"{what}: not a mapping", shown(given), _REMEDY)  # pyright: ignore[reportArgumentType]
        return
    known = (*LIMITS, "min_records")
    for key, value in given.items():
        place = place_of(root, (*path, key))
        if key not in known:
            yield Problem(place, f"{what}: unknown key", key, known=known)
        elif key in LIMITS and not _is_fraction(value):
            yield Problem(place, f"{what}.{key}: not a fraction", shown(value), "write a number from 0 to 1")
        elif key == "min_records" and (type(value) is not int or value < 0):
            remedy = "write a whole number, 0 or more"
            yield Problem(place, f"{what}.{key}: not a number of records", shown(value), remedy)
    if all(given.get(name) is None for name in LIMITS):
        yield Problem(place_of(root, path), f"{what}: sets no limit", None, _REMEDY, absent=True)


def _is_fraction(value: object) -> bool:
    return value is None or (type(value) in (int, float) and 0 <= value <= 1)  # pyright: ignore[reportOperatorIssue]
