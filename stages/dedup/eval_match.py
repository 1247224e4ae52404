"""What one document shares with evaluation sets: how much of which texts, and where."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.stages.dedup.eval_sets import EvalSets
from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.ngram_probe import distinct_grams

DETAIL_CHARS = 300
"""No more of an n-gram's words is shown."""

Ints = npt.NDArray[np.int64]


class Limits(NamedTuple):
    """A text of an item is found where the document holds more than `max_ngrams` of its n-grams, and this share."""

    max_ngrams: int
    min_item_frac: float


class Match(NamedTuple):
    """`spans` (k, 2): the bytes of the first occurrence of each distinct n-gram, in the order of their ends. `ngrams`:
    the most of one text, of those with the least share; `frac`: the largest share of any text. `found`: there is a text
    over the limits; `wanted`: the n-grams that stand in such a text, `texts` the first such text of each, else -1."""

    grams: npt.NDArray[np.int32]
    spans: Ints
    ngrams: int
    frac: float
    found: bool
    wanted: npt.NDArray[np.bool_]
    texts: Ints
    detail: str


def match_of(sets: EvalSets, text: Bytes, limits: Limits) -> Match:
    """Compare one document (UTF-8) with the sets."""
    grams, spans = distinct_grams(text, sets.fold, sets.grams)
    which, of = sets.occurrences_of(grams)
    texts, counts = np.unique(of, return_counts=True)
    fracs = counts / np.maximum(sets.text_grams[texts], 1)
    enough = fracs >= limits.min_item_frac
    over = texts[enough & (counts > limits.max_ngrams)]
    first = np.full(len(grams), -1, np.int64)
    hit = np.isin(of, over)
    # Occurrences are sorted by n-gram, then text: written backwards, the first text of each stays.
    first[which[hit][::-1]] = of[hit][::-1]
    most, share = (int(counts[enough].max()) if enough.any() else 0), (float(fracs.max()) if len(fracs) else 0.0)
    detail = _detail(sets, text, spans, which[hit], of[hit]) if len(over) else ""
    return Match(grams, spans, most, share, len(over) > 0, first >= 0, first, detail)


def _detail(sets: EvalSets, text: Bytes, spans: Ints, which: Ints, of: Ints) -> str:
    """The text of which the document holds most, by share, then number; its first n-gram there."""
    texts, counts = np.unique(of, return_counts=True)
    best = int(np.lexsort((texts, -counts, -counts / sets.text_grams[texts]))[0])
    shown = words_shown(text, spans[which[of == texts[best]].min()].tolist())
    others = f", and of {len(texts) - 1} other texts" if len(texts) > 1 else ""
    told = f"{counts[best]} of {sets.text_grams[texts[best]]} n-grams{others}"
    return f'{sets.name_of(int(texts[best]))}: "{shown}" ({told})'


def note_of(sets: EvalSets, text: Bytes, match: Match, span: Sequence[int]) -> dict[str, str]:
    """Item, field and n-gram for which the bytes [start, stop) went: the first n-gram there that is wanted; what a
    passage repeats was noted at the first one, so it has the first n-gram of all."""
    wanted = np.flatnonzero(match.wanted)
    inside = (match.spans[wanted, 0] >= span[0]) & (match.spans[wanted, 1] <= span[1])
    number = int(wanted[np.argmax(inside)])
    found = sets.items.texts[int(match.texts[number])]
    ngram = words_shown(text, match.spans[number].tolist())
    return {"item": sets.items.names[found.item], "field": found.field, "ngram": ngram}


def words_shown(text: Bytes, span: Sequence[int]) -> str:
    """The words as they stand in the document, white space as one blank."""
    words = " ".join(text[span[0] : span[1]].tobytes().decode("utf-8", "replace").split())
    return words if len(words) <= DETAIL_CHARS else words[:DETAIL_CHARS] + "..."
