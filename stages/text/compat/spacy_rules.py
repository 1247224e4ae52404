"""spaCy's rules for English, read out of the installed spaCy and turned into arrays for `kernels.chunks`.

Only data are taken (classes of characters, special cases, units); the loop that applies them is ours, and is proven
for the rules whose digest is RULES_DIGEST: other rules are refused rather than followed approximately.
"""

import functools
import hashlib
import importlib.metadata
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import UsageError
from gristmill.stages.kernels import chunks_tables as ct
from gristmill.stages.kernels.chunks_tables import Patterns, SplitTables, pack
from gristmill.stages.text.compat.datatrove_chars import PUNCTUATION

RULES_DIGEST = "c474cd0a849d32cfa08182d61978d636a1924f49e9b1e544db15e9aa3f8989d6"
"""Of the English rules of spaCy 3.8.18, see `rules_digest`."""

_WHERE = "words: compat"
_ALL_CHARS = "".join(map(chr, (*range(0x34000), *range(0xE0000, 0xE1000))))
"""Beyond these, no character is assigned, or is one that a rule names or Unicode calls a letter, space or mark."""
_MAY_BEGIN_INFIX = "+-*^.,–—~:<>=/"
"""A prefix unless a digit follows; the loop sees to it, as to "..", "US$" and the like."""


@functools.lru_cache(maxsize=1)
def split_tables() -> SplitTables:
    """The tables; made once a process (some two seconds, spaCy's import included).

    Raises UsageError when spaCy is not installed, or has other rules than the ones that our loop is proven for.
    """
    try:
        import spacy
    except ImportError as missing:
        remedy = "pip install 'gristmill[compat]'"
        raise UsageError("datatrove's words need spaCy, which is not installed", _WHERE, remedy=remedy) from missing
    english = spacy.blank("en")
    if rules_digest(english.tokenizer) != RULES_DIGEST:
        what = "this spaCy has other English rules than those that our words are proven for"
        raise UsageError(what, _WHERE, importlib.metadata.version("spacy"), "pip install 'spacy>=3.8,<3.9'")
    return _tables(english)


def rules_digest(tokenizer: Any) -> str:
    """Of all that decides how a spaCy tokenizer splits: its expressions and its special cases."""
    named = ("prefix_search", "suffix_search", "infix_finditer", "url_match")
    patterns = [getattr(tokenizer, name).__self__.pattern for name in named]
    rules = {text: _sizes(tokens) for text, tokens in tokenizer.rules.items()}
    stated = [*patterns, tokenizer.token_match is None, tokenizer.faster_heuristics, rules]
    return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()


def _sizes(tokens: Sequence[Mapping[Any, str]]) -> list[int]:
    """The sizes in bytes of the tokens of a special case."""
    from spacy.attrs import ORTH

    return [len(token[ORTH].encode()) for token in tokens]


def _tables(english: Any) -> SplitTables:
    rules = sorted(english.tokenizer.rules)
    layouts = [_sizes(english.tokenizer.rules[text]) for text in rules]
    units = [unit for piece in _pieces_after_digit(english) for unit in piece]
    flags = _flags(english, {unit[-1] for unit in units})
    return pack(flags, rules, layouts, _trie(_patterns(english), rules), units)


def _pieces_after_digit(english: Any) -> Iterable[list[str]]:
    """The units, and the currencies, that are suffixes after a digit."""
    for piece in english.Defaults.suffixes:
        found = re.fullmatch(r"\(\?<=\[0-9\]\)\(\?:(.*)\)", piece)
        if found:
            yield found.group(1).replace("\\", "").split("|")


def _patterns(english: Any) -> dict[str, list[str]]:
    """The special cases that spaCy looks for among the tokens of a whole document, with their tokens; those of one
    token change nothing and are left out."""
    from spacy.tokenizer import Tokenizer

    own = english.tokenizer
    bare = Tokenizer(
        english.vocab,
        prefix_search=own.prefix_search,
        suffix_search=own.suffix_search,
        infix_finditer=own.infix_finditer,
        url_match=own.url_match,
    )
    sought = [t for t in own.rules if own.find_prefix(t) or own.find_infix(t) or own.find_suffix(t)]
    split = {text: [token.text for token in bare(text)] for text in sought}
    return {text: tokens for text, tokens in split.items() if len(tokens) > 1}


def _trie(patterns: Mapping[str, Sequence[str]], rules: Sequence[str]) -> Patterns:
    pieces = sorted({token for tokens in patterns.values() for token in tokens})
    number_of = {piece: number for number, piece in enumerate(pieces)}
    steps: list[dict[int, int]] = [{}]
    accepted: dict[int, int] = {}
    for text, tokens in patterns.items():
        state = 0
        for token in tokens:
            if number_of[token] not in steps[state]:
                steps.append({})
                steps[state][number_of[token]] = len(steps) - 1
            state = steps[state][number_of[token]]
        accepted[state] = rules.index(text)
    trie = np.full((len(steps), len(pieces)), -1, dtype=np.int32)
    for state, following in enumerate(steps):
        trie[state, list(following)] = list(following.values())
    accepts = np.full(len(steps), -1, dtype=np.int32)
    accepts[list(accepted)] = list(accepted.values())
    return Patterns(pieces, trie, accepts)


def _flags(english: Any, unit_ends: set[str]) -> npt.NDArray[np.uint32]:
    """The flags of each code point, as `chunks_tables` names them."""
    from spacy.lang import char_classes as classes
    from spacy.pipeline import Sentencizer

    infixes, suffixes = english.Defaults.infixes, english.Defaults.suffixes
    (stop_behind,) = [p for p in suffixes if p.startswith("(?<=[0-9a-z") and p.endswith(r"\.")]
    may_begin = [re.escape(char) for char in _MAY_BEGIN_INFIX]
    by_class = {
        ct.PREFIX: _single(p for p in english.Defaults.prefixes if not p.startswith(r"\+")),
        ct.SUFFIX: _single(suffixes),
        ct.INFIX: _single(infixes),
        ct.SCAN: "|".join([_single(infixes), *may_begin]),
        ct.LETTER: f"[{classes.ALPHA}]",
        ct.LOWER: f"[{classes.ALPHA_LOWER}]",
        ct.UPPER: f"[{classes.ALPHA_UPPER}]",
        ct.QUOTE: f"[{classes.CONCAT_QUOTES}]",
        ct.STOP_AFTER: stop_behind.removeprefix("(?<=").removesuffix(r")\."),
        ct.SPACE: r"\s",
        ct.WORD: r"\w",
        ct.DIGIT: r"\d",
    }
    flags = np.zeros(sys.maxunicode + 1, dtype=np.uint32)
    for flag, pattern in by_class.items():
        for run in re.finditer(f"(?:{pattern})+", _ALL_CHARS):
            flags[ord(run.group()[0]) : ord(run.group()[-1]) + 1] |= flag
    for flag, chars in ((ct.UNIT_END, unit_ends), (ct.SENTENCE_END, Sentencizer.default_punct_chars)):
        flags[[ord(char) for char in chars]] |= flag
    flags |= ct.WORDLIKE
    flags[[ord(char) for char in PUNCTUATION]] &= ~np.uint32(ct.WORDLIKE)
    flags[[ord(char) for char in _ALL_CHARS if char.isalpha()]] |= ct.ALPHA
    flags[[ord(char) for char in _ALL_CHARS if unicodedata.category(char)[0] == "P"]] |= ct.PUNCT
    return flags


def _single(pieces: Iterable[str]) -> str:
    """The alternatives that are one character whatever stands beside it: a literal or a class."""
    return "|".join(p for p in pieces if p.strip() and re.fullmatch(r"\\?.|\[[^\]]*\]", p, re.DOTALL))
