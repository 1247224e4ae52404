"""FineWeb's own quality rules (Penedo et al. 2024, arXiv 2406.17557, section 3.6), as datatrove has them.

Columns in: `text`, `lang`. A line is taken without the white space around it, and a blank one is none. Measures, each 0
where it would divide by nothing:

| measure | what | reason |
|---|---|---|
| lines | lines that are not blank | empty |
| line_punct_frac | lines that end with a terminal mark, of all lines | line_punct_ratio |
| short_line_frac | lines of at most `short_line_length` columns, of all lines | short_line_ratio |
| char_dup_frac | characters of lines that stood there before, of those of all lines | char_dup_ratio |
| new_line_frac | ends of lines for each token, 1 at most | list_ratio |

Reasons bear datatrove's names and their order is its. Deliberate differences from it:
* CRLF and the other line ends of `str.splitlines` are ends; a CR, or a space, behind a full stop does not hide it;
* a column is a character, but a letter of Han, kana, Thai and the like takes two: Chinese is not made of short lines;
* both sides of `char_dup_frac` count the same characters, those of lines up to the last visible one (dolma#310), and
  blank lines are nobody's duplicates (datatrove#273);
* tokens are words and symbols of `kernels.words` (its spaCy's are about as many); its `list_ratio` exceeds 1 where
  there are more ends of lines than tokens, which is cut to 1 here: no limit below 1 decides otherwise;
* limits follow the language (`language_profiles`: FineWeb2's); English, and what has no profile, is held against
  the parameters.

None of these holds for `words: compat`, which decides as datatrove does (`compat.measures`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import ratio
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.segments import repeats, word_counts
from gristmill.stages.params import param
from gristmill.stages.protocol import Direction, Floats, Rule
from gristmill.stages.text.compat.profile import WORDS_DOC, check_words
from gristmill.stages.text.language_profiles import by_profile, profile_of

_SOURCE = "Penedo et al. 2024, FineWeb, section 3.6"

_RULES: tuple[tuple[str, str, Direction, str], ...] = (
    ("line_punct_thr", "line_punct_frac", "below", "line_punct_ratio"),
    ("short_line_thr", "short_line_frac", "above", "short_line_ratio"),
    ("char_duplicates_ratio", "char_dup_frac", "above", "char_dup_ratio"),
    ("new_line_ratio", "new_line_frac", "above", "list_ratio"),
)
"""Parameter, measure, direction, reason, in the order in which they are tried."""


@dataclass(frozen=True)
class LineCounts:
    """Of each document, float64 (n): lines that are not blank, those with a terminal mark at their end, short ones;
    characters of lines, and of those that stood there before; ends of lines."""

    lines: Floats
    terminal_lines: Floats
    short_lines: Floats
    line_chars: Floats
    dup_line_chars: Floats
    line_ends: Floats


@dataclass(frozen=True)
class FineWeb:
    """FineWeb's rules: lines without full stops, short lines, repeated lines, lists."""

    name: ClassVar[str] = "fineweb"
    version: ClassVar[int] = 1

    line_punct_thr: float | None = param(0.12, "least share of lines that end with a terminal mark; null turns it off")
    line_punct_exclude_zero: bool = param(False, "keep a text in which no line ends with a terminal mark")
    stop_chars: str | None = param(None, "the terminal marks, as one word; null: those of some 60 scripts")
    short_line_thr: float | None = param(0.67, "largest share of short lines")
    short_line_length: int = param(30, "columns of the longest short line")
    char_duplicates_ratio: float | None = param(0.01, "largest share of characters in repeated lines")
    new_line_ratio: float | None = param(0.3, "most ends of lines for a token")
    by_language: bool = param(True, "FineWeb2's limits for the text's language; false: the above for all")
    words: Literal["fast", "compat"] = param("fast", WORDS_DOC)

    def __post_init__(self) -> None:
        check_words(self.words, self.name)
        for parameter, *_ in _RULES:
            limit = getattr(self, parameter)
            if limit is not None and not 0 <= limit <= 1:
                raise UsageError("a ratio between 0 and 1 is wanted", f"stage fineweb.{parameter}", limit)
        if self.short_line_length < 0:
            raise UsageError("must not be negative", "stage fineweb.short_line_length", self.short_line_length)
        if self.stop_chars == "":
            raise UsageError("no terminal mark at all", "stage fineweb.stop_chars", "", "leave it out, or name some")

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are on, in datatrove's order."""
        empty = Rule("lines", "below", 1.0, "empty", _SOURCE)
        limits = [getattr(self, parameter) for parameter, *_ in _RULES]
        return empty, *(
            Rule(measure, direction, float(limit), reason, _SOURCE, self._by_profile(parameter))
            for limit, (parameter, measure, direction, reason) in zip(limits, _RULES, strict=True)
            if limit is not None
        )

    def _by_profile(self, parameter: str) -> dict[str, float | None]:
        return by_profile(parameter) if self._has_profiles() else {}

    def profiles(self, batch: pa.RecordBatch) -> Sequence[str]:
        """The language profile of each row."""
        return profile_of(batch) if self._has_profiles() else [""] * batch.num_rows

    def _has_profiles(self) -> bool:
        return self.by_language and self.words == "fast"

    def prepare(self) -> None:
        """Compile the kernels into this machine's cache, once on the driver."""
        batch = pa.RecordBatch.from_pydict({"text": [""], "lang": [""]})
        self.measure(batch)
        self.profiles(batch)

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """All measures of the table above, as long as the batch."""
        if self.words == "compat":
            from gristmill.stages.text.compat.measures import compat_fineweb

            return compat_fineweb(
                batch.column("text"), self.stop_chars, self.short_line_length, self.line_punct_exclude_zero
            )
        from gristmill.stages.kernels.lines_fineweb import count_lines

        text = batch.column("text")
        columns = count_lines(*text_buffers(text), self.stop_chars, self.short_line_length).T.astype(np.float64)
        lines, terminal, short, chars, ends = columns
        duplicates = np.minimum(repeats(text).count("dup_line_chars"), chars)
        tokens = word_counts(text)
        counts = LineCounts(lines, terminal, short, chars, duplicates, ends)
        return measures_of(counts, tokens.words + tokens.count("symbols"), self.line_punct_exclude_zero)


def measures_of(counts: LineCounts, tokens: Floats, exclude_zero: bool = False) -> dict[str, Floats]:
    """The measures, from the counts and the number of tokens (float64, n). `exclude_zero`: a `line_punct_frac` of 0
    is NaN, which no rule drops."""
    punct = ratio(counts.terminal_lines, counts.lines)
    return {
        "lines": counts.lines,
        "line_punct_frac": np.where(punct == 0, np.nan, punct) if exclude_zero else punct,
        "short_line_frac": ratio(counts.short_lines, counts.lines),
        "char_dup_frac": ratio(counts.dup_line_chars, counts.line_chars),
        "new_line_frac": np.minimum(ratio(counts.line_ends, tokens), 1.0),
    }
