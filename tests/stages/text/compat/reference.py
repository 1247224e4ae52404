"""datatrove's own words and spaCy's, as oracles; skipped where the extra `compat` or `datatrove` is not installed."""

import functools
from typing import Any

import numpy as np
import pytest

from gristmill.stages.kernels.chunks import split_spans
from gristmill.stages.kernels.chunks_tables import frozen
from gristmill.stages.text.compat.spacy_rules import split_tables

pytest.importorskip("spacy")
datatrove_words = pytest.importorskip("datatrove.utils.word_tokenizers")

MARKS = [
    *"aZ09.,:;!?()[]{}<>'\"-_+*^/=~#$%&@|\\`é",
    "…",
    "..",
    "...",
    "--",
    "---",
    "——",
    "–",
    "’s",
    "'s",
    "n't",
    "°",
    "�",
]
PIECES = [
    *("://", "http://", "www.", "ex.com", "1.2.3.4", "10.0.0.1", "172.20.0.1", "@", "b_c.org", ":8080", "/x?y#z"),
    *("中", "ﬁ", "😀", "©", "，", "。", "İ", "Ⅷ", "٣", "\u0301", "\U0001d400", "\U00010400", "\u00ad", "\u200b", "ß"),
    *("km", "km²", "m/s", "%", "US$", "$", "€", "gb", "°C.", "U.S.", "e.g.", "a.m.", "3.14", "1,000"),
]
WORDS = ["the", "That", "WORD", "word", "x1", "I'm", "cannot", "o.O", "end.Next", "well-known", "and/or"]
SPACES = [" ", " ", " ", "  ", "\n", "\t", " \n", "\u00a0", "\u2028", "\x1c", "\r\n", "\x85"]


@functools.lru_cache(maxsize=1)
def spacy_words() -> Any:
    """datatrove's tokenizer of English words and sentences."""
    return datatrove_words.load_word_tokenizer("eng")


@functools.lru_cache(maxsize=1)
def special_cases() -> list[str]:
    """spaCy's special cases of English."""
    return sorted(spacy_words().tokenizer.tokenizer.rules)


def our_words(text: str) -> list[str]:
    """The tokens of `kernels.chunks`."""
    data = frozen(np.frombuffer(text.encode(), dtype=np.uint8))
    start, end = (frozen(np.array([at], dtype=np.int64)) for at in (0, len(data)))
    tokens, _ = split_spans(data, start, end, split_tables())
    places = zip(tokens.starts.tolist(), tokens.sizes.tolist(), strict=True)
    return [bytes(data[at : at + size]).decode() for at, size in places]
