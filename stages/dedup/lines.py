"""Lines, paragraphs or spans of sentences that stand in the corpus more than once: all copies but one are cut.

Columns in: `id`, `content_hash`, `domain`, `text`, `media`, and those of the keeper's policy. What a unit is, and which
are none, `kernels.line_units` says; two are copies where their normal forms are (`kernels.normal_form`; digits and
punctuation always count). Occurrences are counted over the whole corpus, those within one document too.

Emitted, a row for each unit: key = BLAKE3-128 of the normal form, order = rank of the record (`keep`, then content
hash, then id), value = its bytes [start, stop) in the text, two big-endian uint32, so that of one record the first
copy comes first. 64 bytes a unit.
Reduced: a CUT for each copy of what occurs `min_count` times or more, but for the best-ranked one (`keep_one`), whose
record is its keeper; `value` is the number of occurrences, `limit` is `min_count`.

Each line, each sentence that is cut stands on in the copy of best rank, which no cut reaches: of overlapping spans,
too. What is cut ends at ends of lines or sentences, so never within a character; the white space that ends a unit goes
with it.

Where the defaults come from:
* C4 (Raffel et al. 2020, section 2.2) discards all but one of any three-sentence span that occurs more than once: that
  is `unit: sentences`, `min_count: 2`. CCNet (Wenzek et al. 2020, section 3.1) keeps one copy of each line (it calls
  them paragraphs), Dolma (Soldaini et al. 2024) of each paragraph.
* Llama 3 (2024, section 3.1.1) removes lines that occur more than six times: `min_count: 7, keep_one: false`.
* C4 first took lines of three words or more for sentences: `min_words: 3`. With `min_chars: 10` it lets braces, rules,
  list marks and short headings stay, and in scripts without spaces what is about as short.
* Code is not touched (`skip_domains`), nor are formulae: what all programs share is no boilerplate to them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import DOMAINS, ID_BYTES
from gristmill.stages.columns import column_of
from gristmill.stages.dedup import keeper, ranks
from gristmill.stages.dedup.exact import MEDIA_HASHES
from gristmill.stages.dedup.line_groups import Copies, copy_verdicts
from gristmill.stages.params import param
from gristmill.stages.protocol import EMPTIED, Reason, emitted_schema

if TYPE_CHECKING:
    from gristmill.stages.kernels.line_units import UnitRules

_MAX_SPAN = 16
_REASONS = {
    "line": Reason("duplicate_line", "drop", "a line that stands elsewhere in the corpus, too"),
    "paragraph": Reason("duplicate_paragraph", "drop", "a paragraph that stands elsewhere in the corpus, too"),
    "sentences": Reason(
        "duplicate_sentences", "drop", "sentences that follow one another elsewhere in the corpus, too"
    ),
}
_UNITS = tuple(_REASONS)

Bytes = npt.NDArray[np.uint8]
Addresses = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class LineDedup:
    """Cut lines, paragraphs or spans of sentences that stand in the corpus more than once, but for one copy."""

    unit: Literal["line", "paragraph", "sentences"] = param("line", "what is compared, and cut")
    span: int = param(3, "sentences that are compared together, for unit: sentences (C4: 3)")
    min_count: int = param(2, "occurrences in the corpus from which copies go (C4: 2, Llama 3: 7)")
    keep_one: bool = param(True, "one copy stays; false: all go, as boilerplate does in Llama 3")
    min_words: int = param(3, "what has fewer words stays, and is not counted")
    min_chars: int = param(10, "what has fewer characters stays, and is not counted")
    keep_blocks: bool = param(True, "code between fences stays, and so do rows of Markdown tables as lines")
    skip_domains: tuple[str, ...] = param(("code", "math"), "domains whose records are neither cut nor counted")
    normalise: Literal["auto", "prose", "exact"] = param(
        "auto", "what counts as equal: by domain, without case and white space, or without white space"
    )
    keep: tuple[str, ...] = param((), "whose copy stays, criteria in order: longest, score:NAME, source:A>B, ...")

    name: ClassVar[str] = "line_dedup"
    version: ClassVar[int] = 1
    key_bytes = ID_BYTES
    value_bytes: ClassVar[int] = 8
    rows_each: ClassVar[int] = 20
    measure_name: ClassVar[str] = "occurrences"

    def __post_init__(self) -> None:
        keeper.check(self.keep, "stage line_dedup.keep")
        for name, least, most in (("span", 1, _MAX_SPAN), ("min_count", 2, None), ("min_words", 0, None)):
            value = getattr(self, name)
            if value < least or (most is not None and value > most):
                wanted = f"give {least} or more" if most is None else f"give {least} to {most}"
                raise UsageError("not a number that makes sense", f"stage line_dedup.{name}", value, wanted)
        if not 0 <= self.min_chars < 1 << 30:
            where = "stage line_dedup.min_chars"
            raise UsageError("no text has so many", where, self.min_chars, "give 0 or more characters")
        for domain in self.skip_domains:
            if domain not in DOMAINS:
                where = "stage line_dedup.skip_domains"
                raise UsageError("an unknown domain", where, domain, f"there are {', '.join(DOMAINS)}")

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns, and what is read of media."""
        return tuple(dict.fromkeys((*ranks.columns_of(self.keep), "domain", "text", MEDIA_HASHES)))

    @property
    def order_bytes(self) -> int:
        """Width of a rank."""
        return ranks.rank_width(self.keep)

    def reasons(self) -> tuple[Reason, ...]:
        """That of the unit, and `emptied`."""
        return (_REASONS[self.unit], EMPTIED)

    def emit(self, batch: pa.RecordBatch, addr: Addresses) -> pa.RecordBatch:
        """One row for each unit. Raises GristmillError on an id that is not 32 hex digits, or a null."""
        from gristmill.stages.kernels.buffers import text_buffers
        from gristmill.stages.kernels.line_units import Texts, text_units
        from gristmill.stages.kernels.normal_form import form_digests

        data, offsets = text_buffers(batch.column("text"))
        media = pc.fill_null(pc.list_value_length(batch.column("media")), 0).to_numpy(zero_copy_only=False)
        texts = Texts(data, offsets, _flags(~self._skipped(batch)), _flags(media > 0))
        row, start, stop = text_units(texts, self._rules()).T
        first = offsets[row]
        key = form_digests(data, first + start, first + stop, self._kinds(batch)[row])
        rank = ranks.rank_bytes(batch, self.keep, self.name)
        value = np.column_stack([start, stop]).astype(">u4").view(np.uint8)
        columns = [*(column_of(raw) for raw in (key, rank[row])), pa.array(addr[row]), column_of(value)]
        schema = emitted_schema(self.key_bytes, self.order_bytes, self.value_bytes)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The cuts. Of a key that spans batches 40 bytes are held for each occurrence until its end."""
        waiting: list[Copies] = []
        for batch in batches:
            if batch.num_rows == 0:
                continue
            rows = Copies.of(batch)
            bounds = rows.new_keys(waiting[-1] if waiting else None)
            if len(bounds):
                yield from self._cuts(Copies.joined([*waiting, rows.part(0, bounds[0])]))
                yield from self._cuts(rows.part(bounds[0], bounds[-1]))
                waiting, rows = [], rows.part(bounds[-1], len(rows.addr))
            waiting.append(rows)
        if waiting:
            yield from self._cuts(Copies.joined(waiting))

    def _cuts(self, rows: Copies) -> Iterator[pa.RecordBatch]:
        return copy_verdicts(rows, self.min_count, self.keep_one)

    def _rules(self) -> "UnitRules":
        from gristmill.stages.kernels.line_units import UnitRules

        return UnitRules(_UNITS.index(self.unit), self.min_chars, self.min_words, self.keep_blocks, self.span)

    def _skipped(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        return ranks.is_of_domain(batch.column("domain"), self.skip_domains)

    def _kinds(self, batch: pa.RecordBatch) -> Bytes:
        from gristmill.stages.kernels.normal_form import EXACT, PROSE

        if self.normalise == "auto":
            return np.where(ranks.is_exact_domain(batch.column("domain")), EXACT, PROSE).astype(np.uint8)
        return np.full(batch.num_rows, EXACT if self.normalise == "exact" else PROSE, np.uint8)


def _flags(true: npt.NDArray[np.bool_]) -> Bytes:
    flags = true.astype(np.uint8)
    flags.flags.writeable = False
    return flags
