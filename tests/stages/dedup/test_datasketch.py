"""Our lanes of datasketch equal those of datasketch, bit for bit; it is the oracle, and skipped where it is absent."""

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.stages.dedup.datasketch_form import (
    SCHEMES,
    DatasketchForm,
    Scheme,
    datasketch_signatures,
    from_datasketch,
    permutations,
    to_datasketch,
)
from gristmill.stages.dedup.shingles import ShingleSpec, shingle_sets
from gristmill.stages.dedup.sketch import SketchSpec, band_keys
from gristmill.stages.kernels import minhash, minhash_datasketch, shingle_rows

datasketch = pytest.importorskip("datasketch", reason="datasketch, the oracle, is not installed", minversion="2")

KERNELS = (minhash, minhash_datasketch, shingle_rows)
"""Compiled when they are imported, here and not within the first test."""

EDGES = [0, 1, 2**31, 2**32 - 1, 2**32, 2**61 - 2, 2**61 - 1, 2**61, 2**63, 2**64 - 1]


def _theirs(hashes: list[int], num_perm: int, seed: int, scheme: str) -> Any:
    made = datasketch.MinHash(num_perm, seed=seed, scheme=scheme, hashfunc=lambda value: value)
    made.update_batch(hashes)
    return made


@pytest.mark.parametrize("scheme", SCHEMES)
@given(
    st.lists(st.lists(st.integers(0, 2**64 - 1) | st.sampled_from(EDGES), max_size=20), min_size=1, max_size=4),
    st.integers(1, 40),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_lanes_are_those_of_datasketch(scheme: Scheme, rows: list[list[int]], num_perm: int, seed: int) -> None:
    if scheme == "affine32":
        rows = [[value & 0xFFFFFFFF for value in row] for row in rows]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    ours = datasketch_signatures(np.array([x for r in rows for x in r], np.uint64), offsets, num_perm, seed, scheme)
    theirs = [_theirs(row, num_perm, seed, scheme) for row in rows]
    np.testing.assert_array_equal(ours.values, [made.hashvalues for made in theirs])
    assert (from_datasketch(theirs).values == ours.values).all()


@pytest.mark.parametrize("wanted", [2**61 - 2, 2**61 - 1, 2**61, 2**62 - 2, 2**62 - 1, 2**64 - 1])
def test_sums_at_the_prime(wanted: int) -> None:
    """Hashes whose sum, before the remainder is taken, is what one in 10^18 is by chance."""
    factors, addends = permutations(64, 1, "legacy")
    lane = int(np.flatnonzero(factors & np.uint64(1))[0])
    value = (wanted - int(addends[lane])) * pow(int(factors[lane]), -1, 2**64) % 2**64
    ours = datasketch_signatures(np.array([value], np.uint64), np.array([0, 1]), 64, 1, "legacy")
    assert ours.values[0, lane] == wanted % (2**61 - 1) & 0xFFFFFFFF
    np.testing.assert_array_equal(ours.values[0], _theirs([value], 64, 1, "legacy").hashvalues)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_there_and_back(scheme: Scheme) -> None:
    hashes = np.arange(1, 2001, dtype=np.uint64) * np.uint64(2_654_435)
    offsets = np.array([0, 800, 1400, 1400, 2000])
    form = datasketch_signatures(hashes & np.uint64(0xFFFFFFFF), offsets, 128, 7, scheme)
    given_back = to_datasketch(form)
    again = from_datasketch([datasketch.LeanMinHash(given_back[0]), *given_back[1:]])
    assert (again.values == form.values).all()
    assert (again.seed, again.scheme) == (7, scheme)
    assert given_back[0].jaccard(given_back[1]) == (form.values[0] == form.values[1]).mean()
    given_back[2].update_batch([b"a"])
    assert not (given_back[2].hashvalues == form.values[2]).any()


def test_with_the_hash_that_datasketch_uses() -> None:
    words = [b"one", b"two", b"drei"]
    hashes = np.array([int.from_bytes(hashlib.sha1(word).digest()[:4], "little") for word in words], np.uint64)
    made = datasketch.MinHash(64)
    made.update_batch(words)
    ours = datasketch_signatures(hashes, np.array([0, 3]), 64)
    np.testing.assert_array_equal(ours.values[0], made.hashvalues)


def test_our_shingles_through_their_lanes_and_into_our_bands() -> None:
    texts = pa.array(["a b c d e f g h", "A b c d e f g, h!", "x y z u v w"], pa.large_string())
    sets = shingle_sets(texts, pa.array(["web"] * 3), ShingleSpec())
    spec = SketchSpec(bands=4, rows=8)
    for scheme in SCHEMES:
        hashes = sets.hashes >> np.uint64(32) if scheme == "affine32" else sets.hashes
        keys = band_keys(datasketch_signatures(hashes, sets.offsets, spec.lanes, 1, scheme).lanes(), spec)
        assert (keys[0] == keys[1]).all()
        assert not (keys[0] == keys[2]).any()


def test_what_does_not_go_together_is_told() -> None:
    one, two = _theirs([1], 16, 1, "legacy"), _theirs([1], 16, 2, "legacy")
    with pytest.raises(UsageError, match="cannot be compared"):
        from_datasketch([one, two])
    with pytest.raises(UsageError, match="cannot be compared"):
        from_datasketch([one, _theirs([1], 16, 1, "affine64")])
    own = datasketch.MinHash(16, seed=3, permutations=two.permutations, scheme="legacy")
    with pytest.raises(UsageError, match="do not come from the seed"):
        from_datasketch([own])
    with pytest.raises(UsageError, match="no signatures"):
        from_datasketch([])
    with pytest.raises(UsageError, match="above 32 bits"):
        datasketch_signatures(np.array([2**32], np.uint64), np.array([0, 1]))
    with pytest.raises(UsageError, match="at least one"):
        permutations(0, 1, "legacy")
    with pytest.raises(UsageError, match="seed"):
        permutations(1, 2**32, "legacy")


def test_old_signatures_are_legacy() -> None:
    class Old:
        """What a MinHash of datasketch 1 has."""

        seed = 1
        hashvalues = _theirs([5, 6], 16, 1, "legacy").hashvalues

    form = from_datasketch([Old()])
    assert isinstance(form, DatasketchForm)
    assert form.scheme == "legacy"
