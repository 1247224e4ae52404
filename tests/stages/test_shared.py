"""What filters share of a text column: made once, followed through dropped rows, gone with the chain."""

import numpy as np
import pyarrow as pa

from gristmill.stages import shared


class Lengths:
    """A derived object for the test: the length of each row."""

    def __init__(self, lengths: list[int]) -> None:
        self.lengths = lengths

    def take(self, kept: np.ndarray) -> "Lengths":
        return Lengths([n for n, stays in zip(self.lengths, kept.tolist(), strict=True) if stays])


def _batch(texts: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.large_string())})


def test_one_object_serves_all_who_ask_and_follows_dropped_rows() -> None:
    made: list[int] = []

    def make(text: pa.Array) -> Lengths:
        made.append(len(text))
        return Lengths([len(t) for t in text.to_pylist()])

    batch = _batch(["a", "bb", "ccc"])
    first = shared.derived(batch.column("text"), "lengths", make)
    assert shared.derived(batch.column("text"), "lengths", make) is first
    kept = np.array([True, False, True])
    left = batch.filter(pa.array(kept))
    shared.follow(batch.column("text"), left.column("text"), kept)
    assert shared.derived(left.column("text"), "lengths", make).lengths == [1, 3]
    assert made == [3]


def test_another_column_and_a_forgotten_one_are_made_anew() -> None:
    def make(text: pa.Array) -> Lengths:
        return Lengths([len(t) for t in text.to_pylist()])

    batch = _batch(["a", "bb", "ccc"])
    first = shared.derived(batch.column("text"), "lengths", make)
    assert shared.derived(batch.slice(1).column("text"), "lengths", make).lengths == [2, 3]
    again = shared.derived(batch.column("text"), "lengths", make)
    assert again is not first and again.lengths == [1, 2, 3]
    shared.forget()
    assert shared.derived(batch.column("text"), "lengths", make) is not again


def test_rows_of_a_column_that_nobody_asked_about_change_nothing() -> None:
    one, other = _batch(["a", "bb"]), _batch(["x", "yyyy"])
    held = shared.derived(one.column("text"), "lengths", lambda t: Lengths([len(x) for x in t.to_pylist()]))
    kept = np.array([False, True])
    shared.follow(other.column("text"), other.filter(pa.array(kept)).column("text"), kept)
    assert shared.derived(one.column("text"), "lengths", lambda _: Lengths([])) is held
