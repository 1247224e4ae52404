"""Words are spaCy's, token by token: crafted chunks, hostile mixtures, real documents."""

import hashlib
import random
import re
import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import EXIT_USAGE, UsageError
from gristmill.stages.kernels import chunks
from gristmill.stages.kernels import chunks_tables as ct
from gristmill.stages.text.compat import spacy_rules, spans
from gristmill.stages.text.compat.profile import check_words
from gristmill.stages.text.gopher_quality import GopherQuality
from tests.stages.text.compat.documents import documents
from tests.stages.text.compat.reference import MARKS, PIECES, SPACES, WORDS, our_words, spacy_words, special_cases

CRAFTED = [
    "",
    " ",
    "Hello, world! It's 5km from the U.S. to there; don't (see http://a.b.com/x).",
    # An emoticon inside a chunk that a longer match over the next space hides, and one that nothing hides.
    "[len(prefix):]' x",
    "[len(prefix):]",
    "a :( b :) ) : ( : (",
    "10°C. and 5 °F. end.Next A.B. a. (b.",
    "....... ... .. . …… … ….",
    "a--b a---b a----b a——b 3-4 3--4 -5 +5 5+ 5+6 a+b x^2 2^3",
    "a,b 1,000 a:b 1:b a/b 1/2 a<b>c a=b",
    "ftp://user:pass@ex.com:8080/p?q#f user@ex.com a_b.com -a.com x.y1.co ex.c 1.2.3.4/foo-bar 192.168.1.1/foo-bar",
    "US$5 5US$ $5 5% 5km² 12m/s. 5kg, 3GB)",
    "'s 's. don’t dont ’S cannot can't've ma'am o'clock 'em",
    "::::((((((]]]]))))'''''\"\"\"\"",
    "a\u00a0b\u2028c\x1cd\x85e\r\nf",
    "x" * 5000 + "," + "y" * 5000,
]


@pytest.mark.parametrize("text", CRAFTED)
def test_crafted_texts(text: str) -> None:
    assert our_words(text) == spacy_words().word_tokenize(text)


def test_every_special_case_alone_and_between_marks() -> None:
    for special in special_cases():
        for text in (special, f"({special})", f"x{special}", f"{special},", f"{special} {special}"):
            assert our_words(text) == spacy_words().word_tokenize(text), text


@given(st.lists(st.sampled_from([*MARKS, *PIECES, *WORDS, *SPACES, *special_cases()]), max_size=14).map("".join))
def test_mixtures(text: str) -> None:
    assert our_words(text) == spacy_words().word_tokenize(text)


@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    assert our_words(text) == spacy_words().word_tokenize(text)


def test_seeded_mixtures() -> None:
    """Far more of them than hypothesis tries, the same ones each time."""
    draw = random.Random(20)
    pools = (MARKS, MARKS, special_cases(), PIECES, WORDS, SPACES)
    for _ in range(6000):
        text = "".join(draw.choice(draw.choice(pools)) for _ in range(draw.randint(1, 12)))
        assert our_words(text) == spacy_words().word_tokenize(text), text


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def test_chunks_of_real_documents() -> None:
    found = {chunk for text in documents(1500) for chunk in text.split()}
    some = sorted(found, key=lambda chunk: (_digest(chunk), chunk))[:12_000]
    assert len(some) == 12_000
    # One to a line, so that none sees its neighbour.
    assert our_words("\n".join(some)) == spacy_words().word_tokenize("\n".join(some))


def test_a_chunk_that_is_too_long_is_one_token() -> None:
    long = "a," * (chunks.MAX_CHUNK_BYTES // 2 + 1)
    assert our_words(f"b {long} c,d") == ["b", long, "c", ",", "d"]


def test_is_alpha_is_a_word() -> None:
    """spaCy raises on it from the second text on, and datatrove then takes it out of the text; it depends on what
    the process has seen, so that there is nothing to agree with."""
    assert our_words("the IS_ALPHA is") == ["the", "IS_ALPHA", "is"]


def test_pieces_of_a_long_text_have_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["one (two) three:] don't\nfour five  six... seven " * 40, "", "short"]
    whole = spans.word_table(pa.array(texts, pa.large_string())).counts
    monkeypatch.setattr(spans, "PART_BYTES", 64)
    again = spans.word_table(pa.array(texts, pa.large_string())).counts
    assert np.array_equal(whole, again)
    assert whole[0, 0] == len(spacy_words().word_tokenize(texts[0]))


def test_without_spacy_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    spacy_rules.split_tables.cache_clear()
    with pytest.raises(UsageError, match=r"gristmill\[compat\]") as raised:
        spacy_rules.split_tables()
    assert raised.value.exit_code == EXIT_USAGE
    monkeypatch.undo()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"gristmill\[compat\]"):
        check_words("compat", "gopher_quality")
    assert GopherQuality().words == "fast"


def test_flags_of_every_character() -> None:
    from spacy.lang import char_classes as classes

    chars = "".join(map(chr, range(sys.maxunicode + 1)))
    flags = spacy_rules.split_tables().flags
    of_python = {
        ct.ALPHA: [char.isalpha() for char in chars],
        ct.SPACE: [char.isspace() for char in chars],
        ct.PUNCT: [unicodedata.category(char)[0] == "P" for char in chars],
    }
    for flag, wanted in of_python.items():
        assert np.array_equal(flags & flag != 0, np.array(wanted)), flag
    by_class = {
        ct.LETTER: f"[{classes.ALPHA}]",
        ct.LOWER: f"[{classes.ALPHA_LOWER}]",
        ct.UPPER: f"[{classes.ALPHA_UPPER}]",
        ct.INFIX: classes.LIST_ICONS[0],
        ct.WORD: r"\w",
        ct.DIGIT: r"\d",
    }
    for flag, pattern in by_class.items():
        found = [ord(match.group()) for match in re.finditer(pattern, chars)]
        found += [0x2026] if flag == ct.INFIX else []
        assert np.flatnonzero(flags & flag).tolist() == sorted(found), flag


def test_other_rules_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_rules, "RULES_DIGEST", "0" * 64)
    spacy_rules.split_tables.cache_clear()
    with pytest.raises(UsageError, match="other English rules"):
        spacy_rules.split_tables()
    monkeypatch.undo()
    spacy_rules.split_tables.cache_clear()
    assert len(spacy_rules.split_tables().flags) == sys.maxunicode + 1
