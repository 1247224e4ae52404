"""Radix order against Python's sort."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import GristmillError
from gristmill.stages.kernels import radix
from gristmill.stages.kernels.radix import argsort, order_by, sort_pairs, sort_words
from gristmill.stages.kernels.radix_plain import order_by as order_plain

WORD = st.one_of(st.integers(0, 2), st.sampled_from([255, 256, 1 << 63, (1 << 64) - 1]), st.integers(0, (1 << 64) - 1))


def words_of(rows: list[tuple[int, int, int]]) -> list[npt.NDArray[np.uint64]]:
    return [np.array([row[i] for row in rows], np.uint64) for i in range(3)]


@given(st.lists(st.tuples(WORD, WORD, WORD), max_size=60))
def test_rows_are_ordered_by_their_words(rows: list[tuple[int, int, int]]) -> None:
    words = words_of(rows)
    assert order_by(words).tolist() == order_plain([w.tolist() for w in words])


@given(st.lists(st.tuples(st.integers(0, 1), st.just(7), st.integers(0, 3)), max_size=60))
def test_rows_that_tie_in_all_words_keep_their_order(rows: list[tuple[int, int, int]]) -> None:
    words = words_of(rows)
    assert order_by(words).tolist() == order_plain([w.tolist() for w in words])


@given(st.lists(WORD, max_size=60))
def test_payload_follows_its_key(keys: list[int]) -> None:
    held = np.array(keys, np.uint64)
    ordered, payload = sort_pairs(held.copy(), np.arange(len(keys), dtype=np.uint32))
    assert ordered.tolist() == sorted(keys) == sort_words(held.copy()).tolist()
    assert payload.tolist() == argsort(held).tolist() == sorted(range(len(keys)), key=lambda i: keys[i])
    assert held.tolist() == keys


def test_words_are_asked_for_only_while_rows_tie() -> None:
    def words() -> object:
        yield np.array([3, 1, 2], np.uint64)
        raise AssertionError("asked for a word that decides nothing")

    assert order_by(words()).tolist() == [1, 2, 0]  # type: ignore[arg-type]


def test_more_rows_than_32_bits_count_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radix, "MAX_ROWS", 3)
    with pytest.raises(GristmillError, match="more rows"):
        argsort(np.zeros(3, np.uint64))
