"""Which units (repositories, folders) go, being copies of others: the contract of `stages.dedup.repo_units`.

Units are numbered by rank, best first. Unit u has the files `unit_file[unit_ptr[u]:unit_ptr[u + 1]]`, and in
`unit_group` the group of each, ascending: files of one content that stand at one place within their units are a group,
and `post_unit[group_ptr[g]:group_ptr[g + 1]]` are the units that group g stands in, ascending. u goes for the best unit
of better rank that is kept and holds `need[u]` of its groups.

Candidates for u are the units that hold one of its `len(u) - need[u] + 1` rarest groups: whoever holds `need[u]` groups
holds one of them, so nothing is missed, but that of a group only the first `cap` units are looked at. A candidate is
then compared whole, and given up when too much is missing. `stages.kernels.trees_plain` compares all with all.
"""

from typing import Any

import numpy as np
from numba import types

from gristmill.stages.kernels.jit import OFFSETS, helper, kernel


@helper
def _place(unit_group: Any, start: Any, stop: Any, group: Any) -> Any:
    """The first entry of `[start, stop)` with the group, -1 if there is none."""
    low, high = start, stop
    while low < high:
        middle = (low + high) >> 1
        if unit_group[middle] < group:
            low = middle + 1
        else:
            high = middle
    return low if low < stop and unit_group[low] == group else -1


@helper
def _shared(unit_ptr: Any, unit_group: Any, unit: Any, other: Any, need: Any) -> Any:
    """How many of the unit's files the other holds, or -1 if fewer than `need`."""
    spare = unit_ptr[unit + 1] - unit_ptr[unit] - need
    missing = 0
    for entry in range(unit_ptr[unit], unit_ptr[unit + 1]):
        if _place(unit_group, unit_ptr[other], unit_ptr[other + 1], unit_group[entry]) < 0:
            missing += 1
            if missing > spare:
                return -1
    return unit_ptr[unit + 1] - unit_ptr[unit] - missing


@helper
def _root(keeper: Any, file: Any) -> Any:
    while keeper[file] >= 0:
        file = keeper[file]
    return file


_TREES = types.UniTuple(OFFSETS, 6)
_SETTLED = types.UniTuple(types.Array(types.int64, 1, "C"), 4)


@helper
def _candidates(trees: Any, unit: int, cap: int, state: Any) -> int:
    """Fills in the kept units of better rank that hold one of the unit's rarest files; how many there are."""
    unit_ptr, unit_group, _, group_ptr, post_unit, need = trees
    kept, stamp, candidates = state
    start, stop = unit_ptr[unit], unit_ptr[unit + 1]
    sizes = np.empty(stop - start, np.int64)
    for entry in range(start, stop):
        sizes[entry - start] = group_ptr[unit_group[entry] + 1] - group_ptr[unit_group[entry]]
    rarest = np.argsort(sizes, kind="mergesort")
    found = 0
    for probe in range(stop - start - need[unit] + 1):
        group = unit_group[start + rarest[probe]]
        for at in range(group_ptr[group], min(group_ptr[group] + cap, group_ptr[group + 1])):
            other = post_unit[at]
            if other >= unit:
                break
            if kept[other] and stamp[other] != unit:
                stamp[other] = unit
                candidates[found] = other
                found += 1
    return found


@kernel(types.int64(_TREES, types.int64, types.boolean, _SETTLED))
def settle_trees(trees: Any, cap: Any, drop_all: Any, settled: Any) -> Any:
    """Settles all units; returns how many went.

    `trees` are unit_ptr, unit_group, unit_file, group_ptr, post_unit and need; `settled` come filled with -1: for each
    unit `gone_for` (the unit that it goes for) and `shared` (how many of its files that holds), for each file `keeper`
    and `by`, the unit with which it goes. With `drop_all` the files go that the other unit does not hold, too, but not
    those that are the keepers of others."""
    unit_ptr, unit_group, unit_file, _, _, need = trees
    gone_for, shared, keeper, by = settled
    units = len(unit_ptr) - 1
    kept = np.ones(units, np.uint8)
    stamp = np.full(units, -1, np.int64)
    candidates = np.empty(units, np.int64)
    leads = np.zeros(len(keeper), np.uint8)
    gone = 0
    for unit in range(units):
        start, stop = unit_ptr[unit], unit_ptr[unit + 1]
        for entry in range(start, stop):
            if keeper[unit_file[entry]] >= 0:
                kept[unit] = 0
                break
        found = _candidates(trees, unit, cap, (kept, stamp, candidates))
        ranked = np.sort(candidates[:found])
        for at in range(found):
            other = ranked[at]
            count = _shared(unit_ptr, unit_group, unit, other, need[unit])
            if count < 0:
                continue
            gone_for[unit], shared[unit] = other, count
            kept[unit] = 0
            gone += 1
            first = unit_file[unit_ptr[other]]
            for entry in range(start, stop):
                file = unit_file[entry]
                place = _place(unit_group, unit_ptr[other], unit_ptr[other + 1], unit_group[entry])
                if keeper[file] >= 0 or (place < 0 and (not drop_all or leads[file])):
                    continue
                root = _root(keeper, unit_file[place] if place >= 0 else first)
                if root != file:
                    keeper[file], by[file] = root, unit
                    leads[root] = 1
            break
    return gone
