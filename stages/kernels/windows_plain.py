"""The plain-Python twin of `windows`, with the package `blake3`; and what all of it is for, by brute force."""

import struct
from collections.abc import Sequence

from blake3 import blake3

from gristmill.stages.kernels.blake3_lanes import DIGEST_BYTES
from gristmill.stages.kernels.windows import BRANCHES, PIECE_TOKENS

Span = tuple[int, int, int, int, int, int, int]


def window_hash(tokens: Sequence[int]) -> bytes:
    """The hash of one window."""
    size = PIECE_TOKENS
    if len(tokens) <= size:
        return _blake3(struct.pack(f"<{len(tokens)}I", *tokens))
    while BRANCHES * size < len(tokens):
        size *= BRANCHES
    starts = [min(branch * size, len(tokens) - size) for branch in range(BRANCHES)]
    return _blake3(b"".join(window_hash(tokens[start : start + size]) for start in starts))


def _blake3(data: bytes) -> bytes:
    return blake3(data).digest(DIGEST_BYTES)


def union_of_windows(spans: Sequence[Span]) -> list[Span]:
    """Disjoint spans of the same tokens, each of its first owner."""
    owner_of: dict[tuple[int, int], tuple[int, int]] = {}
    begin: dict[tuple[int, int], int] = {}
    end: dict[tuple[int, int], int] = {}
    for row, first, stop, start_byte, stop_byte, owner, times in spans:
        for token in range(first, stop):
            owner_of.setdefault((row, token), (owner, times))
        begin.setdefault((row, first), start_byte)
        end.setdefault((row, stop - 1), stop_byte)
    found: list[Span] = []
    for (row, token), (owner, times) in sorted(owner_of.items()):
        last = found[-1] if found else (-1,) * 7
        touches = last[0] == row and last[2] == token
        stop_byte = end.get((row, token), -1)
        if touches and last[5] == owner:
            found[-1] = (row, last[1], token + 1, last[3], stop_byte, owner, max(times, last[6]))
        else:
            start_byte = last[4] if touches else begin[row, token]
            found.append((row, token, token + 1, start_byte, stop_byte, owner, times))
    return found


def repeated_tokens(rows: Sequence[Sequence[int]], length: int) -> dict[tuple[int, int], int]:
    """(row, token) -> the row that keeps it: every token in a window of `length` tokens that stands in an earlier row,
    or earlier in its own row without overlap. By a table of all windows; rows are in order of rank."""
    first: dict[tuple[int, ...], tuple[int, int]] = {}
    gone: dict[tuple[int, int], int] = {}
    for row, tokens in enumerate(rows):
        for at in range(len(tokens) - length + 1):
            keeper, place = first.setdefault(tuple(tokens[at : at + length]), (row, at))
            if keeper != row or at >= place + length:
                for token in range(at, at + length):
                    gone.setdefault((row, token), keeper)
    return gone
