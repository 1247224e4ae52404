"""Gopher's repetition rules (Rae et al. 2021, arXiv 2112.11446, table A1), over our own words and lines.

Columns in: `text`; `lang`, for limits by language (`language_profiles`; Chinese, Japanese and Thai have none on
n-grams, which would be of characters). Lines and paragraphs are those of `kernels.segments_lines`, tokens (words and
symbols) those of `kernels.segments_tokens`. Measures; each is 0 where it would divide by nothing, and fractions of
characters are of all characters of the text, of which each counts once:

| measure | what |
|---|---|
| lines | lines that are not blank |
| dup_line_frac, dup_para_frac | lines, paragraphs that stood in the text before, of all of them |
| dup_line_char_frac, dup_para_char_frac | characters of those |
| top_N_gram_frac | characters within the occurrences of the most frequent n-gram, if it occurs at least twice |
| dup_N_gram_frac | characters of the tokens of n-grams that stood before, reading on behind each |

Reasons bear datatrove's names and their order is its. Deliberate differences from it, each a test in
`tests/regressions/test_m23_m28_filters.py` or beside this stage's own:
* an n-gram that occurs once is no repetition ("Alpha bravo charlie delta echo foxtrot" fell as `top_2_gram`; M23);
* CRLF and every other end of line that `str.splitlines` knows ends a line; a blank line may hold white space (M25);
* n-grams are compared token by token: ("ab", "c") is not ("a", "bc") (M26);
* blank lines are no lines, so none is a duplicate (datatrove#273); white space behind a line is not compared;
* occurrences of the top n-gram that overlap ("la la la la") count each character once, where count times length made
  fractions of up to n; a gap in it counts as one character only where the text has one ("end" "." has none);
* more than three equal symbols side by side are one token, and with the symbols around them if no letter or digit
  stands there: a line that is drawn ("======", "+-----+-----+"). Else the most frequent n-gram of a page with one ruled
  heading is of "=", and other repetition is not seen;
* a text of white space alone is `empty`, too.

A row of more than `segments.PART_BYTES` (8 MiB) has its n-grams counted in pieces, so that memory is bounded.

None of these holds for `words: compat`, which decides as datatrove does (`compat.measures`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import char_counts
from gristmill.stages.kernels.segments import Repeats, repeats, token_table
from gristmill.stages.params import param
from gristmill.stages.protocol import Floats, Rule
from gristmill.stages.text.compat.profile import WORDS_DOC, check_words
from gristmill.stages.text.language_profiles import by_profile, profile_of

_SOURCE = "Rae et al. 2021, Gopher, table A1"
MAX_N = 64
"""An n-gram has at most so many tokens: each level costs a pass."""


@dataclass(frozen=True)
class GopherRepetition:
    """Gopher's repetition rules: duplicate lines, paragraphs and n-grams, and the most frequent n-grams."""

    name: ClassVar[str] = "gopher_repetition"
    version: ClassVar[int] = 3

    dup_line_frac: float | None = param(0.3, "lines that stood before, of all lines; null turns a rule off")
    dup_para_frac: float | None = param(0.3, "paragraphs that stood before, of all paragraphs")
    dup_line_char_frac: float | None = param(0.2, "characters in lines that stood before, of all characters")
    dup_para_char_frac: float | None = param(0.2, "characters in paragraphs that stood before, of all characters")
    top_n_grams: tuple[tuple[int, float], ...] = param(
        ((2, 0.2), (3, 0.18), (4, 0.16)), "[n, limit]: characters in the most frequent n-gram, of all characters"
    )
    dup_n_grams: tuple[tuple[int, float], ...] = param(
        ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.10)),
        "[n, limit]: characters in n-grams that stood before, of all characters",
    )
    by_language: bool = param(True, "rows of other languages than English have the limits of FineWeb2 for theirs")
    words: Literal["fast", "compat"] = param("fast", WORDS_DOC)

    def __post_init__(self) -> None:
        check_words(self.words, self.name)
        for rule in self.rules()[1:]:
            if not 0 <= rule.limit <= 1:
                raise UsageError("a ratio between 0 and 1 is wanted", "stage gopher_repetition", rule.limit)
        for limits in (self.top_n_grams, self.dup_n_grams):
            lengths = [n for n, _ in limits]
            if len(set(lengths)) < len(lengths) or not all(2 <= n <= MAX_N for n in lengths):
                remedy = f"give each n once, from 2 to {MAX_N}"
                raise UsageError("wrong lengths of n-grams", "stage gopher_repetition", lengths, remedy)

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are on, in datatrove's order."""
        by_language = self.by_language and self.words == "fast"
        found: list[tuple[str, float | None, str, str]] = [
            ("dup_para_frac", self.dup_para_frac, "dup_para_frac", "dup_para_frac"),
            ("dup_para_char_frac", self.dup_para_char_frac, "dup_para_char_frac", "dup_para_char_frac"),
            ("dup_line_frac", self.dup_line_frac, "dup_line_frac", "dup_line_frac"),
            ("dup_line_char_frac", self.dup_line_char_frac, "dup_line_char_frac", "dup_line_char_frac"),
            *((f"top_{n}_gram_frac", limit, f"top_{n}_gram", f"top_{n}_gram") for n, limit in self.top_n_grams),
            *(
                (f"dup_{n}_gram_frac", limit, f"duplicated_{n}_n_grams", f"dup_{n}_gram")
                for n, limit in self.dup_n_grams
            ),
        ]
        rules = (
            Rule(name, "above", float(limit), reason, _SOURCE, by_profile(parameter) if by_language else {})
            for name, limit, reason, parameter in found
            if limit is not None
        )
        return (Rule("lines", "below", 1.0, "empty", "no text"), *rules)

    def profiles(self, batch: pa.RecordBatch) -> Sequence[str]:
        """The language profile of each row."""
        return profile_of(batch)

    def prepare(self) -> None:
        """Compile the kernels into this machine's cache, once on the driver."""
        self.measure(pa.RecordBatch.from_pydict({"text": [""], "lang": [""]}))

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """All measures of the table above, as long as the batch."""
        text = batch.column("text")
        if self.words == "compat":
            from gristmill.stages.text.compat.measures import compat_repetition

            return compat_repetition(text, [n for n, _ in self.top_n_grams], [n for n, _ in self.dup_n_grams])
        chars = char_counts(text).astype(np.float64)
        return {**line_measures(repeats(text), chars), **self._n_gram_measures(text, chars)}

    def _n_gram_measures(self, text: pa.Array, chars: Floats) -> Mapping[str, Floats]:
        from gristmill.stages.kernels.repetition import n_gram_chars

        top, duplicated = [n for n, _ in self.top_n_grams], [n for n, _ in self.dup_n_grams]
        sums = np.zeros((len(text), len(top) + len(duplicated)))
        for rows, tokens in token_table(text):
            np.add.at(sums, rows, n_gram_chars(tokens, top, duplicated))
        names = [*(f"top_{n}_gram_frac" for n in top), *(f"dup_{n}_gram_frac" for n in duplicated)]
        return {name: ratio(sums[:, column], chars) for column, name in enumerate(names)}


def line_measures(found: Repeats, chars: Floats) -> Mapping[str, Floats]:
    """The measures of lines and paragraphs, given the characters of each text."""
    return {
        "lines": found.count("lines"),
        "dup_line_frac": ratio(found.count("dup_lines"), found.count("lines")),
        "dup_para_frac": ratio(found.count("dup_paras"), found.count("paras")),
        "dup_line_char_frac": ratio(found.count("dup_line_chars"), chars),
        "dup_para_char_frac": ratio(found.count("dup_para_chars"), chars),
    }


def ratio(part: Floats, whole: Floats) -> Floats:
    """`part / whole`, 0 where the whole is 0."""
    return part / np.maximum(whole, 1.0)
