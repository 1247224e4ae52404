"""Which record of a set of duplicates stays: a policy of criteria in order, as bytes that sort.

Columns in: those of `columns_of(keep)`. Out: for each row and criterion its badness, a big-endian uint32, smaller being
better; bytes of two rows compare as the policy ranks them. Where all criteria tie the caller lets content decide
(`content_hash`, then `id`), so that the keeper is that of any layout, order and engine. Criteria:

* `longest`, `shortest`: characters of the text;
* `score:NAME`: the higher score of that name in the column `scores`, in steps of SCORE_STEP, so that arithmetic of
  other hardware does not decide; below all of them a record without it, or with NaN;
* `source:a>b>c`, `license:...`, `domain:...`, `lang:...`: the value that is named first; `*` stands for all values that
  are not named and is last if it is not given; then records without a value.

Any value of the data has a rank: the criteria are total. Values are compared as they are, by case too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import DOMAINS
from gristmill.stages.columns import char_counts

BADNESS_BYTES = 4
SCORE_STEP = 1e-6
OTHERS = "*"

Bytes = npt.NDArray[np.uint8]
Badness = npt.NDArray[np.int64]
"""In [0, _WORST]."""

_WORST = 0xFFFFFFFF
_SCORE_STEPS = 0x7FFFFFFF
"""Scores of +-2147 are told apart; beyond they count as that."""
_SPARE = "'longest', 'shortest', 'score:NAME', 'source:A>B', 'license:MIT>*', 'domain:A>B' or 'lang:A>B'"
_LENGTHS = ("longest", "shortest")
_LISTS = ("source", "license", "domain", "lang")


@dataclass(frozen=True)
class _Criterion:
    """`kind`: what stands before the colon; `names`: the values in order of preference, or the score's name."""

    kind: str
    names: tuple[str, ...] = ()

    @property
    def column(self) -> str:
        if self.kind in _LENGTHS:
            return "text"
        return "scores" if self.kind == "score" else self.kind


def check(keep: tuple[str, ...], where: str = "keep") -> None:
    """Raises UsageError on a criterion that there is not, that names nothing, or that is given twice."""
    seen: set[str] = set()
    for text in keep:
        criterion = _parsed(text, where)
        again = text if criterion.kind == "score" else criterion.kind
        if again in seen:
            raise UsageError("a criterion that is given twice", where, text, "the first decides: leave one")
        seen.add(again)


def columns_of(keep: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that `rank_bytes` reads, each once."""
    return tuple(dict.fromkeys(_parsed(text, "keep").column for text in keep))


def order_bytes(keep: tuple[str, ...]) -> int:
    """Width of the rank of a record."""
    return BADNESS_BYTES * len(keep)


def rank_bytes(batch: pa.RecordBatch, keep: tuple[str, ...]) -> Bytes:
    """(n, order_bytes(keep)) uint8: the badness of each row by each criterion, big-endian, first criterion first."""
    rows = np.zeros((batch.num_rows, len(keep)), dtype=">u4")
    for place, text in enumerate(keep):
        criterion = _parsed(text, "keep")
        rows[:, place] = _MEASURES[criterion.kind](batch.column(criterion.column), criterion.names)
    return rows.view(np.uint8).reshape(batch.num_rows, order_bytes(keep))


def _parsed(text: str, where: str) -> _Criterion:
    if text in _LENGTHS:
        return _Criterion(text)
    kind, colon, rest = text.partition(":")
    if not colon or kind not in _MEASURES or kind in _LENGTHS:
        raise UsageError("an unknown criterion", where, text, f"use {_SPARE}")
    if kind == "score":
        if not rest.strip():
            raise UsageError("no score is named", where, text, "write score:NAME, as in score:quality")
        return _Criterion(kind, (rest.strip(),))
    names = tuple(name.strip() for name in rest.split(">"))
    if not all(names) or len(set(names)) < len(names):
        raise UsageError("not a list of different values", where, text, f"write {kind}:FIRST>SECOND, the best first")
    unknown = [n for n in names if kind == "domain" and n not in (*DOMAINS, OTHERS)]
    if unknown:
        raise UsageError("an unknown domain", where, unknown[0], f"there are {', '.join(DOMAINS)}")
    return _Criterion(kind, names)


def _longest(column: pa.Array, names: tuple[str, ...]) -> Badness:
    return _WORST - _shortest(column, names)


def _shortest(column: pa.Array, names: tuple[str, ...]) -> Badness:
    return np.minimum(char_counts(column), _WORST)


def _by_score(column: pa.MapArray, names: tuple[str, ...]) -> Badness:
    found = pc.map_lookup(column, names[0], "first")
    score = pc.fill_null(found.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False)
    limit = _SCORE_STEPS * SCORE_STEP
    steps = np.rint(np.nan_to_num(np.clip(score, -limit, limit)) / SCORE_STEP).astype(np.int64)
    return np.where(np.isnan(score), _WORST, _SCORE_STEPS - steps)


def _by_list(column: pa.Array, names: tuple[str, ...]) -> Badness:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    listed = pc.index_in(column, value_set=pa.array(names, column.type))
    place = pc.fill_null(listed, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    others = names.index(OTHERS) if OTHERS in names else len(names)
    place = np.where(place < 0, others, place)
    return np.where(column.is_null().to_numpy(zero_copy_only=False), max(len(names), others + 1), place)


_MEASURES: Mapping[str, Callable[[pa.Array, tuple[str, ...]], Badness]] = {
    "longest": _longest,
    "shortest": _shortest,
    "score": _by_score,
    **dict.fromkeys(_LISTS, _by_list),
}
