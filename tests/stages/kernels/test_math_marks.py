"""The kernel of formulas equals its plain-Python twin; each kind of formula, sound and broken, has its examples."""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.math_marks import COUNTS, MAX_FORMULA_BYTES, count_math
from gristmill.stages.kernels.math_marks_plain import count_text

PIECES = (
    r"$;$$;\(;\);\[;\];\$;\\;{;};\{;\};\frac;\alpha;^;_;=;+;*;/;<;>;`;``;x;y;12;3.5;word;中;∀;²;×;α;αβ;𝒜;⇒;→"
    r";\begin{align*};\end{align*};\begin{itemize};\end{itemize};\begin{};\begin;\end{array};{\displaystyle"
    r";{\textstyle;<math ;</math>;<math>;<mathx;$( ;$) ;$. ;$= ;$p ;@;(;);[;];-;."
)
ALL_PIECES = [*PIECES.split(";"), " ", " ", "\n", "\n\n", "\n \n"]
TEXTS = st.lists(st.sampled_from(ALL_PIECES) | st.text(max_size=3), max_size=40).map("".join)


def _counts(raw: bytes) -> dict[str, int]:
    data = np.frombuffer(raw, np.uint8)
    row = count_math(data, np.array([0, len(raw)], np.int64))[0]
    return dict(zip(COUNTS, row.tolist(), strict=True))


@given(TEXTS)
@example("`x^2` `a_b` ``x=1`` `a=b\n` `absolutely=1`")
@example("{\\displaystyle {a} b} }")
@settings(max_examples=800, deadline=None)
def test_kernel_equals_its_twin(text: str) -> None:
    raw = text.encode()
    assert _counts(raw) == count_text(raw)


def test_kernel_equals_its_twin_on_many_mixtures() -> None:
    """Hypothesis likes short texts: each piece beside each other needs more of them."""
    draw = random.Random(17)
    for _ in range(4000):
        raw = "".join(draw.choices(ALL_PIECES, k=30)).encode()
        assert _counts(raw) == count_text(raw), raw


@given(st.lists(TEXTS | st.none(), max_size=6), st.data())
@settings(deadline=None)
def test_a_text_s_counts_do_not_depend_on_the_batch(texts: list[str | None], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    array = pa.array(texts, pa.large_string())
    bytes_, offsets = text_buffers(array)
    whole = count_math(bytes_, offsets)
    parts = [count_math(bytes_, offsets[: cut + 1]), count_math(bytes_, offsets[cut:])]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


@pytest.mark.parametrize(
    ("text", "formulas", "faults"),
    [
        ("Let $x$ be", 1, 0),
        ("$$\nx = 1\n$$", 1, 0),
        (r"\(a\) and \[b\]", 2, 0),
        (r"\begin{align*} a &= b \\[2pt] c \end{align*}", 1, 0),
        (r"{\displaystyle a^{2}}", 1, 0),
        ("<math><mi>x</mi></math>", 1, 0),
        ("`x^2+1`", 1, 0),
        ("costs $5 and $10 or $12.", 0, 0),
        ("$5 and 3$ more", 0, 0),
        ("$2^{10}$", 1, 0),
        (r"a \$ b \$ c", 0, 0),
        ("$PATH is set", 0, 0),
        ("``x^2`` `python_name`", 0, 0),
        (r"\begin{itemize}\end{itemize}", 0, 0),
        (r"$\frac{1}{2$", 0, 1),
        (r"\begin{align} x", 0, 1),
        (r"x \end{align}", 0, 1),
        (r"\begin{itemize} x", 0, 1),
        ("$x_1 is\n\nnot closed", 0, 1),
        (r"\(x and \(y\)", 1, 1),
        (r"y \] z", 0, 1),
        ("$$ x", 0, 1),
        ("$( comment $) $= proof $.", 0, 0),
        ("", 0, 0),
    ],
)
def test_formulas_and_faults(text: str, formulas: int, faults: int) -> None:
    counts = _counts(text.encode())
    assert (counts["formulas"], counts["faults"]) == (formulas, faults)


@pytest.mark.parametrize(
    ("text", "operators", "symbols"),
    [
        ("48/2 = 24", 2, 0),
        ("and/or", 0, 0),
        ("x = y", 1, 0),
        ("a == b", 0, 0),
        ("∀ x ∈ A, x² ≤ 2", 0, 4),
        ("α particle, αβ", 0, 1),
        ("Ελλάδα", 0, 0),
        ("20*.8", 1, 0),
    ],
)
def test_marks_outside_formulas(text: str, operators: int, symbols: int) -> None:
    counts = _counts(text.encode())
    assert (counts["operators"], counts["symbols"]) == (operators, symbols)


def test_characters_are_characters() -> None:
    counts = _counts("é $中$ 𝒜".encode())
    assert (counts["chars"], counts["formula_chars"]) == (7, 3)


def test_where_the_end_cuts_a_formula_off() -> None:
    assert _counts(rb"so $\frac{1}{")["open_end"] == 3
    assert _counts(rb"so $5 and")["open_end"] == -1
    assert _counts(b"so $$" + b"x" * 3000)["open_end"] == -1


def test_a_formula_ends_somewhere() -> None:
    assert _counts(b"$$" + b"x" * (MAX_FORMULA_BYTES + 10) + b" $a$")["formulas"] == 1


@given(st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_bytes_that_are_no_text_stay_in_their_row(raw: bytes) -> None:
    data = np.frombuffer(raw + b"$x$ }", np.uint8)
    both = count_math(data, np.array([0, len(raw), len(data)], np.int64))
    assert both[1].tolist()[:4] == [5, 1, 3, 0]
    assert _counts(raw)["faults"] == both[0, 3]
