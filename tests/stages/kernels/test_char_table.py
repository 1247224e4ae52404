"""The shipped character table: what it says, and that it says so under any Python."""

import unicodedata

import numpy as np
import pytest

from gristmill.stages.kernels import char_table
from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, BREAK, LATIN, SOLO, SPACE, UPPER, WORD, char_flags


def test_covers_every_code_point_once() -> None:
    flags = char_flags()
    assert flags.shape == (char_table.CODE_POINTS,)
    assert not flags.flags.writeable


@pytest.mark.parametrize(
    ("char", "expected"),
    [
        ("a", ALPHA | LATIN),
        ("É", ALPHA | LATIN | UPPER),
        ("я", ALPHA),
        ("7", WORD),
        ("٣", WORD),
        ("_", WORD),
        ("中", ALPHA | SOLO),
        ("カ", ALPHA | SOLO),
        ("ก", ALPHA | SOLO),
        ("한", ALPHA),
        ("\u0301", ATTACHED),
        ("\u200d", ATTACHED),
        ("\n", SPACE | BREAK),
        ("\u2028", SPACE | BREAK),
        ("\u3000", SPACE),
        ("\ufffc", SPACE),
        (".", 0),
        ("\0", 0),
        ("\U0010ffff", 0),
    ],
)
def test_classes(char: str, expected: int) -> None:
    assert char_flags()[ord(char)] == expected


def test_agrees_with_python_on_what_both_know() -> None:
    """A later Unicode adds characters and moves hardly any: the table stays right on nearly all."""
    points = [p for p in range(char_table.CODE_POINTS) if unicodedata.category(chr(p)) != "Cn"]
    flags = char_flags()[points]
    alpha = np.array([chr(p).isalpha() for p in points])
    space = np.array([chr(p).isspace() for p in points])
    assert np.mean((flags & ALPHA != 0) != alpha) < 0.05
    assert [points[i] for i in np.flatnonzero((flags & SPACE != 0) != space)] == [0xFFFC]


def test_is_what_its_builder_makes() -> None:
    if unicodedata.unidata_version != char_table.UNICODE_VERSION:
        pytest.skip(f"this Python has Unicode {unicodedata.unidata_version}")
    built = char_table.build_ranges()
    shipped = np.load(char_table.RANGES_PATH)
    np.testing.assert_array_equal(built, shipped)
