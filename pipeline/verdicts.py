"""Verdicts of a corpus-wide stage, carried out on one shard: records go, passages are cut, clusters are marked.

In: rows of `stages.protocol.VERDICTS` that concern the shard, with addresses counted from its row 0, and the batches
of the shard in order. Out: the rows that stay, their texts without what was cut (and `content_hash` anew),
`dup_cluster` and `dup_count` of the marked ones; every record that goes and every passage cut is in the account with
its keeper.
Cuts are byte ranges of the text as the step saw it; where they overlap, the first takes what both cover. A
character that stands for a medium is never cut.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.schema import MEDIUM_CHAR, content_hashes
from gristmill.pipeline.account import Rows
from gristmill.pipeline.row_pass import RowPass
from gristmill.stages import catalogue
from gristmill.stages.chain import Fate, StepTrace, count_chars
from gristmill.stages.columns import with_column
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.protocol import CUT, DROP, EMPTIED, MARK

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_MEDIUM = MEDIUM_CHAR.encode()
_BLANK = r"^[\s\p{Z}\x{0B}\x{1C}-\x{1F}\x{85}]*$"
"""White space of Unicode alone, as `str.isspace` has it."""


def read_verdicts(ranges: Sequence[Sequence[Any]], base: int) -> pa.Table:
    """Rows that reduced files hold for one shard (`[path, first, stop]`), `addr` counted from its row 0, sorted."""
    tables: list[pa.Table] = []
    for path, first, stop in ranges:
        with pa.memory_map(str(path)) as source:
            tables.append(pa.ipc.open_file(source).read_all().slice(first, stop - first).combine_chunks())
    table = pa.concat_tables(tables)
    local = pa.array(table.column("addr").to_numpy() - np.uint64(base))
    table = table.set_column(0, "addr", local)
    order = [(name, "ascending") for name in ("addr", "kind", "start") if name in table.column_names]
    return table.sort_by(order).combine_chunks()


@dataclass(frozen=True)
class _Chosen:
    """The verdicts of one kind, as arrays of n; `keeper` (n, 16) bytes."""

    row: Ints
    reason: Ints
    keeper: npt.NDArray[np.uint8]
    value: npt.NDArray[np.float64]
    limit: npt.NDArray[np.float64]
    start: Ints
    stop: Ints
    note: npt.NDArray[np.uint64]

    @staticmethod
    def of(table: pa.Table | None, kind: int) -> "_Chosen":
        if table is None:
            none, floats = np.zeros(0, np.int64), np.zeros(0, np.float64)
            keeper = np.zeros((0, 16), np.uint8)
            return _Chosen(none, none, keeper, floats, floats, none, none, np.zeros(0, np.uint64))
        mine = table.filter(pc.equal(table.column("kind"), kind)).combine_chunks()
        ints = {n: mine.column(n).to_numpy().astype(np.int64) for n in ("addr", "reason", "start", "stop")}
        raw = b"".join(mine.column("keeper").to_pylist())
        keeper = np.frombuffer(raw, np.uint8).reshape(-1, 16)
        value, limit, note = (mine.column(n).to_numpy() for n in ("value", "limit", "note"))
        return _Chosen(ints["addr"], ints["reason"], keeper, value, limit, ints["start"], ints["stop"], note)

    def within(self, first: int, rows: int) -> slice:
        """The verdicts of the rows [first, first + rows)."""
        low, high = np.searchsorted(self.row, [first, first + rows])
        return slice(int(low), int(high))


@dataclass(frozen=True)
class Cuts:
    """Passages taken out of the texts of a batch, disjoint, in order: `row` of each, its bytes [start, stop) there,
    `which` (index of the verdict), and the passages as `text`."""

    row: Ints
    start: Ints
    stop: Ints
    which: Ints
    text: pa.LargeStringArray

    @property
    def chars(self) -> Ints:
        """Characters of each."""
        return pc.utf8_length(self.text).to_numpy(zero_copy_only=False).astype(np.int64)


class Verdicts:
    """Carries out the verdicts of one step on the batches of a shard; see the module."""

    def __init__(self, exchange: Mapping[str, Any], base_dir: str) -> None:
        self._step: str = exchange["step"]
        self._measure: str = exchange["measure"]
        stage: Any = catalogue.load(exchange["stage"], exchange["params"], Path(base_dir))
        self._reasons: list[str] = [r.reason for r in stage.reasons()]
        self._explain: Any = getattr(stage, "explain", None)
        table = read_verdicts(exchange["drops"], exchange["base"]) if exchange["drops"] else None
        self._drops, self._cuts, self._marks = (_Chosen.of(table, kind) for kind in (DROP, CUT, MARK))

    def finish(self, rows: int) -> None:
        """Raises VerifyError when a verdict concerns a row that the shard does not have."""
        last = max((int(c.row[-1]) for c in (self._drops, self._cuts, self._marks) if len(c.row)), default=-1)
        if last >= rows:
            raise VerifyError(
                "a verdict for a record that is not there", self._step, f"row {last} of {rows}", "run again"
            )

    def apply(
        self, batch: pa.RecordBatch, first: int, row_pass: RowPass, rows: Rows, chars: Ints
    ) -> tuple[pa.RecordBatch, Ints, Ints]:
        """Account for what goes. The rows that stay, as they are now, their indices in the batch, and their characters;
        `chars` are those before."""
        fates, keepers = self._dropped(first, batch.num_rows)
        kept = np.ones(batch.num_rows, dtype=np.bool_)
        kept[[f.row for f in fates]] = False
        after, cut_chars = batch, dict[str, Ints]()
        verdicts = self._cuts.within(first, batch.num_rows)
        if verdicts.stop > verdicts.start:
            after, cuts = self._cut(batch, first, verdicts, kept)
            cut_chars = self._cut_chars(cuts, verdicts, batch.num_rows)
            emptied = _emptied(batch, after, cuts, kept)
            fates += [Fate(row, 0, "drop", EMPTIED.reason, "", *_NO_VALUE, "") for row in emptied]
            keepers += self._keepers_of(emptied, cuts, verdicts)
            kept[emptied] = False
            self._account_cuts(batch, cuts, verdicts, row_pass, rows)
        everything = np.arange(batch.num_rows, dtype=np.int64)
        after_chars = chars if after is batch else count_chars(after)
        trace = StepTrace(everything, kept, chars, after_chars, cut_chars, {}, batch)
        row_pass.account.step(self._step, trace, fates, keepers, rows)
        after = self._marked(after, first)
        stay = np.flatnonzero(kept).astype(np.int64)
        return (after if len(stay) == batch.num_rows else after.take(pa.array(stay))), stay, after_chars[stay]

    def _dropped(self, first: int, rows: int) -> tuple[list[Fate], list[str | None]]:
        drops = self._drops
        chosen = drops.within(first, rows)
        columns = (drops.row, drops.reason, drops.note, drops.value, drops.limit)
        fates = [
            Fate(row - first, 0, "drop", self._reasons[reason], self._measure, value, limit, self._detail(note))
            for row, reason, note, value, limit in zip(*(c[chosen].tolist() for c in columns), strict=True)
        ]
        return fates, _ids_of(drops.keeper[chosen])

    def _detail(self, note: int) -> str:
        return self._explain(note) if self._explain else ""

    def _keepers_of(self, rows: list[int], cuts: Cuts, verdicts: slice) -> list[str | None]:
        """Of each row the record that keeps the longest passage that was cut from it."""
        keeper = self._cuts.keeper[verdicts][cuts.which]
        known = np.where(keeper.any(axis=1), cuts.stop - cuts.start, 0)
        of_row = (np.flatnonzero(cuts.row == row) for row in rows)
        longest = [int(mine[np.argmax(known[mine])]) for mine in of_row]
        return _ids_of(keeper[longest])

    def _cut(self, batch: pa.RecordBatch, first: int, verdicts: slice, kept: Bools) -> tuple[pa.RecordBatch, Cuts]:
        text = batch.column("text")
        data, offsets = text_buffers(text)
        row = self._cuts.row[verdicts] - first
        start, stop = self._cuts.start[verdicts], self._cuts.stop[verdicts]
        self._check(row, start, stop, offsets, data)
        low, high, which = _disjoint(offsets[row] + start, offsets[row] + stop)
        low, high, which = _around_media(batch, data, row, (low, high, which))
        row = row[which]
        stays = kept[row]
        low, high, which, row = low[stays], high[stays], which[stays], row[stays]
        after = with_column(batch, "text", _without(text, data, offsets, (low, high, row)))
        after = with_column(after, "content_hash", content_hashes(after.column("text"), after.column("media")))
        parts = [data[a:b].data for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        return after, Cuts(row, low - offsets[row], high - offsets[row], which, _strings(parts, high - low))

    def _check(self, row: Ints, start: Ints, stop: Ints, offsets: Ints, data: npt.NDArray[np.uint8]) -> None:
        lengths = np.diff(offsets)[row]
        if (start < 0).any() or (stop < start).any() or (stop > lengths).any():
            raise VerifyError("a cut that is not inside its text", self._step, None, "report it: a fault of the stage")
        inside = np.zeros(len(row), dtype=np.bool_)
        for edge in (start, stop):
            at = np.flatnonzero(edge < lengths)
            inside[at] |= data[offsets[row[at]] + edge[at]] & 0xC0 == 0x80
        if inside.any():
            raise VerifyError("a cut inside a character", self._step, None, "report it: a fault of the stage")

    def _cut_chars(self, cuts: Cuts, verdicts: slice, rows: int) -> dict[str, Ints]:
        by_reason: dict[str, Ints] = {}
        reason, chars = self._cuts.reason[verdicts][cuts.which], cuts.chars
        for index in np.unique(reason).tolist():
            mine = reason == index
            total = np.bincount(cuts.row[mine], weights=chars[mine], minlength=rows)
            by_reason[self._reasons[index]] = total.astype(np.int64)
        return by_reason

    def _account_cuts(self, batch: pa.RecordBatch, cuts: Cuts, verdicts: slice, row_pass: RowPass, rows: Rows) -> None:
        columns = {
            "row": cuts.row,
            "start": cuts.start,
            "stop": cuts.stop,
            "reason": [self._reasons[r] for r in self._cuts.reason[verdicts][cuts.which].tolist()],
            "keeper": _ids_of(self._cuts.keeper[verdicts][cuts.which]),
            "value": self._cuts.value[verdicts][cuts.which],
            "text": cuts.text,
        }
        row_pass.account.cuts(self._step, batch, columns, rows)

    def _marked(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        chosen = self._marks.within(first, batch.num_rows)
        if chosen.stop == chosen.start:
            return batch
        marked = np.zeros(batch.num_rows, np.bool_)
        marked[self._marks.row[chosen] - first] = True
        mask = pa.array(marked)
        cluster = batch.schema.field("dup_cluster").type
        raw = pa.py_buffer(np.ascontiguousarray(self._marks.keeper[chosen]))
        clusters = pa.FixedSizeBinaryArray.from_buffers(cluster, chosen.stop - chosen.start, [None, raw])
        counts = pa.array(self._marks.value[chosen].astype(np.int64))
        for name, anew in (("dup_cluster", clusters), ("dup_count", counts)):
            batch = with_column(batch, name, pc.replace_with_mask(batch.column(name), mask, anew))
        return batch


def _ids_of(keepers: npt.NDArray[np.uint8]) -> list[str | None]:
    """The ids of n times 16 bytes; zeros are nobody's."""
    digits, width = keepers.tobytes().hex(), 2 * keepers.shape[1]
    known: list[bool] = (keepers != 0).any(axis=1).tolist()
    return [digits[width * i : width * (i + 1)] if some else None for i, some in enumerate(known)]


_NO_VALUE = (float("nan"), float("nan"))


def _disjoint(low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
    """Absolute ranges made disjoint: what an earlier one covers is taken from the later; `which` is left of each."""
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    covered = np.zeros(len(low), np.int64)
    covered[1:] = np.maximum.accumulate(high)[:-1]
    low = np.maximum(low, covered)
    some = high > low
    return low[some], high[some], order[some]


def _around_media(
    batch: pa.RecordBatch, data: npt.NDArray[np.uint8], row: Ints, ranges: tuple[Ints, Ints, Ints]
) -> tuple[Ints, Ints, Ints]:
    """The ranges without the characters that stand for media."""
    media = batch.column("media")
    if media.null_count == len(media):
        return ranges
    out: list[tuple[int, int, int]] = []
    for low, high, which in zip(*(r.tolist() for r in ranges), strict=True):
        at = low
        while media[int(row[which])].is_valid:
            found = data[at:high].tobytes().find(_MEDIUM)
            if found < 0:
                break
            out += [(at, at + found, which)] if found else []
            at += found + len(_MEDIUM)
        out += [(at, high, which)] if high > at else []
    made = np.array(out, dtype=np.int64).reshape(-1, 3)
    return made[:, 0].copy(), made[:, 1].copy(), made[:, 2].copy()


def _without(
    text: pa.LargeStringArray, data: npt.NDArray[np.uint8], offsets: Ints, cuts: tuple[Ints, Ints, Ints]
) -> pa.LargeStringArray:
    low, high, row = cuts
    bounds = [int(offsets[0]), *np.column_stack([low, high]).ravel().tolist(), int(offsets[-1])]
    kept = [data[bounds[i] : bounds[i + 1]].data for i in range(0, len(bounds), 2)]
    lengths = np.diff(offsets) - np.bincount(row, weights=high - low, minlength=len(text)).astype(np.int64)
    made = _strings(kept, lengths)
    valid = text.is_valid().buffers()[1] if text.null_count else None
    return pa.LargeStringArray.from_buffers(len(text), made.buffers()[1], made.buffers()[2], valid)


def _strings(parts: Sequence[memoryview], lengths: Ints) -> pa.LargeStringArray:
    ends = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=ends[1:])
    return pa.LargeStringArray.from_buffers(len(lengths), pa.py_buffer(ends), pa.py_buffer(b"".join(parts)))


def _emptied(before: pa.RecordBatch, after: pa.RecordBatch, cuts: Cuts, kept: Bools) -> list[int]:
    """Rows from which everything but white space was cut."""
    rows = np.unique(cuts.row)
    rows = rows[kept[rows]]
    blank = [pc.match_substring_regex(b.column("text").take(pa.array(rows)), _BLANK) for b in (before, after)]
    was, now = (pc.fill_null(b, True).to_numpy(zero_copy_only=False) for b in blank)
    return rows[now & ~was].tolist()
