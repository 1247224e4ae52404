"""Damage: the kernel against its plain twin, what sound text has none of, and bytes that are not UTF-8."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.damage import COUNTS, INVISIBLE_POINTS, byte_table, count_damage
from gristmill.stages.kernels.damage_plain import count_document

PARTS = [
    "é",
    "Ã©",
    "â€™",
    "РџСЂРё",
    "√©",
    "├®",
    "Р",
    "і",
    "\u200b",
    "\u200c",
    "\u200d",
    "ไ",
    "ع",
    "\U0001f468",
    "\ufe0f",
]
ODD = [
    "\r",
    "\n",
    "\r\n",
    "\x00",
    "\x1b[0m",
    "\x85",
    "\u2028",
    "\ufeff",
    "\ufffd",
    "\ufffc",
    "\xad",
    "\U000e0041",
    "x",
    " ",
]
TEXTS = st.text(max_size=40) | st.lists(st.sampled_from([*PARTS, *ODD])).map("".join)


def _counts(texts: list[str]) -> list[dict[str, int]]:
    counts = count_damage(*text_buffers(pa.array(texts, pa.large_string())))
    return [dict(zip(COUNTS, row, strict=True)) for row in counts.tolist()]


@given(st.lists(TEXTS, max_size=5))
@settings(max_examples=300)
def test_the_kernel_does_as_its_twin(texts: list[str]) -> None:
    assert _counts(texts) == [count_document(text) for text in texts]


@pytest.mark.parametrize(
    "point", [*range(0x80, 0x250), *INVISIBLE_POINTS, 0x0420, 0x0421, 0x221A, 0x251C, 0xFFFC, 0xFFFD]
)
def test_no_character_is_passed_over(point: int) -> None:
    if not 0xD800 <= point < 0xE000:
        for text in (chr(point), f"a{chr(point)}\xa9\xa9", f"ไ{chr(point)}ไ"):
            assert _counts([text]) == [count_document(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Plain text, with\ttab and\nline feed.",
        "Žluťoučký kůň, náš příští den; «é», CAFÉ, Größe “été”, ça.",
        "Рассказ о СССР: Россия и Страна Рос",
        "统计语言模型，“很好”。",
        "می\u200cخواهم",
        "ข้าว\u200bผัด",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 ❤\ufe0f\u200d🔥",
        "├── src\n│   └── main",
    ],
)
def test_sound_text_has_none(text: str) -> None:
    assert set(_counts([text])[0].values()) == {0, len(text)}


def test_bytes_that_are_not_utf8_stay_within_their_document() -> None:
    text = pa.array([b"\xe2\x80", b"\xd0", b"\xc3", b"ok"], pa.large_binary()).view(pa.large_string())
    assert count_damage(*text_buffers(text))[3].tolist() == [2, 0, 0, 0, 0, 0]


def test_plain_bytes_are_passed_over_at_once() -> None:
    assert not byte_table()[[*range(0x20, 0x7F), 0x09, 0x0A, *range(0x80, 0xC0)]].any()
