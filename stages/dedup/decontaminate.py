"""Documents that quote evaluation sets: dropped, or their passages cut, with the item and the n-gram for each.

Columns in: `text`, with `action: cut` also `meta`. Columns out: the same. Measures: `eval_ngrams`, the most distinct
n-grams that the document shares with one text of an item (of those of which it holds `min_item_frac` at least);
`eval_item_frac` in [0, 1], the largest share of the n-grams of one text that it holds. Drop: `contaminated`; `detail`
names the file, the item (line or row, its own id), the field, and the n-gram as it stands in the document. Cut:
`contaminated_passage`, and `passage_gap`, the line ends written where a passage stood between others (negative).

An n-gram is `ngram` words (13, as in Brown et al. 2020, GPT-3, appendix C), normalised as `kernels.ngram_fold` says.
Texts of an item are looked for one by one: question, answer, each choice. One of fewer words is looked for as a whole
if it has `min_words` (8, GPT-3's least n), else not at all; `prepare` warns of items without any text that can be
found, `unchecked_items` lists them. A match is one of words, never of hashes alone.

`drop` decides by `max_ngrams` and `min_item_frac`. The defaults drop at the first n-gram, as GPT-3's did at first,
which finds what is partly quoted, and is hard on long books; with `min_item_frac: 0.5` a document goes when it holds
half of the n-grams of one text (Marin's decon.py has a threshold of 0.5). `cut` is what GPT-3 did then: the n-gram and
200 characters at either side go, pieces of fewer than 200 characters go with them, and a document with more than 10
passages goes as a whole. So does one of which nothing remains, or whose pieces together make an n-gram. What was cut
stands in `meta` under `decontaminate`: item, field, n-gram, characters.

False alarms: evaluation sets quote texts that stand in a corpus by right (licences, statutes, scripture, Wikipedia
passages of reading comprehension), and share their prompts. An n-gram in more than `ignore_above` items (default 100:
prompts stand in every item, while the sets of questions about one passage have some dozens) is not looked for; nor are
those of the `ignore` texts, such as licences and known passages. GPT-3 ignored 13-grams that more than 10 documents
of the corpus had; one document alone cannot tell that. `fields: [question, answer]` leaves out passages.
"""

import warnings
from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import char_counts, with_column, with_rows
from gristmill.stages.dedup.passages import Passage, without_passages
from gristmill.stages.kernels.buffers import Bytes, text_buffers
from gristmill.stages.params import file_param, param
from gristmill.stages.protocol import Floats, Mapped, Reason, RowVerdict, Rule

if TYPE_CHECKING:
    from gristmill.stages.dedup.eval_match import Match
    from gristmill.stages.dedup.eval_sets import EvalSets

_REASON = "contaminated"
_SOURCE = "Brown et al. 2020, GPT-3, appendix C"
_NAMES_SHOWN = 5


@dataclass(frozen=True)
class Decontaminate:
    """Drop documents that hold n-grams of evaluation sets, or cut the passages; each with item and n-gram."""

    name: ClassVar[str] = "decontaminate"
    version: ClassVar[int] = 1

    against: str | tuple[str, ...] = file_param(MISSING, "evaluation sets: JSON lines (plain, .gz, .zst) or Parquet")
    ngram: int = param(13, "words of an n-gram (GPT-3: 13)")
    fields: tuple[str, ...] = param((), "fields of an item that are looked for; none: every text in it")
    min_words: int = param(8, "a text of fewer words than ngram, but so many, is looked for as a whole (GPT-3: 8)")
    action: Literal["drop", "cut"] = param("drop", "drop: the document; cut: the passages (GPT-3)")
    max_ngrams: int = param(0, "drop above so many n-grams of one text of an item")
    min_item_frac: float = param(0.0, "only if the document holds this share of the n-grams of that text")
    ignore_above: int = param(100, "n-grams that stand in more items than this are not looked for; 0: all are")
    ignore: tuple[str, ...] = file_param((), "texts whose n-grams are not looked for, such as licences")
    margin_chars: int = param(200, "cut: characters that go at either side of an n-gram (GPT-3: 200)")
    min_piece_chars: int = param(200, "cut: pieces of fewer characters go, too (GPT-3: 200)")
    max_cuts: int = param(10, "cut: a document with more passages goes as a whole (GPT-3: 10)")

    def __post_init__(self) -> None:
        from gristmill.stages.kernels.ngram_probe import MAX_NGRAM

        _check(1 <= self.ngram <= MAX_NGRAM, "ngram", self.ngram, f"give 1 to {MAX_NGRAM}")
        _check(self.min_words >= 1, "min_words", self.min_words, "give 1 or more")
        _check(0 <= self.min_item_frac <= 1, "min_item_frac", self.min_item_frac, "give a number in [0, 1]")
        _check(bool(self.against), "against", self.against, "name an evaluation set")
        for name in ("max_ngrams", "ignore_above", "margin_chars", "min_piece_chars", "max_cuts"):
            value = getattr(self, name)
            _check(0 <= value < 1 << 31, name, value, "give 0 or more")

    def reasons(self) -> tuple[Reason, ...]:
        """One drop, two cuts."""
        return (
            Reason(_REASON, "drop", "holds n-grams of an evaluation item; detail names both"),
            Reason("contaminated_passage", "drop", "characters of passages with such n-grams, and around them"),
            Reason("passage_gap", "drop", "line ends written where a passage stood between others (negative)"),
        )

    def rules(self) -> tuple[Rule, ...]:
        """Action drop: its rule, so that it can be tuned from stored measures."""
        limit = float(self.max_ngrams)
        return (Rule("eval_ngrams", "above", limit, _REASON, _SOURCE),) if self.action == "drop" else ()

    def prepare(self) -> None:
        """Read and index the sets on the driver, so that faulty ones are told before any work, and warn of items that
        cannot be found. Raises InputError, UsageError."""
        names, total = unchecked_items(self), len(self._sets().items.names)
        if len(names) == total:
            remedy = "lower min_words, max_ngrams or raise ignore_above"
            raise UsageError("no item can be found", "stage decontaminate.against", names[0], remedy)
        if names:
            shown = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
            why = f"too short (min_words: {self.min_words}) or ignored"
            warnings.warn(f"decontaminate cannot find {len(names)} of {total} items, {why}: {shown}", stacklevel=2)

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch without cut passages; verdicts on the documents that go."""
        from gristmill.stages.dedup.eval_match import Limits, match_of
        from gristmill.stages.kernels.ngram_probe import rows_with_grams

        sets = self._sets()
        data, offsets = text_buffers(batch.column("text"))
        work = _Work(batch.num_rows)
        limits = Limits(self.max_ngrams, self.min_item_frac)
        for row in np.flatnonzero(rows_with_grams(data, offsets, sets.fold, sets.grams)).tolist():
            text = data[offsets[row] : offsets[row + 1]]
            match = match_of(sets, text, limits)
            work.ngrams[row], work.fracs[row] = match.ngrams, match.frac
            if match.found:
                kept = (
                    None if self.action == "drop" else self._cut(sets, text, match, batch.column("meta")[row].as_py())
                )
                work.settle(row, kept, match, self.max_ngrams)
        return work.mapped(batch)

    def _cut(self, sets: "EvalSets", text: Bytes, match: "Match", meta: str | None) -> Passage | None:
        """The text without its passages; None where the document has to go."""
        from gristmill.stages.dedup.eval_match import Limits, match_of, note_of
        from gristmill.stages.kernels.ngram_probe import Cut, passages

        wanted = np.zeros(len(sets.grams.sizes), np.uint8)
        wanted[match.grams[match.wanted]] = 1
        spans = passages(
            text, sets.fold, sets.grams, wanted, Cut(self.margin_chars, self.min_piece_chars, self.max_cuts)
        )
        if spans is None:
            return None
        kept = without_passages(text, spans, meta, [note_of(sets, text, match, span) for span in spans.tolist()])
        left = np.frombuffer(kept.text, np.uint8)
        again = match_of(sets, left, Limits(self.max_ngrams, self.min_item_frac))
        return kept if kept.text.strip() and not again.found else None

    def _sets(self) -> "EvalSets":
        from gristmill.stages.dedup.eval_sets import EvalWish, load_sets, versions_of

        against = (self.against,) if isinstance(self.against, str) else self.against
        ignore = versions_of(self.ignore)
        found = EvalWish(versions_of(against), self.fields, self.ngram, self.min_words, self.ignore_above, ignore)
        return load_sets(found)


def unchecked_items(stage: Decontaminate) -> list[str]:
    """Names of the evaluation items that the stage cannot find: all their texts are too short or ignored, or have no
    more n-grams than `max_ngrams`."""
    return stage._sets().unchecked(stage.max_ngrams)  # pyright: ignore[reportPrivateUsage]


class _Work:
    """What is gathered while a batch is gone through."""

    def __init__(self, rows: int) -> None:
        self.ngrams: Floats = np.zeros(rows, np.float64)
        self.fracs: Floats = np.zeros(rows, np.float64)
        self.gaps = np.zeros(rows, np.int64)
        self.verdicts: list[RowVerdict] = []
        self.kept: dict[int, Passage] = {}

    def settle(self, row: int, kept: Passage | None, match: "Match", limit: int) -> None:
        """Row `row` goes, or stays with another text."""
        if kept is None:
            found = RowVerdict(row, "drop", _REASON, "eval_ngrams", float(match.ngrams), float(limit), match.detail)
            self.verdicts.append(found)
        else:
            self.kept[row], self.gaps[row] = kept, kept.gaps

    def mapped(self, batch: pa.RecordBatch) -> Mapped:
        """The account."""
        measures = {"eval_ngrams": self.ngrams, "eval_item_frac": self.fracs}
        if not self.kept:
            return Mapped(batch, tuple(self.verdicts), {}, measures)
        text = batch.column("text")
        changed = with_rows(text, {row: kept.text for row, kept in self.kept.items()})
        metas: list[Any] = batch.column("meta").to_pylist()
        for row, kept in self.kept.items():
            metas[row] = kept.meta
        after = with_column(with_column(batch, "text", changed), "meta", pa.array(metas, pa.large_string()))
        cut = char_counts(text) - char_counts(changed) + self.gaps
        return Mapped(after, tuple(self.verdicts), {"contaminated_passage": cut, "passage_gap": -self.gaps}, measures)


def _check(fine: bool, name: str, value: object, remedy: str) -> None:
    if not fine:
        raise UsageError("out of range", f"stage decontaminate.{name}", value, remedy)
