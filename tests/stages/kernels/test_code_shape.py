"""Lines, letters and encoded data: cases by hand, and the kernel against its twin on hostile text."""

import base64

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels.code_shape import SHAPE_COUNTS, shape_files
from gristmill.stages.kernels.code_shape_plain import shape_counts


def spans_of(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Bytes of all texts and their places, with something between them that must not be read."""
    data, spans = b"0x41", list[tuple[int, int, int]]()
    for text in texts:
        raw = text.encode()
        spans.append((len(data), len(data) + len(raw), 0))
        data += raw + b"AAAA"
    found = np.frombuffer(data, np.uint8), np.array(spans, np.int64).reshape(-1, 3)
    for array in found:
        array.flags.writeable = False
    return found


def counts_of(text: str) -> dict[str, int]:
    counts = shape_files(*spans_of([text]))
    return dict(zip(SHAPE_COUNTS, counts[0].tolist(), strict=True))


BYTES = bytes(n * 97 % 251 for n in range(3000))
BASE64 = base64.b64encode(BYTES).decode()
PIECES = st.sampled_from(
    (
        *(
            "a",
            "1",
            "F",
            "0x",
            "0x1b",
            "\\x1b",
            "\\u00e9",
            "1b",
            "de ad be ef ",
            ",",
            " ",
            "\n",
            "\r",
            "\r\n",
            "'",
            "_",
        ),
        *(
            "é",
            "中",
            "\U0001f60a",
            "\u2028",
            "\x00",
            "\ufffc",
            "=" * 70,
            "/" * 70,
            BASE64[:63],
            BASE64[:64],
            BASE64[:32],
        ),
        *("x" * 300, "12, 34, ", "0x12u", "G", "+", "e\u0301", "\x85", "\\"),
    )
)
HOSTILE = st.one_of(st.lists(PIECES, max_size=24).map("".join), st.text(max_size=80))


@settings(max_examples=500, deadline=None)
@given(texts=st.lists(HOSTILE, max_size=3))
@example(texts=["\\de ad be ef de ad be ef "])  # an item behind a backslash that begins none
def test_kernel_and_twin_agree(texts: list[str]) -> None:
    assert shape_files(*spans_of(texts)).tolist() == [shape_counts(text) for text in texts]


@given(data=st.binary(max_size=80))
def test_bytes_that_are_not_utf_8_are_counted_within_bounds(data: bytes) -> None:
    view, span = np.frombuffer(data, np.uint8), np.array([[0, len(data), 0]], np.int64)
    span.flags.writeable = False
    counts = dict(zip(SHAPE_COUNTS, shape_files(view, span)[0].tolist(), strict=True))
    assert 0 <= counts["alpha_chars"] + counts["digit_chars"] + counts["space_chars"] <= counts["chars"] <= len(data)
    assert counts["longest_line_chars"] <= counts["line_chars"] <= counts["chars"]


@pytest.mark.parametrize(
    ("text", "lines", "longest"),
    [("", 0, 0), ("a", 1, 1), ("a\n", 1, 1), ("a\n\nbcd", 3, 3), ("a\r\nb\rcé", 3, 2), ("\n", 1, 0)],
)
def test_lines(text: str, lines: int, longest: int) -> None:
    counts = counts_of(text)
    assert (counts["lines"], counts["longest_line_chars"]) == (lines, longest)


def test_encoded_runs() -> None:
    assert counts_of(BASE64[:64])["longest_encoded_chars"] == 64
    assert counts_of(BASE64[:63])["longest_encoded_chars"] == 0
    wrapped = "\n".join(BASE64[at : at + 76] for at in range(0, 1520, 76))
    assert counts_of(wrapped)["longest_encoded_chars"] == 1520
    assert counts_of("0123456789abcdef" * 4)["longest_encoded_chars"] == 64
    escapes = "\\x1b" * 8
    assert counts_of(escapes)["longest_encoded_chars"] == 32
    assert counts_of("\\x1b" * 7)["encoded_chars"] == 0


@pytest.mark.parametrize(
    "text", ["=" * 99, "/" * 99, "a" * 99, "a_b" * 40, "the quick brown fox " * 20, "beef cafe " * 9]
)
def test_what_is_not_encoded(text: str) -> None:
    assert counts_of(text)["encoded_chars"] == 0


def test_tables_of_numbers_are_no_run() -> None:
    counts = counts_of(", ".join(f"0x{n:02x}" for n in range(256)))
    assert counts["encoded_chars"] == counts["chars"]
    assert counts["longest_encoded_chars"] == 0


def test_dense_lines() -> None:
    assert counts_of("x=1;" * 64)["dense_chars"] == 256
    assert counts_of("x=1;" * 63)["dense_chars"] == 0
    assert counts_of("x = 1; " * 64)["dense_chars"] == 0
    assert counts_of("中" * 300)["dense_chars"] == 0
