"""Signatures in the form of datasketch: taken over from it, made as it makes them, and given back.

A form is `num_perm` values of each document, with the scheme and the seed that its permutations come from: values of
another scheme or seed cannot be compared with them, and nothing in the values tells. datasketch 2 has three schemes
(`kernels.minhash_datasketch` has their arithmetic): `affine32`, its default, `affine64`, and `legacy`, which is all
that earlier versions have; there the values do not say so, and are taken as legacy. datasketch is needed to give
signatures back alone: `pip install datasketch`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import UsageError

Scheme = Literal["affine32", "affine64", "legacy"]
SCHEMES: tuple[Scheme, ...] = ("affine32", "affine64", "legacy")

_WHERE = "datasketch"
_PRIME = (1 << 61) - 1
_MAX_SEED = (1 << 32) - 1

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class DatasketchForm:
    """`values` uint64 (n, num_perm): below 2^32 but for affine64; all bits set where a document had nothing."""

    values: Hashes
    seed: int
    scheme: Scheme

    def lanes(self) -> npt.NDArray[np.uint32]:
        """The same as lanes of 32 bits, which `sketch.band_keys` takes: the upper half of affine64."""
        return (self.values >> np.uint64(32) if self.scheme == "affine64" else self.values).astype(np.uint32)


def permutations(num_perm: int, seed: int, scheme: Scheme) -> tuple[Hashes, Hashes]:
    """Factors and addends as datasketch draws them (NumPy's RandomState, whose streams are frozen)."""
    _check(num_perm, seed, scheme)
    draw = np.random.RandomState(seed)
    if scheme == "legacy":
        pairs = [
            (draw.randint(1, _PRIME, dtype=np.uint64), draw.randint(0, _PRIME, dtype=np.uint64))
            for _ in range(num_perm)
        ]
        both = np.array(pairs, np.uint64)
        return both[:, 0].copy(), both[:, 1].copy()
    width, kind = (32, np.uint32) if scheme == "affine32" else (64, np.uint64)
    factors = draw.randint(0, 1 << (width - 1), num_perm, dtype=kind) * kind(2) + kind(1)
    addends = draw.randint(0, 1 << width, num_perm, dtype=kind)
    return factors.astype(np.uint64), addends.astype(np.uint64)


def datasketch_signatures(
    hashes: npt.NDArray[np.unsignedinteger[Any]],
    offsets: npt.NDArray[np.int64],
    num_perm: int = 128,
    seed: int = 1,
    scheme: Scheme = "affine32",
) -> DatasketchForm:
    """What `MinHash(num_perm, seed, scheme=scheme).update_batch` makes of values whose hashes (`hashfunc`) are given:
    row i has `hashes[offsets[i]:offsets[i + 1]]`. Raises UsageError on hashes above 32 bits for affine32."""
    from gristmill.stages.kernels.minhash_datasketch import datasketch_lanes

    drawn = permutations(num_perm, seed, scheme)
    if scheme == "affine32" and len(hashes) and int(hashes.max()) >> 32:
        raise UsageError("a hash above 32 bits for affine32", _WHERE, int(hashes.max()), "use scheme affine64")
    return DatasketchForm(datasketch_lanes(hashes.astype(np.uint64), offsets, drawn, scheme), seed, scheme)


def from_datasketch(sketches: Sequence[Any]) -> DatasketchForm:
    """The signatures of MinHash or LeanMinHash objects. Raises UsageError where they do not go together, or have
    permutations that do not come from their seed."""
    if not sketches:
        raise UsageError("no signatures", _WHERE, remedy="give at least one MinHash")
    kinds = {(getattr(made, "scheme", "legacy"), int(made.seed), len(made.hashvalues)) for made in sketches}
    if len(kinds) > 1:
        raise UsageError("signatures that cannot be compared", _WHERE, sorted(kinds), "take one scheme, seed and size")
    scheme, seed, num_perm = kinds.pop()
    scheme = cast(Scheme, scheme)
    drawn = permutations(num_perm, seed, scheme)
    for made in sketches:
        own = getattr(made, "permutations", None)
        if own is not None and not all(np.array_equal(x, y) for x, y in zip(own, drawn, strict=True)):
            raise UsageError("permutations that do not come from the seed", _WHERE, seed, "keep such sketches apart")
    return DatasketchForm(np.array([made.hashvalues for made in sketches], np.uint64), seed, scheme)


def to_datasketch(form: DatasketchForm) -> list[Any]:
    """A datasketch MinHash of each document. Raises UsageError where datasketch is absent or has no such scheme."""
    try:
        import datasketch
    except ImportError as error:
        raise UsageError("datasketch is not installed", _WHERE, remedy="pip install datasketch") from error
    values = form.values.astype(np.uint32) if form.scheme == "affine32" else form.values
    if int(datasketch.__version__.split(".")[0]) >= 2:
        return [datasketch.MinHash(seed=form.seed, hashvalues=row, scheme=form.scheme) for row in values]
    if form.scheme != "legacy":
        raise UsageError("this datasketch has no such scheme", _WHERE, form.scheme, "pip install 'datasketch>=2'")
    return [datasketch.MinHash(seed=form.seed, hashvalues=row) for row in values]


def _check(num_perm: int, seed: int, scheme: str) -> None:
    if num_perm < 1:
        raise UsageError("a signature needs at least one permutation", _WHERE, num_perm, "datasketch's default is 128")
    if not 0 <= seed <= _MAX_SEED:
        raise UsageError("no seed of datasketch", _WHERE, seed, f"use 0 to {_MAX_SEED}")
    if scheme not in SCHEMES:
        raise UsageError("an unknown scheme", _WHERE, scheme, f"use one of {', '.join(SCHEMES)}")
