"""MinHash sketches of documents: equal band keys make two documents candidates for being near copies.

Text and domain in as for `shingles`; out: for each row `bands` 64-bit keys, and how many shingles it has (repeated ones
counted each time). A row with `shingles == 0` has no sketch: its keys mean nothing and are never used. The arithmetic,
with test vectors, stands in docs/minhash.md; a row's shingles pass by and are never held.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.dedup.shingles import ShingleSpec, unit_kinds

MAX_LANES = 4096
MAX_BANDS = 256
"""A band's number is one byte in the keys of the exchange."""

Lanes = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class SketchSpec:
    """`bands` of `rows` lanes each over the shingles of `shingles`; all constants come from `seed`.

    14 bands of 8 are those of FineWeb (Penedo et al. 2024, section 3.4): half of the pairs of Jaccard 0.685 meet."""

    shingles: ShingleSpec = field(default_factory=ShingleSpec)
    bands: int = 14
    rows: int = 8
    seed: int = 1

    @property
    def lanes(self) -> int:
        """Lanes of a signature."""
        return self.bands * self.rows

    def check(self, where: str = "minhash") -> None:
        """Raises UsageError where bands and rows give no signature, or the seed or the shingles are impossible."""
        self.shingles.check(where)
        for name, value in (("bands", self.bands), ("rows", self.rows)):
            if value < 1:
                raise UsageError(f"{name} must be at least 1", where, value, "14 bands of 8 rows are the default")
        if self.bands > MAX_BANDS:
            raise UsageError("too many bands", where, self.bands, f"use at most {MAX_BANDS}")
        if self.lanes > MAX_LANES:
            product = f"{self.bands} x {self.rows} = {self.lanes}"
            raise UsageError("bands x rows is too large", where, product, f"keep it within {MAX_LANES}")
        if not 0 <= self.seed < 1 << 64:
            raise UsageError("the seed is no number of 64 bits", where, self.seed, "use 0 to 2^64 - 1")


@dataclass(frozen=True)
class Sketch:
    """`band_keys` uint64 (n, bands); `shingles` int64 (n), 0 where the keys mean nothing."""

    band_keys: npt.NDArray[np.uint64]
    shingles: npt.NDArray[np.int64]


def sketch(text: pa.Array, domain: pa.Array, spec: SketchSpec) -> Sketch:
    """The sketches of all rows."""
    lanes, shingles = _lanes(text, domain, spec)
    return Sketch(band_keys(lanes, spec), shingles)


def signatures(text: pa.Array, domain: pa.Array, spec: SketchSpec) -> Lanes:
    """The lanes (n, bands * rows) that the keys are made of; 2^32 - 1 in rows without shingles."""
    return _lanes(text, domain, spec)[0]


def band_keys(lanes: Lanes, spec: SketchSpec) -> npt.NDArray[np.uint64]:
    """Keys (n, bands) of signatures (n, bands * rows), ours or others'."""
    from gristmill.stages.kernels.minhash import key_bands

    spec.check()
    if lanes.ndim != 2 or lanes.shape[1] != spec.lanes:
        raise UsageError("signatures of another size", "minhash", lanes.shape, f"{spec.lanes} lanes are wanted")
    return key_bands(lanes, spec.bands, spec.rows, spec.seed)


def signatures_of_sets(
    hashes: npt.NDArray[np.uint64], offsets: npt.NDArray[np.int64], spec: SketchSpec
) -> tuple[Lanes, npt.NDArray[np.int64]]:
    """The lanes of rows of shingles (row i: `hashes[offsets[i]:offsets[i + 1]]`), such as those of tokens, and how many
    shingles each has."""
    from gristmill.stages.kernels.minhash import lane_constants, sketch_shingles

    spec.check()
    return sketch_shingles(hashes, offsets, lane_constants(spec.lanes, spec.seed)), np.diff(offsets)


def _lanes(text: pa.Array, domain: pa.Array, spec: SketchSpec) -> tuple[Lanes, npt.NDArray[np.int64]]:
    from gristmill.stages.kernels.buffers import text_buffers
    from gristmill.stages.kernels.minhash import lane_constants, sketch_rows
    from gristmill.stages.kernels.shingle_rows import Rows, shingle_tables

    spec.check()
    rows = Rows(*text_buffers(text), unit_kinds(domain, spec.shingles))
    tables = shingle_tables(spec.shingles.n, spec.seed)
    return sketch_rows(rows, spec.shingles.n, tables, lane_constants(spec.lanes, spec.seed))
