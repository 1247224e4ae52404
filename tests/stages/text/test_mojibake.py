"""Mojibake: what is put right, and what is left alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels.damage_plain import count_document
from gristmill.stages.text.mojibake import MAX_CHARS_A_SEQUENCE, evidence, is_damaged, repaired

FRENCH = "Le café d’été « à la crème » coûte 3 €, là-bas.\nDéjà vu… naïve façade\n"
RUSSIAN = "Мельник мелет зерно на старой мельнице.\n"
CHINESE = "统计语言模型，很好。\n"


def _broken(text: str, encoding: str) -> str:
    return "".join(bytes([b]).decode(encoding, "ignore") or chr(b) for b in text.encode())


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, CHINESE])
def test_utf8_read_in_another_encoding_comes_back(text: str, encoding: str) -> None:
    broken = _broken(text, encoding)
    assert is_damaged(*evidence(broken), len(broken))
    assert repaired(broken) == text


@pytest.mark.parametrize(("text", "encoding"), [("Привет, мир", "cp1251"), ("café à côté", "mac-roman")])
def test_other_encodings(text: str, encoding: str) -> None:
    assert repaired(text.encode().decode(encoding)) == text


def test_twice_broken_comes_back() -> None:
    assert repaired(_broken(_broken("Déjà vu à côté", "cp1252"), "cp1252")) == "Déjà vu à côté"


@pytest.mark.parametrize(
    "text",
    [
        FRENCH,
        RUSSIAN,
        CHINESE,
        "Read as Latin-1, “é” becomes “Ã©” and ’ becomes â€™ here.\n",
        "náš déšť, CAFÉ», Übergröße “été”…\n",
        "Â©" * (1 << 16),
    ],
)
def test_a_correct_line_is_left_alone(text: str) -> None:
    assert repaired(text) == text


def test_an_article_on_encodings_is_not_damaged() -> None:
    article = "UTF-8 read as Windows-1252 gives “Ã©”, (â€™) and `Ã¼`, but “é” is meant. Some write Ã©." + " Text." * 50
    assert evidence(article) == (1, 3)
    assert not is_damaged(1, 3, len(article))


@pytest.mark.parametrize(
    ("free", "quoted", "chars", "told"),
    [
        (3, 0, 3 * MAX_CHARS_A_SEQUENCE, True),
        (3, 0, 3 * MAX_CHARS_A_SEQUENCE + 1, False),
        (2, 0, 1000, False),
        (2, 0, 200, True),
        (3, 3, 500, False),
        (4, 3, 500, True),
        (0, 0, 0, False),
    ],
)
def test_how_much_evidence_is_enough(free: int, quoted: int, chars: int, told: bool) -> None:
    assert is_damaged(free, quoted, chars) is told


def test_a_repair_makes_no_medium() -> None:
    broken = "a medium: ï¿¼ here"
    assert repaired(broken) == broken


@given(st.text(alphabet=st.sampled_from([*'Ãâ€™©éРџСЂ√├š"` a']), max_size=40))
@settings(max_examples=200)
def test_evidence_is_never_more_than_the_kernel_suspects(text: str) -> None:
    assert sum(evidence(text)) <= count_document(text)["suspects"]


@given(st.text(alphabet=st.sampled_from([*"Ãâ€™©éРџСЂ\ufffc\ufffd\x81 \na√├"]), max_size=30) | st.text(max_size=30))
@settings(max_examples=200)
def test_media_and_lines_stay(text: str) -> None:
    made = repaired(text)
    assert made.count("\ufffc") == text.count("\ufffc")
    assert made.count("\n") == text.count("\n")
    assert made.count("\ufffd") <= text.count("\ufffd")
