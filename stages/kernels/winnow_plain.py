"""The plain-Python twin of `winnow`: the same anchors and windows, one readable step after another."""

from collections.abc import Collection, Sequence

from gristmill.stages.kernels.winnow import BASE, MIX_ONE, MIX_TWO

_MASK = (1 << 64) - 1


def _mixed(value: int) -> int:
    value = (value ^ value >> 30) * MIX_ONE & _MASK
    value = (value ^ value >> 27) * MIX_TWO & _MASK
    return value ^ value >> 31


def gram_hash(gram: Sequence[int]) -> int:
    """The 64-bit hash of a k-gram."""
    value = 0
    for token in gram:
        value = (value * BASE + _mixed(token + BASE & _MASK)) & _MASK
    return _mixed(value)


def anchor_of(window: Sequence[int], k: int) -> tuple[int, int]:
    """(position in the window, hash) of the anchor of one window."""
    hashes = [gram_hash(window[at : at + k]) for at in range(len(window) - k + 1)]
    smallest = min(hashes)
    return len(hashes) - 1 - hashes[::-1].index(smallest), smallest


def anchors(tokens: Sequence[int], k: int, w: int) -> list[tuple[int, int]]:
    """(position, hash) of each anchor of one row, ascending."""
    found: set[tuple[int, int]] = set()
    for start in range(len(tokens) - (k + w - 1) + 1):
        at, value = anchor_of(tokens[start : start + k + w - 1], k)
        found.add((start + at, value))
    return sorted(found)


def flagged_windows(tokens: Sequence[int], flagged: Collection[int], k: int, w: int) -> list[int]:
    """Where the windows of one row begin whose anchor has one of these hashes."""
    length = k + w - 1
    starts = range(len(tokens) - length + 1)
    return [start for start in starts if anchor_of(tokens[start : start + length], k)[1] in flagged]
