"""The plain-Python twin of `minhash`: docs/minhash.md step by step."""

from collections.abc import Iterable, Sequence

from gristmill.stages.kernels.shingle_plain import mix64, stream

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def signature(shingles: Iterable[int], lanes: int, seed: int) -> list[int]:
    """The lanes of a set of shingles."""
    found = set(shingles)
    values = stream(seed, 3 + 2 * lanes)[3:]
    pairs = zip(values[::2], values[1::2], strict=True)
    return [min(((factor | 1) * h + addend & _MASK for h in found), default=_MASK) >> 32 for factor, addend in pairs]


def band_keys(lanes: Sequence[int], bands: int, rows: int, seed: int) -> list[int]:
    """The keys of the bands of a signature."""
    key = stream(seed, 3)[2]
    keys: list[int] = []
    for band in range(bands):
        value = mix64(key + _GOLDEN * (band + 1) & _MASK)
        for lane in lanes[band * rows : (band + 1) * rows]:
            value = mix64(value ^ lane)
        keys.append(value)
    return keys
