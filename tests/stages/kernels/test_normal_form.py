"""Digests of normal forms against the twin, in blocks and across them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels import normal_form
from gristmill.stages.kernels.normal_form import EXACT, PROSE, form_digests
from gristmill.stages.kernels.normal_form_plain import form_digest
from gristmill.stages.kernels.normal_form_plain import normal_form as plain_form

PIECES = [
    *(
        "a",
        "B",
        " ",
        "  ",
        "\n",
        "\t",
        "\r\n",
        "\x1c",
        "\x00",
        "\u00a0",
        "\u3000",
        "\u2028",
        "x" * 9,
        " " * 17,
        "The End",
    ),
    *("é", "e\u0301", "\u0301", "\u0323", "\u0345", "\u0390", "ß", "İ", "Ω", "\u2126", "\ufb01", "ǅ"),
    *("각", "\u1100\u1161\u11a8", "漢", "😀", "\u200b", "\u00ad", "\ufeff", "\ufffc", "\ufffd"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=24).map("".join)


def digests(texts: list[str], kinds: list[int], tails: dict[int, bytes] | None = None) -> list[bytes]:
    raw = [text.encode() for text in texts]
    data = np.frombuffer(b"".join(raw), np.uint8)
    ends = np.cumsum([0, *map(len, raw)]).astype(np.int64)
    found = form_digests(data, ends[:-1], ends[1:], np.array(kinds, np.uint8), tails)
    return [row.tobytes() for row in found]


@given(st.lists(st.tuples(TEXTS, st.sampled_from([PROSE, EXACT])), max_size=8))
def test_every_form_is_that_of_the_twin(drawn: list[tuple[str, int]]) -> None:
    texts, kinds = [t for t, _ in drawn], [k for _, k in drawn]
    assert digests(texts, kinds) == [form_digest(t, k) for t, k in drawn]


@pytest.mark.parametrize("kind", [PROSE, EXACT])
def test_pieces_that_span_blocks(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normal_form, "BLOCK", 600)
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(PIECES, rng.integers(0, 900))) for _ in range(120)]
    tails = {row: bytes([row]) * 32 for row in range(0, 120, 3)}
    plain = [form_digest(t, kind) for t in texts]
    assert digests(texts, [kind] * len(texts)) == plain
    tailed = digests(texts, [kind] * len(texts), tails)
    assert [row for row in range(120) if tailed[row] != plain[row]] == list(tails)
    assert tailed == digests(texts, [kind] * len(texts), tails)
    monkeypatch.undo()
    assert tailed == digests(texts, [kind] * len(texts), tails)


def test_a_blank_at_the_end_of_a_block_belongs_to_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a" * size + " " * 700 + tail for size in range(260, 330) for tail in ("", "b")]
    expected = [form_digest(text, EXACT) for text in texts]
    monkeypatch.setattr(normal_form, "BLOCK", 600)
    assert [digests([text], [EXACT])[0] for text in texts] == expected


def test_more_marks_than_any_language_has() -> None:
    marks = "\u0301\u0323" * 500
    one, same = digests(["e" + marks, "E" + marks], [PROSE] * 2)
    assert one == same


def test_what_the_forms_tell_apart() -> None:
    prose = ["Ab 12,  c\n", "ab 12, C", "ab 12 c", "ab 13, c", "ab12, c", "a\ufffcb", "a b"]
    assert [plain_form(t, PROSE) for t in prose] == ["ab 12, c"] * 2 + [
        "ab 12 c",
        "ab 13, c",
        "ab12, c",
        "a\ufffcb",
        "a b",
    ]
    assert len(set(digests(prose, [PROSE] * 7))) == 6
    assert len(set(digests(prose, [EXACT] * 7))) == 7
    assert len(set(digests(["if x:\n\treturn", " if x: return\r\n", "If x: return"], [EXACT] * 3))) == 2


def test_nothing() -> None:
    assert digests([], []) == []
    assert digests(["", " \n"], [PROSE, EXACT]) == [form_digest("", PROSE)] * 2
