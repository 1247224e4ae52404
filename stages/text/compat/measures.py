"""What datatrove's Gopher and FineWeb filters compute of a text, under the names that our stages give their measures.

Column in: `text`; every row is English, whatever its language, as for datatrove's default. Each function gives float64
arrays as long as the column, to be held against the rules of the stage of its name: decision and first reason are then
datatrove's. What raises there (a text without words, where the rule on short texts is off) is 0, and the mean length of
no words is NaN, which no rule drops (M24). Two of its ratios exceed 1, which is told as 1: no limit is above that.
"""

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.columns import char_counts, ratio
from gristmill.stages.kernels.buffers import Bytes, text_buffers
from gristmill.stages.protocol import Floats
from gristmill.stages.text.compat.datatrove_chars import TERMINAL_PUNCTUATION

Ints = npt.NDArray[np.int64]


def compat_quality(text: pa.Array) -> Mapping[str, Floats]:
    """The measures of `gopher_quality`. `words` are those that are not punctuation alone, as in `mean_word_chars`;
    the other ratios are of all words, marks of punctuation included, or of the lines of `splitlines`."""
    from gristmill.stages.kernels.chunks_lines import QUALITY_COUNTS, count_quality
    from gristmill.stages.text.compat.spacy_rules import split_tables
    from gristmill.stages.text.compat.spans import word_table

    table = word_table(text)
    counts = count_quality(*text_buffers(text), split_tables().flags)
    count = {name: counts[:, column].astype(np.float64) for column, name in enumerate(QUALITY_COUNTS)}
    words, wordlike = table.count("words"), table.count("wordlike")
    mean = np.where(wordlike > 0, table.count("wordlike_chars") / np.maximum(wordlike, 1), np.nan)
    return {
        "words": wordlike,
        "mean_word_chars": mean,
        "hash_frac": np.minimum(ratio(count["hashes"], words), 1.0),
        "ellipsis_frac": np.minimum(ratio(count["ellipses"], words), 1.0),
        "bullet_line_frac": ratio(count["bullet_lines"], count["lines"]),
        "ellipsis_line_frac": ratio(count["ellipsis_lines"], count["lines"]),
        "alpha_frac": ratio(table.count("alpha"), words),
        "stop_words": np.bitwise_count(table.counts[:, -1]).astype(np.float64),
    }


def compat_repetition(text: pa.Array, top: Sequence[int], duplicated: Sequence[int]) -> Mapping[str, Floats]:
    """The measures of `gopher_repetition`, for these lengths of n-grams. `lines` is 0 for "" alone."""
    from gristmill.stages.kernels.chunks_lines import REPEAT_COUNTS, count_repeats
    from gristmill.stages.text.compat.spacy_rules import split_tables
    from gristmill.stages.text.compat.spans import offer

    data, offsets = text_buffers(text)
    counts = count_repeats(data, offsets, split_tables().flags)
    count = {name: counts[:, column].astype(np.float64) for column, name in enumerate(REPEAT_COUNTS)}
    chars = char_counts(text).astype(np.float64)
    sums, words = _gram_sums(data, offsets, top, duplicated)
    offer(text, words)
    names = [*(f"top_{n}_gram_frac" for n in top), *(f"dup_{n}_gram_frac" for n in duplicated)]
    return {
        "lines": np.where(chars > 0, count["lines"], 0.0),
        "dup_para_frac": ratio(count["dup_paras"], count["paras"]),
        "dup_para_char_frac": ratio(count["dup_para_chars"], chars),
        "dup_line_frac": ratio(count["dup_lines"], count["lines"]),
        "dup_line_char_frac": ratio(count["dup_line_chars"], chars),
        **{name: np.minimum(ratio(sums[:, column], chars), 1.0) for column, name in enumerate(names)},
    }


def _gram_sums(data: Bytes, offsets: Ints, top: Sequence[int], duplicated: Sequence[int]) -> tuple[Floats, Ints]:
    """Characters in n-grams, (n, len(top) + len(duplicated)), and the counts of words, which cost little beside."""
    from gristmill.stages.kernels.chunks_grams import LongText, measure_texts
    from gristmill.stages.kernels.chunks_tables import frozen
    from gristmill.stages.text.compat.spans import count_part, no_counts, parts

    of_top, of_duplicated = (frozen(np.array(lengths, dtype=np.int64)) for lengths in (top, duplicated))
    sums = np.zeros((len(offsets) - 1, len(top) + len(duplicated)))
    words = no_counts(len(offsets) - 1)
    long: LongText | None = None
    for part in parts(data, offsets):
        count_part(data, part, words)
        rows, end = part.spans.rows, int(part.spans.ends[-1])
        row = int(rows[0])
        whole = part.spans.starts[0] == offsets[row] and end == offsets[int(rows[-1]) + 1]
        if whole:
            sums[rows] = measure_texts(data, part.firsts, part.tokens, of_top, of_duplicated)
            continue
        long = long or LongText(data, int(offsets[row + 1] - offsets[row]))
        long.add(part.tokens)
        if end == offsets[row + 1]:
            sums[row] = long.measure(of_top, of_duplicated)
            long = None
    return sums, words


def compat_fineweb(
    text: pa.Array, stop_chars: str | None, short_chars: int, exclude_zero: bool
) -> Mapping[str, Floats]:
    """The measures of `fineweb`. `exclude_zero`: a `line_punct_frac` of 0 is NaN, which no rule drops."""
    from gristmill.stages.kernels.chunks_lines import FINEWEB_COUNTS, count_fineweb
    from gristmill.stages.text.compat.spacy_rules import split_tables
    from gristmill.stages.text.compat.spans import word_table

    counts = count_fineweb(*text_buffers(text), split_tables().flags, _terminal(stop_chars), short_chars)
    count = {name: counts[:, column].astype(np.float64) for column, name in enumerate(FINEWEB_COUNTS)}
    punct = ratio(count["terminal_lines"], count["lines"])
    return {
        "lines": count["lines"],
        "line_punct_frac": np.where(punct == 0, np.nan, punct) if exclude_zero else punct,
        "short_line_frac": ratio(count["short_lines"], count["lines"]),
        "char_dup_frac": ratio(count["dup_line_chars"], count["line_chars"]),
        "new_line_frac": np.minimum(ratio(count["line_ends"], word_table(text).count("words")), 1.0),
    }


@functools.lru_cache(maxsize=8)
def _terminal(stop_chars: str | None) -> Bytes:
    marks = np.zeros(0x110000, dtype=np.uint8)
    marks[[ord(char) for char in (TERMINAL_PUNCTUATION if stop_chars is None else stop_chars)]] = 1
    marks.flags.writeable = False
    return marks
