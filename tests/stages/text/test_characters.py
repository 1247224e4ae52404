"""Characters: each policy, and that each returns what it returned."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels.damage_plain import count_document
from gristmill.stages.text.characters import (
    in_nfc,
    with_line_feeds,
    without_ansi,
    without_controls,
    without_invisibles,
)

STEPS = [with_line_feeds, without_ansi, without_controls, without_invisibles, in_nfc]
PARTS = [
    "\r",
    "\n",
    "\x1b[1m",
    "\x1b",
    "]0;x\x07",
    "\x08",
    "a",
    "\x93",
    "\x85",
    "\u200b",
    "\u200d",
    "ไ",
    "ع",
    "\ufffc",
    "\xad",
]
TEXTS = st.text(max_size=40) | st.lists(st.sampled_from([*PARTS, "\U0001f3f4", "\U000e0067", "\U000e007f"])).map(
    "".join
)


@pytest.mark.parametrize(
    ("step", "text", "expected"),
    [
        (with_line_feeds, "a\r\nb\rc\x0bd\x0ce\x1cf\x85g\u2028h\u2029i\r\r\n", "a\nb\nc\nd\ne\nf\ng\nh\ni\n\n"),
        (with_line_feeds, "a\tb\n\nc\x1f", "a\tb\n\nc\x1f"),
        (without_ansi, "\x1b[31;1mred\x1b[0m, \x1b]0;title\x07x\x1b(By", "red, xy"),
        (without_ansi, "\x1b]0;never ends", "\x1b]0;never ends"),
        (without_controls, "N\x08NA\x08A_\x08M\x08", "NAM"),
        (without_controls, "a\x00b\x1fc\x7f\td\n\x81", "abc\td\n"),
        (without_controls, "\x93quoted\x94 \x96 \x80", "“quoted” – €"),
        (without_controls, "\ufffc\x08", "\ufffc"),
        (without_invisibles, "\ufeffa\xadb\u202ec\u2066d\u2060e\ufff9f\ufdd0g\uffffh", "abcdefgh"),
        (without_invisibles, "a\u200db\u200cc\u200bd", "abcd"),
        (without_invisibles, "می\u200cخواهم ไ\u200bไ \U0001f468\u200d\U0001f469", None),
        (without_invisibles, "می\u200c خواهم", "می خواهم"),
        (without_invisibles, "\U0001f3f4\U000e0067\U000e0062\U000e007f", None),
        (without_invisibles, "hidden\U000e0068\U000e0069", "hidden"),
        (without_invisibles, "\u200e\u200f\u061c\ufffc", None),
        (in_nfc, "e\u0301 ＡＢ ﬁ", "é ＡＢ ﬁ"),
    ],
)
def test_what_each_step_makes(step: Callable[[str], str], text: str, expected: str | None) -> None:
    assert step(text) == (text if expected is None else expected)


@given(TEXTS, st.sampled_from(STEPS))
@settings(max_examples=300)
def test_each_returns_what_it_returned_and_keeps_media(text: str, step: Callable[[str], str]) -> None:
    made = step(text)
    assert made.count("\ufffc") == text.count("\ufffc")
    # What an escape sequence or a normal form leaves may be another one: the stage goes on until nothing changes.
    assert step(made) == made or step is without_ansi


@given(TEXTS)
@settings(max_examples=200)
def test_they_change_what_the_kernel_counts(text: str) -> None:
    counts = count_document(text)
    assert (with_line_feeds(text) != text) == (counts["breaks"] > 0)
    assert (without_controls(text) != text) == (counts["controls"] > 0)
    assert (without_invisibles(text) != text) == (counts["invisibles"] > 0)


@pytest.mark.parametrize("part", ["\x1b]", "\x1b[0", "a\x08", "\x08", "\U0001f3f4", "\U000e0067", "\u200d"])
def test_no_text_makes_them_slow(part: str) -> None:
    text = part * 200_000
    for step in STEPS:
        step(text)
