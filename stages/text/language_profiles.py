"""Which language's limits a document is held against: its profile, and what that profile asks.

In: the columns `lang` and `text`. A profile is a language code of `profiles()`, or "" where none applies, for which
the limits of the stage itself hold. It follows from `lang` where that names a language we know (in any of the forms
zh-TW, pt_BR, eng), and then from nothing else; else from the first HEAD_CHARS characters of the text: the script of
most letters (a Han character says as much as three of Latin: `scripts.LETTER_WORTH`), and within a script that
several languages write the one with the most distinct stop words (two at least; English, then the order of
`profiles()`, where they are equal).

Limits are FineWeb2's (`profile_limits`), with these deviations, which are ours:
* English keeps what each stage says: Gopher's and FineWeb's own figures were made for it;
* `min_avg_word_length` is never above Gopher's 3, and our words are cut at apostrophes;
* `min_alpha_words_ratio` is never above Gopher's 0.8: marks of punctuation are words there, and are not here;
* Chinese, Japanese and Thai have no limits on the length of words, none on stop words, and on repeated n-grams
  none but `REPEATED_LETTERS`: a word here is a single character, so that n-grams are of another kind;
* a `line_punct_thr` of 0 is off; `short_line_thr` is off and `char_duplicates_ratio` 0.1 for all, as in FineWeb2's
  pipeline, as are the limits on duplicate paragraphs and on characters of duplicate lines.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.stop_table import StopTable, stop_table
from gristmill.stages.shared import derived
from gristmill.stages.text.lid_model import LABELS
from gristmill.stages.text.profile_limits import FINEWEB2
from gristmill.stages.text.stop_words import LATIN_SCRIPT, OTHER_SCRIPTS

HEAD_CHARS = 2000
"""Characters of the text that are looked at; as many as the `language` stage looks at."""
MIN_STOP_WORDS = 2
"""Gopher's two, of which FineWeb2 keeps to in every language."""
SPACELESS = frozenset({"ja", "th", "zh"})
"""Profiles whose words are not set apart by spaces: each character is a word."""
REPEATED_LETTERS: Mapping[str, float] = {"ja": 0.3, "th": 0.5, "zh": 0.3}
"""`dup_10_gram` where a gram is of letters. Ours, so that one sentence a thousand times is seen where no line ends: of
69 Chinese and 9 Japanese pages of a manual one in twenty had above 0.08, none above 0.1; ten letters of Thai are two
words."""
_KANA_SHARE = 0.05
"""Japanese rather than Chinese from this share of kana in kana and Han. Ours: prose has some 0.5, a page of names and
tables above 0.1, and Chinese that mentions Japanese words below 0.01."""

_GOPHER_MIN_WORD_CHARS = 3.0
_GOPHER_MIN_ALPHA = 0.8
_OFF_IN_FINEWEB2 = ("dup_para_frac", "dup_line_char_frac", "dup_para_char_frac", "short_line_thr")
_OF_WORD_LENGTH = ("min_avg_word_length", "max_avg_word_length")
_CHAR_DUPLICATES_RATIO = 0.1

_STOP_WORDS: Mapping[str, tuple[str, ...]] = {**LATIN_SCRIPT, **OTHER_SCRIPTS}
_PROFILES = ("en", *sorted((set(_STOP_WORDS) | SPACELESS) - {"en"}))
_BY_STOP_WORDS: Mapping[str, tuple[str, ...]] = {
    "latin": tuple(code for code in _PROFILES if code in LATIN_SCRIPT),
    "cyrillic": ("ru", "uk", "bg"),
    "arabic": ("ar", "fa"),
    "devanagari": ("hi",),
}
_BY_SCRIPT = {"greek": "el", "hebrew": "he", "hangul": "ko", "thai": "th"}

_ALIASES = (
    "ara:ar arb:ar arz:ar bul:bg cat:ca ces:cs chi:zh cmn:zh cze:cs dan:da deu:de dut:nl ell:el eng:en est:et fas:fa"
    " fin:fi fra:fr fre:fr ger:de gre:el heb:he hin:hi hrv:hr hun:hu ind:id ita:it iw:he jpn:ja kor:ko lav:lv lit:lt"
    " lvs:lv ltz:lb nb:no nld:nl nn:no nno:no nob:no nor:no per:fa pes:fa pol:pl por:pt ron:ro rum:ro rus:ru slk:sk"
    " slo:sk slv:sl spa:es swa:sw swe:sv swh:sw tgl:tl fil:tl tha:th tur:tr ukr:uk vie:vi wuu:zh yue:zh zho:zh"
)
"""ISO 639-2 and 639-3 codes, old ones, and those of close relatives that we hold against the same limits."""
_CODES: Mapping[str, str] = {
    **{alias: code for alias, _, code in (pair.partition(":") for pair in _ALIASES.split())},
    **{code: code for code in _PROFILES},
}

Bits = npt.NDArray[np.uint64]


def profiles() -> tuple[str, ...]:
    """All profiles; English first, then by code."""
    return _PROFILES


def stop_words(profile: str) -> tuple[str, ...]:
    """The stop words of a profile; none for languages without spaces and for "". Raises KeyError on any other word."""
    return _STOP_WORDS.get(profile, ()) if profile in ("", *SPACELESS) else _STOP_WORDS[profile]


@functools.cache
def limits(profile: str) -> Mapping[str, float | None]:
    """What a profile asks instead of a stage's own limit, by parameter; None turns the rule off.

    Parameters are named as in datatrove: `min_avg_word_length`, `max_avg_word_length`, `min_alpha_words_ratio` (its
    misnamed `max_non_alpha_words_ratio`), `min_stop_words`; `dup_line_frac`, `dup_para_frac`, `dup_line_char_frac`,
    `dup_para_char_frac`, `top_2_gram` to `top_4_gram`, `dup_5_gram` to `dup_10_gram`; `line_punct_thr`,
    `short_line_thr`, `char_duplicates_ratio`, `new_line_ratio`. What is not named stays as the stage has it.
    Raises KeyError for what is no profile; "" asks nothing.
    """
    if profile and profile not in _PROFILES:
        raise KeyError(profile)
    found: dict[str, float | None] = {}
    if profile in FINEWEB2:
        found |= {name: value for name, value in FINEWEB2[profile].items() if name != "language_score"}
        found |= dict.fromkeys(_OFF_IN_FINEWEB2) | {"char_duplicates_ratio": _CHAR_DUPLICATES_RATIO}
        found |= _ours(profile, FINEWEB2[profile])
    if profile in SPACELESS:
        found["min_stop_words"] = None
    elif profile:
        found["min_stop_words"] = float(MIN_STOP_WORDS)
    return MappingProxyType(found)


def _ours(profile: str, theirs: Mapping[str, float]) -> dict[str, float | None]:
    ours: dict[str, float | None] = {
        "min_avg_word_length": min(theirs["min_avg_word_length"], _GOPHER_MIN_WORD_CHARS),
        "min_alpha_words_ratio": min(theirs["min_alpha_words_ratio"], _GOPHER_MIN_ALPHA),
        "line_punct_thr": theirs["line_punct_thr"] or None,
    }
    if profile in SPACELESS:
        ours |= dict.fromkeys([*_OF_WORD_LENGTH, *(name for name in theirs if name.endswith("_gram"))])
        ours["dup_10_gram"] = REPEATED_LETTERS[profile]
    return ours


def by_profile(parameter: str) -> dict[str, float | None]:
    """Profile -> limit of one parameter, for those that ask one: what `Rule.by_profile` takes."""
    return {code: limits(code)[parameter] for code in _PROFILES if parameter in limits(code)}


def code_of(lang: str | None) -> str | None:
    """The profile that a language tag names; "" for a language without a profile, None for what is no language."""
    word = (lang or "").strip().replace("_", "-").partition("-")[0].lower()
    if word in _CODES:
        return _CODES[word] if _CODES[word] in _PROFILES else ""
    return "" if word in LABELS else None


def profile_of(batch: pa.RecordBatch) -> list[str]:
    """The profile of each row: a code of `profiles()`, or ""."""
    named = _named(batch.column("lang"))
    if all(code is not None for code in named):
        return [code or "" for code in named]
    seen = derived(batch.column("text"), "profile_by_text", _look).codes
    return [str(of_text) if code is None else code for code, of_text in zip(named, seen, strict=True)]


def _named(lang: pa.Array) -> list[str | None]:
    by_tag: dict[str | None, str | None] = {}
    tags: list[str | None] = lang.to_pylist()
    return [by_tag[tag] if tag in by_tag else by_tag.setdefault(tag, code_of(tag)) for tag in tags]


@dataclass(frozen=True)
class _Seen:
    """The profile of each row by its text alone."""

    codes: npt.NDArray[np.str_]

    def take(self, kept: npt.NDArray[np.bool_]) -> Self:
        return type(self)(self.codes[kept])


@functools.cache
def _table() -> StopTable:
    return stop_table([word for words in _STOP_WORDS.values() for word in words])


def _look(text: pa.Array) -> _Seen:
    from gristmill.stages.kernels.scripts import LETTER_WORTH, SCRIPTS, scan_scripts

    counts, bits = scan_scripts(*text_buffers(text), HEAD_CHARS, _table())
    kana, han = (counts[:, SCRIPTS.index(script)] for script in ("kana", "han"))
    letters = dict(zip(SCRIPTS, (counts * LETTER_WORTH).T, strict=True))
    letters["han_kana"] = letters.pop("han") + letters.pop("kana")
    of_most = np.stack(list(letters.values())).argmax(axis=0)
    codes = np.full(len(text), "", dtype="<U2")
    for column, script in enumerate(letters):
        rows = (of_most == column) & (letters[script] > 0)
        if script == "han_kana":
            codes[rows] = np.where(kana > _KANA_SHARE * (han + kana), "ja", "zh")[rows]
        elif script in _BY_STOP_WORDS:
            codes[rows] = _by_stop_words(bits[rows], _BY_STOP_WORDS[script])
        else:
            codes[rows] = _BY_SCRIPT.get(script, "")
    return _Seen(codes)


def _by_stop_words(bits: Bits, codes: tuple[str, ...]) -> npt.NDArray[np.str_]:
    """The code with the most distinct stop words, the first of equals; "" below MIN_STOP_WORDS."""
    masks = [_table().mask(_STOP_WORDS[code]) for code in codes]
    distinct = np.stack([np.bitwise_count(bits & mask).sum(axis=1, dtype=np.int64) for mask in masks])
    best = distinct.argmax(axis=0)
    return np.where(distinct.max(axis=0) >= MIN_STOP_WORDS, np.array(codes)[best], "")
