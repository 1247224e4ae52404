"""Why our fast words decide otherwise than datatrove: the first rule on which the two differ, and its cause.

A cause is a fault of the register that is mended (`M23`, `M25`, `M26`), `deliberate: ...` (a deviation that the stage's
docstring states), `words: ...` (the other words at a limit) or `unknown`. What concerns n-grams, and the number, length
and letters of words, is not guessed from the rule: the measure is computed anew over datatrove's words with that one
thing changed, and the cause is `words` where it then decides as before.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from gristmill.stages.kernels.char_table import SOLO
from gristmill.stages.kernels.repetition import n_gram_chars
from gristmill.stages.kernels.segments import MAX_SINGLE_SYMBOLS, Tokens
from gristmill.stages.kernels.words_plain import flags_of
from gristmill.stages.protocol import Filter, Floats, Rule, drops_when_above, drops_when_below
from tests.stages.text.compat.reference import spacy_words

MENDED = ("M23", "M25", "M26")
DELIBERATE = "deliberate: "
WORDS = "words: "

Span = tuple[int, int]
"""A word's first character and the one behind it."""

_DRAWN = re.compile(rf"([^\w\s])\1{{{MAX_SINGLE_SYMBOLS},}}")
_OTHER_LINE_ENDS = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

_BY_RULE = {
    "empty": DELIBERATE + "white space alone is empty",
    "gopher_too_many_hashes": DELIBERATE + "a hash is a token by itself",
    "gopher_too_many_ellipsis": DELIBERATE + "a sequence of dots is one ellipsis",
    "gopher_too_many_bullets": DELIBERATE + "lines without white space around them",
    "gopher_too_many_end_ellipsis": DELIBERATE + "full stops on either side of a space are no ellipsis",
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
    if gram:
        return _cause_of_grams(gram.group(1), int(gram.group(2)), rule.limit, text, theirs_fails)
    if rule.measure in ("words", "mean_word_chars", "alpha_frac"):
        return _cause_of_words(rule, text, theirs_fails)
    if rule.reason.startswith(("dup_para", "dup_line")):
        return "M25" if _OTHER_LINE_ENDS.search(text) else DELIBERATE + "blank lines, white space around lines (#273)"
    return _BY_RULE.get(rule.reason, "unknown")


def _cause_of_grams(kind: str, n: int, limit: float, text: str, theirs_fails: bool) -> str:
    """The measure is taken with our arithmetic over datatrove's words, then with drawn lines as one word each, too."""
    spans = _spans(text, spacy_words().word_tokenize(text))
    if (_gram_frac(kind, n, spans, text) > limit) != theirs_fails:
        if kind == "dup":
            return "M26"
        words = [text[start:end] for start, end in spans]
        times = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)).most_common(1)[0][1]
        return "M23" if times == 1 else DELIBERATE + "overlaps and gaps count once"
    if (_gram_frac(kind, n, _with_drawn_lines(text, spans), text) > limit) != theirs_fails:
        return DELIBERATE + "a line that is drawn is one token"
    return WORDS + "n-grams of other words"


def _spans(text: str, words: Sequence[str]) -> list[Span]:
    found: list[Span] = []
    for word in words:
        start = text.index(word, found[-1][1] if found else 0)
        found.append((start, start + len(word)))
    return found


def _with_drawn_lines(text: str, spans: Sequence[Span]) -> list[Span]:
    """The words, of which those that begin in the same drawn line are one."""
    lines = _drawn_lines(text)
    found: list[Span] = []
    for start, end in spans:
        line = bisect_right(lines, (start, len(text))) - 1
        inside = line >= 0 and lines[line][0] <= start < lines[line][1]
        if inside and found and found[-1][0] >= lines[line][0]:
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def _drawn_lines(text: str) -> list[Span]:
    """More than a few equal symbols side by side, with all around them where no letter or digit stands."""
    found: list[Span] = []
    for chunk in re.finditer(r"\S+", text):
        inside = [(chunk.start() + m.start(), chunk.start() + m.end()) for m in _DRAWN.finditer(chunk.group())]
        found += [chunk.span()] if inside and not any(map(str.isalnum, chunk.group())) else inside
    return found


def _gram_frac(kind: str, n: int, spans: Sequence[Span], text: str) -> float:
    words = [text[start:end] for start, end in spans]
    vocabulary = list(dict.fromkeys(words))
    number = {word: i for i, word in enumerate(vocabulary)}
    gaps = [start > end for (_, end), (start, _) in pairwise([(0, 0), *spans])]
    tokens = Tokens(
        np.array([0, len(words)]),
        np.array([number[word] for word in words], np.int32),
        np.array(gaps, np.uint8),
        np.array([0, len(vocabulary)]),
        np.array([len(word) for word in vocabulary], np.int32),
    )
    chars = n_gram_chars(tokens, [n] if kind == "top" else [], [n] if kind == "dup" else [])
    return float(chars[0, 0]) / len(text)


def _cause_of_words(rule: Rule, text: str, theirs_fails: bool) -> str:
    """The measure is taken over those of datatrove's words that have a letter or digit, then with solos as words."""
    words = [word for word in spacy_words().word_tokenize(text) if any(map(str.isalnum, word))]
    if _fails(rule, np.array([_of_words(rule.measure, words)]))[0] != theirs_fails:
        return DELIBERATE + (
            "letters are asked of words alone" if rule.measure == "alpha_frac" else "no symbol is a word"
        )
    solos = [char for word in words for char in word if flags_of(char) & SOLO]
    runs = ["".join(char for char in word if not flags_of(char) & SOLO) for word in words]
    runs = [word for word in runs if any(map(str.isalnum, word))]
    value = np.nan if rule.measure == "mean_word_chars" and len(solos) > len(runs) else 0.0
    value = value or _of_words(rule.measure, runs if rule.measure == "mean_word_chars" else runs + solos)
    if solos and _fails(rule, np.array([value]))[0] != theirs_fails:
        return DELIBERATE + "a letter of a script without spaces is a word"
    return WORDS + (
        "how many" if rule.measure == "words" else "their letters" if rule.measure == "alpha_frac" else "length"
    )


def _of_words(measure: str, words: Sequence[str]) -> float:
    if measure == "words":
        return float(len(words))
    if measure == "mean_word_chars":
        return sum(map(len, words)) / len(words) if words else np.nan
    return sum(any(map(str.isalpha, word)) for word in words) / max(len(words), 1)
