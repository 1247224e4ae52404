"""Signatures and band keys equal their plain twin and the vectors of docs/minhash.md; what they estimate is right."""

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.stages.dedup.shingles import ShingleSpec, shingle_sets, shingle_sets_of_ids
from gristmill.stages.dedup.sketch import (
    MAX_LANES,
    SketchSpec,
    band_keys,
    signatures,
    signatures_of_sets,
    sketch,
)
from gristmill.stages.kernels import minhash, minhash_plain, shingle_plain, shingle_rows
from gristmill.stages.kernels.shingle_words import WORDS

KERNELS = (minhash, shingle_rows)
"""Compiled when they are imported, here and not within the first test."""

DOCS = Path(__file__).parents[3] / "docs" / "minhash.md"
WORD_LISTS = st.lists(
    st.sampled_from(["a", "b", "Cc", "é", "中", "don't", "long_word_of_this_text", "1.5"]), max_size=30
)
SPEC = SketchSpec()


def _web(texts: list[str | None]) -> tuple[pa.Array, pa.Array]:
    return pa.array(texts, pa.large_string()), pa.array(["web"] * len(texts))


@given(st.lists(WORD_LISTS.map(" ".join), max_size=4), st.integers(1, 5), st.integers(1, 9), st.integers(0, 2**64 - 1))
@settings(max_examples=60)
def test_sketch_equals_its_twin(texts: list[str], bands: int, rows: int, seed: int) -> None:
    spec = SketchSpec(ShingleSpec(n=3), bands, rows, seed)
    lanes, found = signatures(*_web([*texts]), spec), sketch(*_web([*texts]), spec)
    for i, text in enumerate(texts):
        listed = shingle_plain.shingles(text, WORDS, 3, seed)
        wanted = minhash_plain.signature(listed, bands * rows, seed)
        assert lanes[i].tolist() == wanted
        assert found.shingles[i] == len(listed)
        assert found.band_keys[i].tolist() == minhash_plain.band_keys(wanted, bands, rows, seed)


def test_vectors_of_the_specification() -> None:
    text = DOCS.read_text(encoding="utf-8")
    vectors = dict(re.findall(r"^\| `([^`|]+)` \| `([0-9a-f]+)` \|$", text, re.MULTILINE))
    unit_key, shingle_key, band_key = shingle_plain.stream(1, 3)
    listed = shingle_plain.shingles("The quick brown fox jumps over", WORDS, 5, 1)
    lanes = minhash_plain.signature(listed, 112, 1)
    keys = minhash_plain.band_keys(lanes, 14, 8, 1)
    factor, addend = shingle_plain.stream(1, 5)[3:]
    wanted = {
        "mix64(1)": shingle_plain.mix64(1),
        "unit key": unit_key,
        "shingle key": shingle_key,
        "band key": band_key,
        "factor of lane 0": factor | 1,
        "addend of lane 0": addend,
        "word the": shingle_plain.hash_word(b"the", unit_key),
        "word internationalisation": shingle_plain.hash_word(b"internationalisation", unit_key),
        "word \u00e9t\u00e9": shingle_plain.hash_word(shingle_plain.folded("\u00c9T\u00c9").encode(), unit_key),
        "character a": shingle_plain.mix64(unit_key ^ ord("a")),
        "shingle the quick brown fox jumps": listed[0],
        "shingle quick brown fox jumps over": listed[1],
        "lane 0": lanes[0],
        "lane 1": lanes[1],
        "lane 111": lanes[111],
        "key of band 0": keys[0],
        "key of band 13": keys[13],
    }
    assert {name: int(value, 16) for name, value in vectors.items()} == wanted
    found = sketch(*_web(["the QUICK brown fox; jumps over"]), SPEC)
    assert [found.band_keys[0, 0], found.band_keys[0, 13]] == [keys[0], keys[13]]
    assert signatures(*_web(["the QUICK brown fox; jumps over"]), SPEC)[0].tolist() == lanes


def test_rows_without_shingles_are_marked() -> None:
    found = sketch(*_web(["", None, "a b c d", "a b c d e", "... --- ..."]), SPEC)
    assert found.shingles.tolist() == [0, 0, 0, 1, 0]
    assert (signatures(*_web(["a b c d"]), SPEC) == 0xFFFFFFFF).all()
    empty = sketch(*_web([]), SPEC)
    assert empty.band_keys.shape == (0, 14)


@given(st.lists(WORD_LISTS.map(" ".join) | st.none(), min_size=1, max_size=8), st.data())
@settings(max_examples=50)
def test_a_row_s_sketch_does_not_depend_on_its_batch(texts: list[str | None], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    text, domain = _web(texts)
    whole = sketch(text, domain, SPEC)
    parts = [sketch(text.slice(a, n), domain.slice(a, n), SPEC) for a, n in ((0, cut), (cut, len(texts) - cut))]
    np.testing.assert_array_equal(whole.band_keys, np.concatenate([part.band_keys for part in parts]))
    np.testing.assert_array_equal(whole.shingles, np.concatenate([part.shingles for part in parts]))


@given(WORD_LISTS, st.integers(1, 7))
def test_repetition_changes_no_lane(words: list[str], times: int) -> None:
    line = " ".join(words)
    # Six times: every shingle that goes over an end of the line is there.
    once, often = signatures(*_web([" ".join([line] * 6), " ".join([line] * (6 + times))]), SPEC)
    np.testing.assert_array_equal(once, often)


def test_signatures_of_sets_are_those_of_the_text() -> None:
    texts = _web(["", "a b c d e f", "one two three four five six seven " * 900])
    sets = shingle_sets(*texts, ShingleSpec())
    lanes, counts = signatures_of_sets(sets.hashes, sets.offsets, SPEC)
    np.testing.assert_array_equal(lanes, signatures(*texts, SPEC))
    assert counts.tolist() == [0, 2, 7]
    ids = shingle_sets_of_ids(np.arange(20, dtype=np.uint32), np.array([0, 20]), 5)
    assert signatures_of_sets(ids.hashes, ids.offsets, SPEC)[0].shape == (1, 112)


def test_lanes_agree_as_often_as_the_sets_are_alike() -> None:
    """60 pairs x 2048 lanes of each similarity: the share of equal lanes is within 5 standard errors of Jaccard's."""
    draw = np.random.default_rng(5)
    spec = SketchSpec(ShingleSpec(n=1), bands=256, rows=8)
    for shared in (10, 50, 90):
        texts: list[str | None] = []
        for _ in range(60):
            words = [f"w{x}" for x in draw.choice(10**9, 200 - shared, replace=False)]
            texts += [" ".join(words[:100]), " ".join(words[100 - shared :])]
        lanes = signatures(*_web(texts), spec)
        equal = (lanes[::2] == lanes[1::2]).mean(axis=1)
        jaccard = shared / (200 - shared)
        error = (jaccard * (1 - jaccard) / spec.lanes) ** 0.5
        assert abs(equal.mean() - jaccard) < 5 * error / 60**0.5
        assert equal.std() < 1.5 * error
        # Lanes are independent of each other: their agreements vary from pair to pair as those of coins.
        assert equal.std() > error / 1.5


def test_keys_of_bands_differ_by_band_and_seed() -> None:
    lanes = np.full((1, 112), 7, np.uint32)
    one, other = band_keys(lanes, SPEC), band_keys(lanes, SketchSpec(seed=2))
    assert len({*one[0].tolist(), *other[0].tolist()}) == 28
    changed = lanes.copy()
    changed[0, 9] = 8
    assert (band_keys(changed, SPEC) != one).tolist() == [[i == 1 for i in range(14)]]


def test_one_long_row_takes_no_memory_of_its_own() -> None:
    """50 MB in one row: what is allocated beside the text stays below 8 MB; its set is that of a small text."""
    line = "The end of the World, as we know it; don't panic \u2013 \u00e9t\u00e9 \u4e2d\u6587 1,000. "
    text, domain = _web([line * (50_000_000 // len(line.encode()) + 1)])
    tracemalloc.start()
    found = sketch(text, domain, SPEC)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000
    small = sketch(*_web([line * 3]), SPEC)
    np.testing.assert_array_equal(found.band_keys, small.band_keys)
    sets = shingle_sets(text, domain, ShingleSpec())
    np.testing.assert_array_equal(sets.hashes, shingle_sets(*_web([line * 3]), ShingleSpec()).hashes)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (SketchSpec(bands=0), "bands must be at least 1"),
        (SketchSpec(rows=-1), "rows must be at least 1"),
        (SketchSpec(bands=257, rows=1), "too many bands: '257'; use at most 256"),
        (SketchSpec(bands=128, rows=33), f"'128 x 33 = 4224'; keep it within {MAX_LANES}"),
        (SketchSpec(seed=-1), "64 bits"),
        (SketchSpec(seed=2**64), "64 bits"),
        (SketchSpec(ShingleSpec(n=0)), "minhash: a shingle of so many units"),
    ],
)
def test_what_cannot_be_is_told_before_any_work(spec: SketchSpec, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        spec.check()
    with pytest.raises(UsageError):
        sketch(*_web(["a b c d e f"]), spec)


def test_signatures_of_another_size_are_told() -> None:
    with pytest.raises(UsageError, match="112 lanes are wanted"):
        band_keys(np.zeros((2, 100), np.uint32), SPEC)
