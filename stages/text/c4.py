"""C4's document and line rules (Raffel et al. 2020, JMLR 21/140, section 2.2), as datatrove's C4QualityFilter has them.

Columns in: `text`, `lang` (for the lists of bad words). Column out: `text`, the lines that stay, without white space
around them, parted by a line feed. A line is cut, with its end, for the first of

| reason | the line |
|---|---|
| too_long_word | has more than `max_word_length` characters without white space or a Han, kana, Thai letter between |
| no_terminal_punc | does not end with a full stop, question or exclamation mark or quotation mark; or ends with "..." |
| too_few_words | has fewer than `min_words_per_line` words, parted by white space; each Han, kana, Thai letter is one |
| javascript | holds "javascript" |
| policy | holds "privacy policy", "use cookies" or the like (`lines_c4.POLICY_PHRASES`) |

Besides, `citation` ([12], [], [edit], [citation needed]) is cut inside lines, and `white_space` around lines, blank
lines and their ends. Drops: `lorem_ipsum` and `curly_bracket`, where a line that none of the first three reasons cut
holds "lorem ipsum" or "{"; `too_few_sentences` in all lines that stay; `too_few_paragraphs` (C4ParagraphFilter, whose
reason is "< 3 paragraphs"; off by default): fewer than `min_paragraphs` lines that have themselves (dolma#197)
`min_paragraph_len` characters; `document_removed_with_badwords` (C4BadWordsFilter; see `bad_words`).
Measures: `sentences`, `kept_lines`, `kept_line_frac` in [0, 1], of the characters.

Reasons bear datatrove's names and their order is its. Deliberate differences from it:
* lines end as everywhere here; letters of scripts without spaces are words, so that no paragraph of Chinese is one long
  word (of 1,001 letters it went);
* sentences are those of `kernels.lines_sentences`;
* full stops and quotation marks of every script end a line, so that French, Chinese or Hindi is not cut to nothing;
  white space that a citation leaves behind at the end of a line does not hide its full stop;
* phrases are found in any case of ASCII letters; a citation's digits are ASCII;
* `keep_fraction` of the pages with bad words is drawn by content and `seed`, not from a stream of each worker (M27);
* a line with the mark of a medium (U+FFFC) stays whole;
* code between fences of three backticks or more, as `extract_html` writes it, stays as it is, indentation, brackets and
  all, unless `keep_code` is false: line rules made for prose leave nothing of a listing but its comments.

None of these but `keep_fraction` and the medium holds for `words: compat`, which cuts and counts as datatrove does
(`compat.c4`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import char_counts, with_column
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.params import file_param, param
from gristmill.stages.protocol import Mapped, Reason, RowVerdict
from gristmill.stages.text.bad_words import found_bad_words, is_sampled
from gristmill.stages.text.compat.profile import WORDS_DOC, check_words

if TYPE_CHECKING:
    from gristmill.stages.kernels.lines_c4 import C4Limits

Ints = npt.NDArray[np.int64]

CUTS: Mapping[str, str] = {
    "too_long_word": "lines with a word above max_word_length",
    "no_terminal_punc": "lines that do not end with a terminal punctuation mark",
    "too_few_words": "lines below min_words_per_line",
    "javascript": "lines that mention JavaScript",
    "policy": "lines about cookies and terms of use",
    "citation": "citations inside lines that stay",
    "white_space": "around lines, blank lines, ends of lines",
}
DROPS: Mapping[str, str] = {
    "lorem_ipsum": "a line holds lorem ipsum",
    "curly_bracket": "a line holds a curly bracket",
    "too_few_sentences": "sentences in the lines that stay, below min_num_sentences",
    "too_few_paragraphs": "lines of min_paragraph_len characters, below min_paragraphs",
    "document_removed_with_badwords": "a word of the lists of its language, and not among those kept anyway",
}
_OFF = -1


@dataclass(frozen=True)
class C4:
    """Cut lines that are no sentences; drop pages with too few sentences left, placeholders or code (C4)."""

    name: ClassVar[str] = "c4"
    version: ClassVar[int] = 3

    split_paragraph: bool = param(True, "judge lines; false: sentences, which are then parted by a space")
    remove_citations: bool = param(True, "cut [12], [edit], [citation needed]")
    filter_no_terminal_punct: bool = param(True, "cut lines without a terminal punctuation mark")
    min_num_sentences: int = param(5, "drop a text of fewer sentences; -1 turns it off")
    min_words_per_line: int = param(3, "cut lines of fewer words; -1 turns it off")
    max_word_length: int = param(1000, "cut lines with a word of more characters; -1 turns it off")
    filter_lorem_ipsum: bool = param(True, "drop texts with lorem ipsum")
    filter_javascript: bool = param(True, "cut lines with javascript")
    filter_curly_bracket: bool = param(True, "drop texts with {")
    filter_policy: bool = param(True, "cut lines about cookies and terms of use")
    min_paragraphs: int = param(0, "drop a text of fewer long lines; mC4 has 3, off by default")
    min_paragraph_len: int = param(200, "characters that make a line long (mC4)")
    bad_words: tuple[str, ...] = file_param((), "lists of words, one a line; a text that holds one is dropped")
    bad_words_langs: tuple[str, ...] = param((), "the language of each list, as in lang; empty: all are for all texts")
    default_lang: str = param("en", "the language of a text that has none, for bad_words")
    keep_fraction: float = param(0.0, "share of the texts with bad words that is kept, by content and seed")
    seed: int = param(0, "of that draw")
    keep_code: bool = param(True, "keep code between fences as it stands, as no sentences; not in words: compat")
    words: Literal["fast", "compat"] = param("fast", WORDS_DOC)

    def __post_init__(self) -> None:
        check_words(self.words, self.name)
        if self.words == "compat" and not self.split_paragraph:
            remedy = "leave it at true, or use words: fast"
            raise UsageError("words: compat judges lines only", "stage c4.split_paragraph", False, remedy)
        if self.bad_words_langs and len(self.bad_words_langs) != len(self.bad_words):
            where, remedy = "stage c4.bad_words_langs", "name one language for each list, or none at all"
            raise UsageError("as many as bad_words are wanted", where, list(self.bad_words_langs), remedy)
        if not 0 <= self.keep_fraction <= 1:
            raise UsageError("a ratio between 0 and 1 is wanted", "stage c4.keep_fraction", self.keep_fraction)
        for name in ("min_num_sentences", "min_words_per_line", "max_word_length"):
            if getattr(self, name) < _OFF:
                raise UsageError("must be -1 (off) or more", f"stage c4.{name}", getattr(self, name))
        for name in ("min_paragraphs", "min_paragraph_len"):
            if getattr(self, name) < 0:
                raise UsageError("must not be negative", f"stage c4.{name}", getattr(self, name))

    def reasons(self) -> tuple[Reason, ...]:
        """Cuts, then drops in the order in which they are tried."""
        return tuple(Reason(reason, "drop", doc) for reason, doc in (*CUTS.items(), *DROPS.items()))

    def prepare(self) -> None:
        """Compile the kernel into this machine's cache, once on the driver."""
        self._clean(pa.array([""], pa.large_string()))

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch with the lines that stay; verdicts for the rows that go."""
        from gristmill.stages.kernels.lines_c4 import COUNTS

        text = batch.column("text")
        data, offsets, counts = self._clean(text)
        count = dict(zip(COUNTS, counts.T, strict=True))
        after = pa.LargeStringArray.from_buffers(len(text), pa.py_buffer(offsets), pa.py_buffer(data))
        before_chars, after_chars = char_counts(text), char_counts(after)
        verdicts = self._verdicts(count)
        verdicts += self._bad_words(data, offsets, batch.column("lang"), {v.row for v in verdicts})
        return Mapped(
            with_column(batch, "text", after),
            tuple(sorted(verdicts, key=lambda v: v.row)),
            _cuts(count, before_chars, after_chars),
            {
                "sentences": count["sentences"].astype(np.float64),
                "kept_lines": count["kept_lines"].astype(np.float64),
                "kept_line_frac": np.clip(after_chars / np.maximum(before_chars, 1), 0.0, 1.0),
            },
        )

    def _clean(self, text: pa.Array) -> tuple[npt.NDArray[np.uint8], Ints, Ints]:
        if self.words == "compat":
            from gristmill.stages.text.compat.c4 import clean
        else:
            from gristmill.stages.kernels.lines_c4 import clean
        return clean(*text_buffers(text), self.limits())

    def limits(self) -> "C4Limits":
        """The parameters as the kernel takes them."""
        from gristmill.stages.kernels import lines_c4 as kernel

        on = (
            kernel.LOREM * self.filter_lorem_ipsum
            | kernel.JAVASCRIPT * self.filter_javascript
            | kernel.CURLY * self.filter_curly_bracket
            | kernel.POLICY * self.filter_policy
            | kernel.CITATIONS * self.remove_citations
        )
        return kernel.C4Limits(
            self.max_word_length,
            self.min_words_per_line,
            self.min_paragraph_len,
            on,
            self.filter_no_terminal_punct,
            not self.split_paragraph,
            self.keep_code and self.words == "fast",
        )

    def _verdicts(self, count: Mapping[str, Ints]) -> list[RowVerdict]:
        from gristmill.stages.kernels.lines_c4 import LOREM

        few = (count["sentences"] < self.min_num_sentences) & (self.min_num_sentences != _OFF)
        sparse = count["long_lines"] < self.min_paragraphs
        verdicts: list[RowVerdict] = []
        for row in np.flatnonzero((count["dropped_for"] > 0) | few | sparse).tolist():
            if phrase := int(count["dropped_for"][row]):
                reason = "lorem_ipsum" if phrase == LOREM else "curly_bracket"
                verdicts.append(RowVerdict(row, "drop", reason, reason, 1.0, 0.0))
            elif few[row]:
                sentences = float(count["sentences"][row])
                verdicts.append(
                    RowVerdict(row, "drop", "too_few_sentences", "sentences", sentences, self.min_num_sentences)
                )
            else:
                lines = float(count["long_lines"][row])
                verdicts.append(RowVerdict(row, "drop", "too_few_paragraphs", "long_lines", lines, self.min_paragraphs))
        return verdicts

    def _bad_words(
        self, data: npt.NDArray[np.uint8], offsets: Ints, lang: pa.Array, gone: set[int]
    ) -> list[RowVerdict]:
        if not self.bad_words:
            return []
        langs = pc.fill_null(lang.cast(pa.string()), self.default_lang).to_pylist()
        found = found_bad_words(data, offsets, langs, self.bad_words, self.bad_words_langs)
        reason = "document_removed_with_badwords"
        return [
            RowVerdict(row, "drop", reason, "bad_words", 1.0, 0.0, langs[row])
            for row in np.flatnonzero(found).tolist()
            if row not in gone
            and not is_sampled(data[offsets[row] : offsets[row + 1]].tobytes(), self.seed, self.keep_fraction)
        ]


def _cuts(count: Mapping[str, Ints], before: Ints, after: Ints) -> dict[str, Ints]:
    named = {reason: count[reason] for reason in CUTS if reason in count}
    return named | {"white_space": before - after - sum(named.values(), np.zeros_like(before))}
