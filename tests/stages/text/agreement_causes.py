"""Why our fast words decide otherwise than datatrove: the first rule on which the two differ, and its cause.

A cause is a fault of the register that is mended (`M23`, `M25`, `M26`), `deliberate: ...` (a deviation that the stage's
docstring states), `words: ...` (the other words at a limit) or `unknown`. M23, M26 and the counting of overlaps are not
guessed from the rule: the measure is computed anew over datatrove's words with that one thing mended.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from gristmill.stages.protocol import Filter, Floats, Rule, drops_when_above, drops_when_below
from tests.stages.text.compat.reference import spacy_words

MENDED = ("M23", "M25", "M26")
DELIBERATE = "deliberate: "
WORDS = "words: "
_OTHER_LINE_ENDS = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

_BY_RULE = {
    "empty": DELIBERATE + "white space alone is empty",
    "gopher_short_doc": WORDS + "a path, an address or a hyphen's parts",
    "gopher_long_doc": WORDS + "a path, an address or a hyphen's parts",
    "gopher_below_avg_threshold": WORDS + "length of paths, addresses, names with marks inside",
    "gopher_above_avg_threshold": WORDS + "length of paths, addresses, names with marks inside",
    "gopher_too_many_hashes": DELIBERATE + "a hash is a token by itself",
    "gopher_too_many_ellipsis": DELIBERATE + "a sequence of dots is one ellipsis",
    "gopher_too_many_bullets": DELIBERATE + "lines without white space around them",
    "gopher_too_many_end_ellipsis": DELIBERATE + "full stops on either side of a space are no ellipsis",
    "gopher_below_alpha_threshold": DELIBERATE + "letters are asked of words alone",
    "gopher_enough_stop_words": DELIBERATE + "distinct stop words in any case (datatrove#329)",
    "too_few_sentences": DELIBERATE + "sentences and ends of lines in any script",
    "lorem_ipsum": DELIBERATE + "ends of lines in any script",
    "curly_bracket": DELIBERATE + "ends of lines in any script",
    "line_punct_ratio": DELIBERATE + "white space and other line ends do not hide a full stop",
    "short_line_ratio": DELIBERATE + "columns of lines without white space around them",
    "char_dup_ratio": DELIBERATE + "the same characters on both sides (dolma#310)",
    "list_ratio": WORDS + "tokens of marks",
}


def first_difference(stages: tuple[Filter, Filter], batch: pa.RecordBatch) -> list[tuple[Rule, float, float] | None]:
    """For each row, the first rule that fails in one profile and not in the other, and both values of its measure."""
    found: list[tuple[Rule, float, float] | None] = [None] * batch.num_rows
    measures = [stage.measure(batch) for stage in stages]
    settled = np.zeros(batch.num_rows, dtype=np.bool_)
    for rule in stages[0].rules():
        one, other = (_fails(rule, m[rule.measure]) for m in measures)
        for row in np.flatnonzero(~settled & (one != other)).tolist():
            found[row] = rule, float(measures[0][rule.measure][row]), float(measures[1][rule.measure][row])
        settled |= one | other
    return found


def _fails(rule: Rule, values: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    drops = drops_when_above if rule.direction == "above" else drops_when_below
    return drops(values, rule.limit)


def cause_of(rule: Rule | None, text: str, theirs_fails: bool) -> str:
    """Of the first rule on which datatrove and the fast words differ."""
    if rule is None:
        return "unknown"
    gram = re.fullmatch(r"(top|dup)_(\d+)_gram_frac", rule.measure)
    if gram and theirs_fails:
        return _cause_of_grams(gram.group(1), int(gram.group(2)), rule.limit, text)
    if gram:
        return WORDS + "n-grams of other words"
    if rule.reason.startswith(("dup_para", "dup_line")):
        return "M25" if _OTHER_LINE_ENDS.search(text) else DELIBERATE + "blank lines, white space around lines (#273)"
    return _BY_RULE.get(rule.reason, "unknown")


def _cause_of_grams(kind: str, n: int, limit: float, text: str) -> str:
    words = spacy_words().word_tokenize(text)
    if kind == "dup":
        return "M26" if _duplicated(words, n) <= limit * len(text) else WORDS + "n-grams of other words"
    grams = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
    top, times = grams.most_common(1)[0]
    if times == 1:
        return "M23"
    once = _covered(words, top) <= limit * len(text)
    return DELIBERATE + "overlaps and gaps count once" if once else WORDS + "n-grams of other words"


def _duplicated(words: Sequence[str], n: int) -> int:
    """Characters of repeated n-grams, compared word by word."""
    seen: set[tuple[str, ...]] = set()
    chars, i = 0, 0
    while i < len(words) - n + 1:
        gram = tuple(words[i : i + n])
        chars += sum(map(len, gram)) if gram in seen else 0
        i += n if gram in seen else 1
        seen.add(gram)
    return chars


def _covered(words: Sequence[str], gram: tuple[str, ...]) -> int:
    """Characters of the words within any occurrence of the n-gram."""
    n = len(gram)
    starts = [i for i in range(len(words) - n + 1) if tuple(words[i : i + n]) == gram]
    ends = [min(at + n, following) for at, following in pairwise([*starts, len(words) + n])]
    return sum(len(word) for at, end in zip(starts, ends, strict=True) for word in words[at:end])
