"""Gopher's quality rules (Rae et al. 2021, arXiv 2112.11446, section A.1.1), over our own words.

Columns in: `text`, `lang`. Words are the compounds and solos of `kernels.words`: an address is one ("https://a.b/c"),
"path/to" and "16-bit" are two. Tokens are its runs, solos and symbols. Measures, each 0 where it would divide by
nothing:

| measure | what |
|---|---|
| words | compounds and solos; numbers are words, symbols are not |
| mean_word_chars | characters of a compound, on average; NaN unless at least half of the words are compounds |
| hash_frac, ellipsis_frac | `#`, and sequences of dots or U+2026, of all tokens |
| bullet_line_frac, ellipsis_line_frac | lines that begin with U+2022 or `-`, that end with an ellipsis, of all lines |
| alpha_frac | words with a letter, of all words |
| stop_words | distinct stop words; NaN where the rule does not apply |

Reasons bear datatrove's names and their order is its. Deliberate differences from it:
* "" is short, and no division fails (its `min_doc_words=None` raised on "");
* distinct stop words are counted, in any case of ASCII letters ("the the" has one; datatrove#329);
* limits and stop words are those of the row's profile (`language_profiles`: by `lang`, else by the text): French and
  Chinese are not dropped for want of English. English and rows without a profile have the stage's own limits. Where
  neither `lang` nor the text tells a language and most letters are Latin, the list of most hits counts;
* one letter of Han, kana, Thai and the like is a word, and then says nothing of word length: Chinese is not short;
* a symbol is no word: datatrove's list of marks lacks many, so that a bullet (U+00B7, U+2022) or an emoji is one;
* letters are asked of words alone. Where marks of punctuation count as words, too, prose with some dialogue falls
  under the limit: so did 551 of 968 pages of manuals, of which 5 remain;
* a sequence of dots is one ellipsis and one token, so that each ratio stays in [0, 1];
* the upper limit on words is off: long documents are what long contexts are trained on. Set `max_doc_words`
  to 100000 for Gopher's.

None of these but the last holds for `words: compat`, which decides as datatrove does (`compat.measures`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import ratio
from gristmill.stages.kernels.segments import WordCounts, word_counts
from gristmill.stages.params import param
from gristmill.stages.protocol import Direction, Floats, Rule
from gristmill.stages.text.compat.profile import WORDS_DOC, check_words
from gristmill.stages.text.language_profiles import by_profile, code_of, profile_of, stop_words
from gristmill.stages.text.stop_words import LATIN_SCRIPT

_SOURCE = "Rae et al. 2021, Gopher, section A.1.1"

_RULES: tuple[tuple[str, str, Direction, str], ...] = (
    ("min_doc_words", "words", "below", "gopher_short_doc"),
    ("max_doc_words", "words", "above", "gopher_long_doc"),
    ("min_avg_word_length", "mean_word_chars", "below", "gopher_below_avg_threshold"),
    ("max_avg_word_length", "mean_word_chars", "above", "gopher_above_avg_threshold"),
    ("max_symbol_word_ratio", "hash_frac", "above", "gopher_too_many_hashes"),
    ("max_symbol_word_ratio", "ellipsis_frac", "above", "gopher_too_many_ellipsis"),
    ("max_bullet_lines_ratio", "bullet_line_frac", "above", "gopher_too_many_bullets"),
    ("max_ellipsis_lines_ratio", "ellipsis_line_frac", "above", "gopher_too_many_end_ellipsis"),
    ("min_alpha_words_ratio", "alpha_frac", "below", "gopher_below_alpha_threshold"),
    ("min_stop_words", "stop_words", "below", "gopher_enough_stop_words"),
)
"""Parameter, measure, direction, reason, in the order in which they are tried."""


@dataclass(frozen=True)
class GopherQuality:
    """Gopher's quality rules: length, word length, symbols, bullets, ellipses, letters, stop words."""

    name: ClassVar[str] = "gopher_quality"
    version: ClassVar[int] = 4

    min_doc_words: int | None = param(50, "drop a text of fewer words; null turns a rule off")
    max_doc_words: int | None = param(None, "drop a text of more words; Gopher has 100000, off by default")
    min_avg_word_length: float | None = param(3.0, "characters a word, on average")
    max_avg_word_length: float | None = param(10.0, "characters a word, on average")
    max_symbol_word_ratio: float | None = param(0.1, "hashes, and ellipses, of all tokens")
    max_bullet_lines_ratio: float | None = param(0.9, "lines that begin with a bullet, of all lines")
    max_ellipsis_lines_ratio: float | None = param(0.3, "lines that end with an ellipsis, of all lines")
    min_alpha_words_ratio: float | None = param(0.8, "words with a letter, of all words")
    min_stop_words: int | None = param(2, "distinct stop words of the row's language, where it has a list")
    by_language: bool = param(True, "rows of other languages than English have the limits of FineWeb2 for theirs")
    words: Literal["fast", "compat"] = param("fast", WORDS_DOC)

    def __post_init__(self) -> None:
        check_words(self.words, self.name)
        for rule in self.rules():
            if rule.measure.endswith("_frac") and not 0 <= rule.limit <= 1:
                raise UsageError("a ratio between 0 and 1 is wanted", "stage gopher_quality", rule.limit)
            if rule.limit < 0:
                raise UsageError("must not be negative", "stage gopher_quality", rule.limit)

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are on, in datatrove's order."""
        limits = [getattr(self, parameter) for parameter, *_ in _RULES]
        return tuple(
            Rule(measure, direction, float(limit), reason, _SOURCE, self._by_profile(parameter))
            for limit, (parameter, measure, direction, reason) in zip(limits, _RULES, strict=True)
            if limit is not None
        )

    def _by_profile(self, parameter: str) -> Mapping[str, float | None]:
        # How many stop words are asked for is the same for all: what has no list has no such measure.
        by_language = self.by_language and self.words == "fast"
        return by_profile(parameter) if by_language and parameter != "min_stop_words" else {}

    def profiles(self, batch: pa.RecordBatch) -> Sequence[str]:
        """The language profile of each row."""
        return profile_of(batch)

    def prepare(self) -> None:
        """Compile the kernel into this machine's cache, once on the driver."""
        self.measure(pa.RecordBatch.from_pydict({"text": [""], "lang": [""]}))

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """All measures of the table above, as long as the batch."""
        if self.words == "compat":
            from gristmill.stages.text.compat.measures import compat_quality

            return compat_quality(batch.column("text"))
        counts = word_counts(batch.column("text"))
        return quality_measures(counts.by_name(), _stop_words(counts, batch))


def quality_measures(count: Mapping[str, Floats], stop_words: Floats) -> Mapping[str, Floats]:
    """The measures of the table above, from counts named as in `kernels.words.COUNTS`, whoever counted."""
    compounds, solos = count["compounds"], count["solos"]
    words, tokens = compounds + solos, count["runs"] + solos + count["symbols"]
    mostly_compounds = (compounds > 0) & (compounds >= solos)
    return {
        "words": words,
        "mean_word_chars": np.where(mostly_compounds, ratio(count["compound_chars"], compounds), np.nan),
        "hash_frac": ratio(count["hashes"], tokens),
        "ellipsis_frac": ratio(count["ellipses"], tokens),
        "bullet_line_frac": ratio(count["bullet_lines"], count["lines"]),
        "ellipsis_line_frac": ratio(count["ellipsis_lines"], count["lines"]),
        "alpha_frac": ratio(count["alpha_compounds"] + solos, words),
        "stop_words": stop_words,
    }


def _stop_words(counts: WordCounts, batch: pa.RecordBatch) -> Floats:
    """Distinct stop words of each row's profile; of the Latin list that has most where nothing tells the language."""
    found = np.full(batch.num_rows, np.nan)
    profiles = np.array(profile_of(batch), dtype=np.str_)
    for profile in set(profiles.tolist()) - {""}:
        rows = profiles == profile
        if stop_words(profile):
            found[rows] = counts.distinct_stop_words(stop_words(profile))[rows]
    letters = counts.count("letters")
    unknown = (profiles == "") & (letters > 0) & (2 * counts.count("latin_letters") > letters) & _untold(batch)
    if unknown.any():
        found[unknown] = np.stack([counts.distinct_stop_words(w)[unknown] for w in LATIN_SCRIPT.values()]).max(axis=0)
    return found


def _untold(batch: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Where `lang` names no language."""
    tags: list[str | None] = batch.column("lang").to_pylist()
    names_none = {tag: code_of(tag) is None for tag in set(tags)}
    return np.array([names_none[tag] for tag in tags], dtype=np.bool_)
