"""The audit of a sample by removal: elements are taken out of the code, and the judge's picture must change there.

Elements whose boxes do not meet are taken out together, so a drawing of 40 elements costs some six drawings more.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from lxml import etree

from gristmill.render.svg.naming import Named, in_order
from gristmill.render.svg.places import MIN_PIXELS
from gristmill.render.svg.sanitise import references
from gristmill.render.svg.truth import Truth

_PAD_PX = 3
_CHANGED_LEVELS = 6
_MAX_GROUPS = 12

Area = tuple[int, int, int, int]


def audit(
    truth: Truth, rows: Sequence[tuple[Any, Named]], elements: Sequence[etree._Element]
) -> tuple[int, int, list[str]]:
    """How many annotated elements change fewer than 8 pixels when removed, how many pixels change outside; and who.

    Elements that others refer to are left out: their removal changes those too.
    """
    used = {name for element in elements for name in references(element)}
    judged = [(row, one) for row, one in rows if not _is_used(elements[one.key], used)]
    unseen, outside, notes = 0, 0, list[str]()
    for group in _apart(judged)[:_MAX_GROUPS]:
        changed = truth.changed_without([(one.key, one.end) for _, one in group], _CHANGED_LEVELS)
        if changed is None:
            break
        left = changed.copy()
        for row, one in group:
            x0, y0, x1, y1 = _area(row)
            if np.count_nonzero(changed[y0:y1, x0:x1]) < MIN_PIXELS:
                unseen += 1
                notes.append(f"audit_unseen: {one.key} {one.role}"[:80])
            left[y0:y1, x0:x1] = False
        outside += int(np.count_nonzero(left))
    return unseen, outside, notes


def _is_used(element: etree._Element, used: set[str]) -> bool:
    return any(inner.get("id") in used for inner in in_order(element))


def _area(row: Any) -> Area:
    x0, y0, x1, y1 = row["bbox_full"]
    return max(int(x0) - _PAD_PX, 0), max(int(y0) - _PAD_PX, 0), int(x1) + _PAD_PX + 1, int(y1) + _PAD_PX + 1


def _apart(rows: Sequence[tuple[Any, Named]]) -> list[list[tuple[Any, Named]]]:
    """Groups of rows whose areas do not meet, each row in the first group that has room."""
    groups: list[list[tuple[Any, Named]]] = []
    areas: list[list[Area]] = []
    for row in rows:
        mine = _area(row[0])
        for group, taken in zip(groups, areas, strict=True):
            if not any(_meet(mine, other) for other in taken):
                group.append(row)
                taken.append(mine)
                break
        else:
            groups.append([row])
            areas.append([mine])
    return groups


def _meet(a: Area, b: Area) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
