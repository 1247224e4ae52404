"""Gopher's quality rules (Rae et al. 2021, arXiv 2112.11446, section A.1.1), over our own words.

Columns in: `text`, `lang`. Words, symbols and lines are those of `kernels.words`; a token is a word or a
symbol. Measures, each 0 where it would divide by nothing:

| measure | what |
|---|---|
| words | runs and solos; numbers are words, symbols are not |
| mean_word_chars | characters of a run, on average; NaN unless at least half of the words are runs |
| hash_frac, ellipsis_frac | `#`, and sequences of dots or U+2026, of all tokens |
| bullet_line_frac, ellipsis_line_frac | lines that begin with U+2022 or `-`, that end with an ellipsis, of all lines |
| alpha_frac | words with a letter, of all words |
| stop_words | distinct stop words; NaN where the rule does not apply |

Reasons bear datatrove's names and their order is its. Deliberate differences from it:
* "" is short, and no division fails (its `min_doc_words=None` raised on "");
* distinct stop words are counted, in any case of ASCII letters ("the the" has one; datatrove#329);
* stop words are asked for only where `lang` is `en` (then Gopher's eight), or is not set and most letters are
  Latin (then the best of some 25 languages' lists counts): French and Chinese are not dropped for want of English;
* one letter of Han, kana, Thai and the like is a word, and then says nothing of word length: Chinese is not short;
* letters are asked of words alone. Where marks of punctuation count as words, too, prose with some dialogue falls
  under the limit: so did 551 of 968 pages of manuals, of which 5 remain;
* a sequence of dots is one ellipsis and one token, so that each ratio stays in [0, 1];
* the upper limit on words is off: long documents are what long contexts are trained on. Set `max_doc_words`
  to 100000 for Gopher's.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import UsageError
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.stop_table import StopTable, stop_table
from gristmill.stages.params import param
from gristmill.stages.protocol import Direction, Floats, Rule
from gristmill.stages.text.stop_words import ENGLISH, LATIN_SCRIPT

_SOURCE = "Rae et al. 2021, Gopher, section A.1.1"

Mask = npt.NDArray[np.bool_]

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
    version: ClassVar[int] = 1

    min_doc_words: int | None = param(50, "drop a text of fewer words; null turns a rule off")
    max_doc_words: int | None = param(None, "drop a text of more words; Gopher has 100000, off by default")
    min_avg_word_length: float | None = param(3.0, "characters a word, on average")
    max_avg_word_length: float | None = param(10.0, "characters a word, on average")
    max_symbol_word_ratio: float | None = param(0.1, "hashes, and ellipses, of all tokens")
    max_bullet_lines_ratio: float | None = param(0.9, "lines that begin with a bullet, of all lines")
    max_ellipsis_lines_ratio: float | None = param(0.3, "lines that end with an ellipsis, of all lines")
    min_alpha_words_ratio: float | None = param(0.8, "words with a letter, of all words")
    min_stop_words: int | None = param(2, "distinct stop words")

    def __post_init__(self) -> None:
        for rule in self.rules():
            if rule.measure.endswith("_frac") and not 0 <= rule.limit <= 1:
                raise UsageError("a ratio between 0 and 1 is wanted", "stage gopher_quality", rule.limit)
            if rule.limit < 0:
                raise UsageError("must not be negative", "stage gopher_quality", rule.limit)

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are on, in datatrove's order."""
        limits = [getattr(self, parameter) for parameter, *_ in _RULES]
        return tuple(
            Rule(measure, direction, float(limit), reason, _SOURCE)
            for limit, (_, measure, direction, reason) in zip(limits, _RULES, strict=True)
            if limit is not None
        )

    def prepare(self) -> None:
        """Compile the kernel into this machine's cache, once on the driver."""
        self.measure(pa.RecordBatch.from_pydict({"text": [""], "lang": [""]}))

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """All measures of the table above, as long as the batch."""
        from gristmill.stages.kernels.words import COUNTS, count_documents

        counts, bits = count_documents(*text_buffers(batch.column("text")), _stop_table())
        count = {name: counts[:, column].astype(np.float64) for column, name in enumerate(COUNTS)}
        words = count["runs"] + count["solos"]
        tokens = words + count["symbols"]
        mostly_runs = (count["runs"] > 0) & (count["runs"] >= count["solos"])
        mostly_latin = (count["letters"] > 0) & (2 * count["latin_letters"] > count["letters"])
        return {
            "words": words,
            "mean_word_chars": np.where(mostly_runs, _ratio(count["run_chars"], count["runs"]), np.nan),
            "hash_frac": _ratio(count["hashes"], tokens),
            "ellipsis_frac": _ratio(count["ellipses"], tokens),
            "bullet_line_frac": _ratio(count["bullet_lines"], count["lines"]),
            "ellipsis_line_frac": _ratio(count["ellipsis_lines"], count["lines"]),
            "alpha_frac": _ratio(count["alpha_runs"] + count["solos"], words),
            "stop_words": _stop_words(bits, batch.column("lang"), mostly_latin),
        }


def _ratio(part: Floats, whole: Floats) -> Floats:
    return part / np.maximum(whole, 1.0)


@functools.lru_cache(maxsize=1)
def _stop_table() -> StopTable:
    return stop_table([word for words in LATIN_SCRIPT.values() for word in words])


def _stop_words(bits: npt.NDArray[np.uint64], lang: pa.Array, mostly_latin: Mask) -> Floats:
    """Distinct English ones where `lang` is en; the most of any language where it is not set and Latin; NaN."""
    known = pc.fill_null(lang.cast(pa.string()), "")
    english = pc.equal(known, "en").to_numpy(zero_copy_only=False)
    unset = pc.equal(known, "").to_numpy(zero_copy_only=False) & mostly_latin
    of_each = np.stack([_distinct(bits, words) for words in LATIN_SCRIPT.values()])
    return np.where(english, _distinct(bits, ENGLISH), np.where(unset, of_each.max(axis=0), np.nan))


def _distinct(bits: npt.NDArray[np.uint64], words: tuple[str, ...]) -> Floats:
    return np.bitwise_count(bits & _stop_table().mask(words)).sum(axis=1, dtype=np.float64)
