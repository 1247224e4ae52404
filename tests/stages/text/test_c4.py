"""C4's rules: each at, above and below its limit; what is cut and why; lists of bad words; texts with media."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages import catalogue
from gristmill.stages.chain import ChainResult, run_chain
from gristmill.stages.text.c4 import C4

SENTENCE = "The mill grinds the corn."
PAGE = "\n".join([SENTENCE] * 5)
CHARACTERS = "aZé1'.,[]{!?#…•\n\r\u2028 中。ก\u0301\ufffc\0😀"
HOSTILE = st.text(st.sampled_from(CHARACTERS), max_size=40) | st.text(max_size=40)


def run(texts: list[str | None], langs: list[str | None] | None = None, **params: Any) -> ChainResult:
    lang = pa.array(langs or [None] * len(texts), pa.string())
    return run_chain([C4(**params)], document_batch({"text": pa.array(texts, pa.large_string()), "lang": lang}))


def reason(text: str | None, lang: str | None = None, **params: Any) -> str:
    fates = run([text], [lang], **params).fates
    return fates[0].reason if fates else ""


def kept(text: str, **params: Any) -> str | None:
    texts = run([text], min_num_sentences=-1, **params).kept.column("text").to_pylist()
    return texts[0] if texts else None


def cuts(text: str, **params: Any) -> dict[str, int]:
    step = run([text], min_num_sentences=-1, **params).steps[0]
    return {name: int(values[0]) for name, values in step.cut_chars.items() if values[0]}


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("This one has an end.", ""),
        ("Has this an end?", ""),
        ("It has one!", ""),
        ('He said "it has one"', ""),
        ("He said 'it has one'", ""),
        ("He said “it has one”", ""),
        ("Il dit « qu'il en a »", ""),
        ("我们在河边玩耍。", ""),
        ("यह एक वाक्य है।", ""),
        ("هل هذه جملة؟", ""),
        ("This one has none", "no_terminal_punc"),
        ("This one has none...", "no_terminal_punc"),
        ("This one has none,", "no_terminal_punc"),
        ("An ellipsis is none\u2026", "no_terminal_punc"),
        ("Two words.", "too_few_words"),
        ("Three words here.", ""),
        ("- a bullet.", ""),
        ("中文字。", ""),
        ("中文。", "too_few_words"),
        ("Please turn JavaScript on.", "javascript"),
        ("Read our Privacy Policy now.", "policy"),
        ("We use cookies for all.", "policy"),
        ("We bake cookies for all.", ""),
        ("a " * 2 + "x" * 1000 + ".", "too_long_word"),
        ("a " * 2 + "x" * 999 + ".", ""),
        ("磨坊在河边" * 300 + "。", ""),
        ("โรงสีข้าว" * 200 + "。", ""),
        ("磨坊" + "x" * 1000 + "。", "too_long_word"),
    ],
)
def test_each_rule_for_lines(line: str, cut: str) -> None:
    text = f"{SENTENCE}\n{line}\n{SENTENCE}"
    assert kept(text) == (f"{SENTENCE}\n{SENTENCE}" if cut else text)
    assert cuts(text) == ({cut: len(line) + 1} if cut else {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PAGE, ""),
        ("\n".join([SENTENCE] * 4), "too_few_sentences"),
        (" ".join([SENTENCE] * 5), ""),
        ("磨坊在河边。" * 5, ""),
        ("磨坊在河边。" * 4, "too_few_sentences"),
        (f"{PAGE}\nLorem Ipsum dolor sit amet.", "lorem_ipsum"),
        (f"{PAGE}\nLorem ipsum dolor sit amet", ""),
        (f"{PAGE}\nif (x) {{ y; }} is code.", "curly_bracket"),
        (f"{PAGE}\nif (x) {{ y; }}", ""),
        ("{ is first here.\nlorem ipsum is second.", "curly_bracket"),
        ("lorem ipsum is { first here.", "lorem_ipsum"),
        ("{ javascript is cut first.", "too_few_sentences"),
        ("", "too_few_sentences"),
        (None, "too_few_sentences"),
        (" \r\n\u3000\n", "too_few_sentences"),
    ],
)
def test_each_rule_for_documents(text: str | None, expected: str) -> None:
    assert reason(text) == expected


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"filter_no_terminal_punct": False}, "This one has none"),
        ({"min_words_per_line": -1}, "One."),
        ({"max_word_length": -1}, "a " * 2 + "x" * 2000 + "."),
        ({"filter_lorem_ipsum": False}, "This is lorem ipsum."),
        ({"filter_javascript": False}, "This is javascript here."),
        ({"filter_curly_bracket": False}, "This is a { here."),
        ({"filter_policy": False}, "This is a cookie policy."),
        ({"remove_citations": False}, "This is cited.[12] And more."),
    ],
)
def test_each_rule_can_be_off(params: dict[str, Any], text: str) -> None:
    assert kept(text) != text
    assert kept(text, **params) == text
    assert reason("", min_num_sentences=-1) == ""


def test_citations_go_and_hide_no_full_stop() -> None:
    text = (
        "It grinds corn [12] and more[edit].\nSo it is said.[citation needed]\nAnd again here. [3]\nNo [x], [12a] no."
    )
    after = "It grinds corn  and more.\nSo it is said.\nAnd again here.\nNo [x], [12a] no."
    assert kept(text) == after
    assert cuts(text) == {"citation": len(text) - len(after)}


def test_paragraphs_have_each_their_own_length() -> None:
    """dolma#197: a running offset made every paragraph after a long one long."""
    long, short = "The mill " + "grinds " * 28 + "the corn.", SENTENCE
    assert len(long) >= 200
    assert reason("\n".join([long, short, short]), min_paragraphs=3, min_num_sentences=1) == "too_few_paragraphs"
    assert reason("\n".join([long] * 3), min_paragraphs=3, min_num_sentences=1) == ""
    assert reason("\n".join([long, short, short]), min_num_sentences=1) == ""


def test_sentences_in_the_place_of_lines() -> None:
    text = "It is here now. No way\nout of it. Cookie policy is cut."
    assert kept(text, split_paragraph=False) == "It is here now. No way\nout of it."
    assert reason("Here it is now. " * 5, split_paragraph=False) == ""
    assert reason("Here it is now. " * 4, split_paragraph=False) == "too_few_sentences"


def test_blank_lines_and_line_ends_are_white_space() -> None:
    text = f"\r\n\r\n  {SENTENCE}  \r\n\r\n{SENTENCE}\n\n\n"
    assert kept(text) == f"{SENTENCE}\n{SENTENCE}"
    assert cuts(text) == {"white_space": len(text) - 2 * len(SENTENCE) - 1}


def test_many_short_paragraphs_are_no_fault() -> None:
    text = "\n\n".join(f"Paragraph {n} says something." for n in range(50))
    assert reason(text) == ""


def test_lines_with_media_stay_whole() -> None:
    text = f"\ufffc\nA picture \ufffc of it\n{PAGE}\nNothing here"
    assert kept(text) == f"\ufffc\nA picture \ufffc of it\n{PAGE}"


@given(st.lists(HOSTILE | st.none(), max_size=6))
def test_characters_balance_and_no_line_is_made(texts: list[str | None]) -> None:
    step = run(texts, min_num_sentences=-1).steps[0]
    cut = sum(step.cut_chars.values(), np.zeros(len(texts), np.int64))
    assert (step.chars_in[step.kept] == step.chars_out[step.kept] + cut[step.kept]).all()
    assert all((values[step.kept] >= 0).all() for values in step.cut_chars.values())
    assert ((step.measures["kept_line_frac"] >= 0) & (step.measures["kept_line_frac"] <= 1)).all()


@pytest.fixture
def lists(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "en.txt").write_text("# english\nfoo\nbad word\n\nc++\n", encoding="utf-8")
    (tmp_path / "zh.txt.gz").write_bytes(gzip.compress("坏话\n".encode()))
    (tmp_path / "empty.txt").write_text("# nothing\n", encoding="utf-8")
    return {path.name.partition(".")[0]: str(path) for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A FOO is here.", True),
        ("foo, it is here.", True),
        ("It is a foo", True),
        ("A food is here.", False),
        ("A foo_ is here.", False),
        ("A foo\u0301 is here.", False),
        ("A Bad Word is here.", True),
        ("A bad  word is here.", False),
        ("We speak C++, here.", True),
        ("这是坏话吗。", True),
        ("", False),
    ],
)
def test_bad_words(lists: dict[str, str], text: str, found: bool) -> None:
    both = (lists["en"], lists["zh"], lists["empty"])
    off: dict[str, Any] = {"filter_no_terminal_punct": False, "min_words_per_line": -1, "min_num_sentences": -1}
    assert reason(text, bad_words=both, **off) == ("document_removed_with_badwords" if found else "")
    assert reason(text, bad_words=(lists["empty"],), **off) == ""


def test_each_language_has_its_own_list(lists: dict[str, str]) -> None:
    """datatrove#377: the list of one language took the place of the next one's."""
    params: dict[str, Any] = {
        "bad_words": (lists["en"], lists["zh"]),
        "bad_words_langs": ("en", "zh"),
        "min_num_sentences": 1,
    }
    foo, bad = "This is foo here.", "这里说的是坏话。"
    texts: list[str | None] = [foo, bad, foo, bad, foo, bad, foo, bad]
    fates = run(texts, ["en", "zh", "zh", "en", None, None, "fr", "zh"], **params).fates
    assert [(f.row, f.detail) for f in fates] == [(0, "en"), (1, "zh"), (4, "en"), (7, "zh")]


def test_the_share_that_is_kept_follows_content_and_seed(lists: dict[str, str]) -> None:
    """M27: a stream of random numbers made the draw depend on the order and the worker."""
    texts: list[str | None] = [f"This is foo number {n} here." for n in range(400)]

    def stays(order: list[str | None], seed: int) -> set[str]:
        params: dict[str, Any] = {
            "bad_words": (lists["en"],),
            "keep_fraction": 0.25,
            "seed": seed,
            "min_num_sentences": 1,
        }
        return set(run(order, **params).kept.column("text").to_pylist())

    assert 60 < len(stays(texts, 1)) < 140
    assert stays(texts, 1) == stays(texts[::-1], 1) == stays(texts[:200], 1) | stays(texts[200:], 1)
    assert stays(texts, 1) != stays(texts, 2)
    assert reason("This is foo here.", bad_words=(lists["en"],), keep_fraction=1.0, min_num_sentences=1) == ""


def test_the_fingerprint_holds_the_lists(lists: dict[str, str], tmp_path: Path) -> None:
    stage = catalogue.load("c4", {"bad_words": ["en.txt"]}, tmp_path)
    before = catalogue.stage_fingerprint(stage)
    assert str(tmp_path) not in str(before)
    (tmp_path / "en.txt").write_text("other words\n", encoding="utf-8")
    assert catalogue.stage_fingerprint(catalogue.load("c4", {"bad_words": ["en.txt"]}, tmp_path)) != before


def test_a_list_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="bad"):
        run(["text"], bad_words=(str(tmp_path / "bad"),), min_num_sentences=-1)


@pytest.mark.parametrize(
    "params",
    [
        {"keep_fraction": 1.5},
        {"min_num_sentences": -2},
        {"min_paragraphs": -1},
        {"bad_words": ("a", "b"), "bad_words_langs": ("en",)},
    ],
)
def test_impossible_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        C4(**params)


def test_every_reason_is_documented() -> None:
    from gristmill.stages.kernels.lines_c4 import COUNTS

    known = {r.reason for r in C4().reasons()}
    assert set(COUNTS[4:]) <= known
    assert all(r.doc for r in C4().reasons())


def test_code_between_fences_stays_as_it_is() -> None:
    prose = "The mill grinds the corn of the village.\n" * 5
    listing = "```python\ndef f(x):\n    return {x}  # a set of one.\n\n```"
    assert kept(f"{prose}\n{listing}\n\nNo sentence here\n") == f"{prose}{listing}"
    assert reason(f"{prose}{listing}", keep_code=False) == "curly_bracket"
    assert reason(listing) == "too_few_sentences"


def test_a_curly_bracket_outside_of_code_still_counts() -> None:
    assert reason("The mill grinds.\n```\n{}\n```\nA rose { is a rose.") == "curly_bracket"
