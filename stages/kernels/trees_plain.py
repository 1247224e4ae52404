"""Plain-Python twin of `trees`: every unit is compared with every kept one of better rank, by sets.

`units` is a list, best rank first, of `{place and content: file}` for each unit. Out as there: for each unit (unit that
it goes for, files shared) or None, and for each file that goes (the file that is kept, the unit with which it goes).
"""

from collections.abc import Sequence


def settle_trees_plain(
    units: Sequence[Sequence[tuple[int, int]]], need: Sequence[int], drop_all: bool
) -> tuple[list[tuple[int, int] | None], dict[int, tuple[int, int]]]:
    """`units[u]` are (group, file), ascending."""
    gone: list[tuple[int, int] | None] = []
    keeper: dict[int, tuple[int, int]] = {}
    kept: list[bool] = []
    for number, unit in enumerate(units):
        kept.append(all(file not in keeper for _, file in unit))
        gone.append(None)
        for other in range(number):
            theirs = {group: file for group, file in reversed(units[other])}
            count = sum(group in theirs for group, _ in unit)
            if not kept[other] or count < need[number]:
                continue
            gone[-1], kept[-1] = (other, count), False
            for group, file in unit:
                leads = file in {root for root, _ in keeper.values()}
                if file in keeper or (group not in theirs and (leads or not drop_all)):
                    continue
                root = theirs.get(group, units[other][0][1])
                while root in keeper:
                    root = keeper[root][0]
                if root != file:
                    keeper[file] = (root, number)
            break
    return gone, keeper
