"""n-grams equal their plain-Python twin, and take up no more than the text."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels.repetition import n_gram_chars
from gristmill.stages.kernels.repetition_plain import n_gram_chars as plain
from gristmill.stages.kernels.segments import Tokens, token_table
from gristmill.stages.text.gopher_repetition import GopherRepetition
from tests.stages.kernels.test_words import TEXTS

TOP, DUPLICATED = (2, 3, 4), (2, 3, 5, 7)
PHRASES = st.lists(
    st.sampled_from(["a ", "b ", "ab ", "c", ". ", "...", "# ", "中", "a b c d e f ", "\n"]), max_size=60
)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Kernels are compiled outside the timed part of a test."""
    GopherRepetition().prepare()


def _chars(texts: list[str], top: tuple[int, ...] = TOP, duplicated: tuple[int, ...] = DUPLICATED) -> list[list[int]]:
    sums = np.zeros((len(texts), len(top) + len(duplicated)), np.int64)
    for rows, tokens in token_table(pa.array(texts, pa.large_string())):
        np.add.at(sums, rows, n_gram_chars(tokens, top, duplicated))
    return sums.tolist()


@given(st.lists(PHRASES.map("".join) | TEXTS, max_size=4))
@example(["a a a a a a a a a", "a b a b a b a", "ab c zz a bc", "", "a", "a b c d e a b c d e a b c d"])
@settings(max_examples=400)
def test_kernel_equals_its_twin(texts: list[str]) -> None:
    found = _chars(texts)
    assert found == [plain(text, TOP, DUPLICATED) for text in texts]
    assert all(0 <= chars <= len(text) for row, text in zip(found, texts, strict=True) for chars in row)


@pytest.mark.parametrize(
    ("text", "top", "duplicated"),
    [
        ("to be or not to be", [10, 0], [4, 0]),
        ("to be or not to be or", [10, 16], [4, 6]),
        ("a a a a", [7, 7], [2, 3]),
        ("ab c zz a bc", [0, 0], [0, 0]),
        ("x. x. y", [4, 0], [2, 0]),
    ],
)
def test_characters(text: str, top: list[int], duplicated: list[int]) -> None:
    assert _chars([text], (2, 3), (2, 3)) == [top + duplicated]


def test_many_different_n_grams_grow_the_table() -> None:
    text = " ".join(f"{i % 97} {i % 89}" for i in range(9000))
    assert _chars([text]) == [plain(text, TOP, DUPLICATED)]


def test_tokens_of_another_segmenter() -> None:
    tokens = Tokens(
        rows=np.array([0, 4, 8]),
        ids=np.array([0, 1, 0, 1, 0, 0, 1, 2], np.int32),
        spaced=np.ones(8, np.uint8),
        vocabulary=np.array([0, 2, 5]),
        chars=np.array([2, 3, 5, 7, 11], np.int32),
    )
    assert n_gram_chars(tokens, (2,), (2,)).tolist() == [[12, 5], [0, 0]]
