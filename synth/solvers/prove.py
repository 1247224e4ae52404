"""Every proof of a row of tasks, from its columns alone; nothing that made it is imported or believed.

`prove` gives one `Proof` a task and raises `Unproved` on the first that fails, with the reason. What is proved:

* readable: valid ids spell a text, encoding it again gives the ids, padding is at most MAX_PAD;
* media: places are as many as each medium costs, named by one segment, without a target; bytes that came have their
  sha256;
* spans: query, answer, evidence and distractors are segments of kind query, answer and record, all evidence stands in
  front of the query, the answer right behind it, and all of them are in one attention group;
* solved: the reference solver finds the stored answer from the text of all records, by the stored evidence and no
  other record;
* necessary: without any one evidence record it finds none;
* hidden: no name of a record stands anywhere but in planted pieces, in any spelling; each name that a task goes by
  stands in no record outside of its bank;
* spread: a row of SPREAD_CONTEXT tokens and SPREAD_TASKS tasks asks for the whole window (`check_spread`);
* scattered: cover numbers, extent and epsilon at the windows of `windows.WINDOW_PARTS` are computed anew, and epsilon
  at a sixteenth is at most MAX_EPSILON.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.tokenizer import Tokenizer
from gristmill.synth.solvers.leaks import NameScan
from gristmill.synth.solvers.reading import PLANTED, Reading, Unreadable, bytes_fault, check_joins
from gristmill.synth.solvers.spans import Span, cover_number, extent, touched
from gristmill.synth.solvers.sums import Contradiction, SumQuery, needed, read_sum_query, solve_sum
from gristmill.synth.solvers.walks import PathQuery, Row, read_path_query, read_row, walk
from gristmill.synth.solvers.windows import WINDOW_PARTS, PathBank, sum_epsilon
from gristmill.synth.solvers.words import names_in

VERIFIER_VERSION = "1"
MAX_PAD = 256
MAX_EPSILON = 0.02
"""Most that a window of a sixteenth of the sequence may tell (reference 2.3)."""

SPREAD_CONTEXT, SPREAD_TASKS = 1 << 20, 200
WIDE_FRAC, WIDE_SPAN = 0.5, 0.75
TOUCHED_PARTS = 64

BY_REVISION: Mapping[str, bool] = {"share_sum": False, "version_track": True}
BY_TABLE: Mapping[str, bool] = {"table_chain": True, "variable_chain": False, "alias_hop": False}

REASONS: Mapping[str, str] = {
    "unreadable": "the ids of a row are no text, or encoding the text again gives others",
    "padding": "more padding than allowed",
    "media": "the places of a picture or a video are not what it costs, or its bytes are others",
    "spans": "a span of a task is no segment of its kind, or stands where it may not",
    "groups": "a query may not attend to its evidence",
    "unknown_family": "there is no solver for a family",
    "unsolved": "the reference solver does not find the stored answer",
    "not_necessary": "the answer is determined without one of the evidence records",
    "leak": "an invented name stands outside of what was planted",
    "epsilon": "a window knows more than it may",
    "spread": "the tasks of a long row do not ask for the whole window",
    "claims": "what the row says of a task is not what is measured",
}
"""Why a row is not proved."""


class Unproved(Exception):
    """A proof that fails: `reason` is one of REASONS, `task` the index of the task, -1 for the row."""

    def __init__(self, reason: str, detail: str, task: int = -1) -> None:
        super().__init__(f"{reason}: {detail}" if task < 0 else f"task {task}: {reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.task = task


@dataclass(frozen=True)
class Proof:
    """What was measured of a task; fields as in `trainer_schema.TASK`."""

    span_frac: float
    min_gap: int
    cover_64th: int
    cover_16th: int
    cover_4th: int
    window_eps: tuple[float, ...]
    answer_space: int
    chance: float
    disc_offset: int


@dataclass(frozen=True)
class _Seen:
    """A row; the text of each record by the token where it begins; where each name stands in records."""

    reading: Reading
    tokenizer: Tokenizer
    records: Mapping[int, str]
    named: Mapping[str, frozenset[int]]
    offsets: dict[tuple[str, ...], int]
    banks: dict[tuple[Span, ...], "_Paths"]


@dataclass(frozen=True)
class _Paths:
    """A bank of paths as read: its rows, the rows of each chain, the candidates, and what windows know of it."""

    rows: tuple[Row, ...]
    chains: tuple[tuple[int, ...], ...]
    ends: tuple[str, ...]
    counted: PathBank


def prove(reading: Reading, tokenizer: Tokenizer) -> list[Proof]:
    """A proof for each task. Raises Unproved."""
    try:
        if reading.context - reading.n_tokens > MAX_PAD:
            raise Unproved("padding", f"{reading.context - reading.n_tokens} tokens")
        _check_media(reading)
        check_joins(reading, tokenizer)
        texts = _planted(reading, "record")
        _check_leaks(reading, texts)
        seen = _Seen(reading, tokenizer, texts, _where_named(texts), {}, {})
        proofs = [_guarded(seen, index) for index in range(len(reading.tasks))]
    except Unreadable as error:
        raise Unproved("unreadable", str(error)) from None
    if reading.context >= SPREAD_CONTEXT and len(proofs) >= SPREAD_TASKS:
        check_spread(reading, proofs)
    return proofs


def _check_media(reading: Reading) -> None:
    if reading.faults:
        raise Unproved("media", "; ".join(reading.faults))
    for number, medium in enumerate(reading.media):
        fault = bytes_fault(reading, medium["sha256"]) if reading.media_bytes.get(medium["sha256"]) else ""
        if fault:
            raise Unproved("media", f"medium {number}: {fault}")


def check_spread(reading: Reading, proofs: Sequence[Proof]) -> None:
    """At least WIDE_FRAC of the tasks have evidence that spans WIDE_SPAN of the window, and an epsilon of at most
    MAX_EPSILON at a quarter of it; the evidence of all touches each of TOUCHED_PARTS parts. Raises Unproved."""
    quarter = WINDOW_PARTS.index(4)
    wide = sum(p.span_frac >= WIDE_SPAN and p.window_eps[quarter] <= MAX_EPSILON for p in proofs)
    if wide < WIDE_FRAC * len(proofs):
        raise Unproved("spread", f"{wide} of {len(proofs)} tasks ask for {WIDE_SPAN} of the window")
    evidence = [(e["start"], e["end"]) for task in reading.tasks for e in task["evidence"]]
    parts = touched(evidence, reading.context, TOUCHED_PARTS)
    if len(parts) < TOUCHED_PARTS:
        raise Unproved("spread", f"evidence touches {len(parts)} of {TOUCHED_PARTS} parts of the window")


def _guarded(seen: _Seen, index: int) -> Proof:
    try:
        return _prove_task(seen, index)
    except Contradiction as error:
        raise Unproved("unsolved", str(error), index) from None


def _where_named(records: Mapping[int, str]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for start, text in records.items():
        for name in names_in(text):
            found.setdefault(name, set()).add(start)
    return {name: frozenset(starts) for name, starts in found.items()}


def _planted(reading: Reading, kind: str) -> dict[int, str]:
    spans = zip(reading.spans, reading.kinds, strict=True)
    return {start: reading.piece(start, end) for (start, end), found in spans if found == kind}


def _check_leaks(reading: Reading, records: Mapping[int, str]) -> None:
    """Every name of a record, in any spelling, stands in planted pieces alone."""
    names = {name.lower() for text in records.values() for name in names_in(text)}
    scan = NameScan(names)
    filler: list[bytes] = []
    planted = np.zeros(len(reading.text) + 1, np.bool_)
    for (start, end), kind in zip(reading.spans, reading.kinds, strict=True):
        first, last = int(reading.bytes_at[start]), int(reading.bytes_at[end])
        if kind in PLANTED:
            planted[first:last] = True
        else:
            filler.append(reading.text[first:last])
    for at, name in scan.hits(reading.text):
        if not planted[at]:
            raise Unproved("leak", f"{name!r} at byte {at}")
    spelled = sorted(scan.found(filler))
    if spelled:
        raise Unproved("leak", f"{spelled[0]!r} with something between its letters")


def _prove_task(seen: _Seen, index: int) -> Proof:
    task = seen.reading.tasks[index]
    _check_values(task, index)
    evidence, others = _check_spans(seen.reading, task, index)
    query = seen.reading.piece(task["query_start"], task["query_end"])
    answer = seen.reading.piece(task["answer_start"], task["answer_end"]).strip()
    if answer != task["answer"]:
        raise Unproved("unsolved", f"the answer reads {answer!r}", index)
    family = task["family"]
    if family in BY_REVISION:
        asked = read_sum_query(query, BY_REVISION[family])
        epsilons = _prove_sum(seen, asked, evidence, answer, index)
        candidates = tuple(map(str, range(asked.modulus)))
    elif family in BY_TABLE:
        bank = _Bank(read_path_query(query, BY_TABLE[family]), BY_TABLE[family], tuple(sorted((*evidence, *others))))
        candidates, epsilons = _prove_path(seen, bank, evidence, answer, index)
    else:
        raise Unproved("unknown_family", family, index)
    if epsilons[WINDOW_PARTS.index(16)] > MAX_EPSILON:
        raise Unproved("epsilon", f"{epsilons} at windows of 1/{WINDOW_PARTS}", index)
    return _measured(seen, evidence, task["query_start"], candidates, epsilons)


def _measured(
    seen: _Seen, evidence: Sequence[Span], query_start: int, candidates: tuple[str, ...], epsilons: tuple[float, ...]
) -> Proof:
    context = seen.reading.context
    if candidates not in seen.offsets:
        seen.offsets[candidates] = discriminating_offset(candidates, seen.tokenizer)
    return Proof(
        span_frac=extent(evidence) / context,
        min_gap=query_start - max(end for _, end in evidence),
        cover_64th=cover_number(evidence, context // 64),
        cover_16th=cover_number(evidence, context // 16),
        cover_4th=cover_number(evidence, context // 4),
        window_eps=epsilons,
        answer_space=len(candidates),
        chance=1 / len(candidates),
        disc_offset=seen.offsets[candidates],
    )


def discriminating_offset(candidates: Sequence[str], tokenizer: Tokenizer) -> int:
    """The first token of an answer at which the candidates differ: what accuracy is to be measured on."""
    encoded = tokenizer.encode_batch(pa.array([text + "\n\n" for text in candidates], pa.large_string()))
    ids = [encoded.ids[a:b].tolist() for a, b in pairwise(encoded.offsets.tolist())]
    return next((at for at, here in enumerate(zip(*ids, strict=False)) if len(set(here)) > 1), 0)


_NEEDED = ("family", "query_start", "query_end", "answer_start", "answer_end", "answer", "evidence", "distractors")


def _check_values(task: Mapping[str, Any], index: int) -> None:
    """Nothing that is needed is null."""
    spans = (*(task["evidence"] or ()), *(task["distractors"] or ()))
    if any(task[name] is None for name in _NEEDED) or any(
        span is None or span["start"] is None or span["end"] is None for span in spans
    ):
        raise Unproved("claims", "null where there must be a value", index)


def _check_spans(reading: Reading, task: Mapping[str, Any], index: int) -> tuple[list[Span], list[Span]]:
    """Evidence and distractors as spans."""
    where = {
        span: (kind, group) for span, kind, group in zip(reading.spans, reading.kinds, reading.groups, strict=True)
    }
    query, answer = (task["query_start"], task["query_end"]), (task["answer_start"], task["answer_end"])
    evidence = [(e["start"], e["end"]) for e in task["evidence"]]
    others = [(d["start"], d["end"]) for d in task["distractors"]]
    if len(set(evidence) | set(others)) < len(evidence) + len(others):
        raise Unproved("spans", "a record stands twice among evidence and distractors", index)
    wanted = [(query, "query"), (answer, "answer"), *((span, "record") for span in (*evidence, *others))]
    for span, kind in wanted:
        if where.get(span, ("none", 0))[0] != kind:
            raise Unproved("spans", f"{span} is no {kind}", index)
    if not evidence or max(end for _, end in evidence) > query[0] or answer[0] != query[1]:
        raise Unproved("spans", "evidence, query and answer are not in this order", index)
    at = {span: number for number, span in enumerate(reading.spans)}
    if any(at[e["start"], e["end"]] != e["segment"] for e in task["evidence"]):
        raise Unproved("spans", "evidence names another segment", index)
    if len({where[span][1] for span in (query, answer, *evidence)}) != 1:
        raise Unproved("groups", "evidence, query and answer are in different attention groups", index)
    return evidence, others


def _prove_sum(seen: _Seen, query: SumQuery, evidence: Sequence[Span], answer: str, index: int) -> tuple[float, ...]:
    """epsilon of each window."""
    own = {start: seen.records[start] for start in sorted(seen.named.get(query.name, frozenset()))}
    starts, texts = list(own), list(own.values())
    used = {starts[i] for i in needed(query, texts)}
    found = solve_sum(query, texts)
    if found != answer or used != {start for start, _ in evidence}:
        raise Unproved("unsolved", f"the solver finds {found!r} by {len(used)} records", index)
    for start in used:
        if solve_sum(query, [text for at, text in own.items() if at != start]) is not None:
            raise Unproved("not_necessary", f"the record at {start}", index)
    windows = (seen.reading.context // parts for parts in WINDOW_PARTS)
    return tuple(sum_epsilon(evidence, 1 / query.modulus, window) for window in windows)


@dataclass(frozen=True)
class _Bank:
    query: PathQuery
    by_table: bool
    spans: tuple[Span, ...]


def _prove_path(
    seen: _Seen, bank: _Bank, evidence: Sequence[Span], answer: str, index: int
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """(candidates, epsilon of each window)."""
    if bank.spans not in seen.banks:
        seen.banks[bank.spans] = _read_bank(seen, bank, index)
    paths = seen.banks[bank.spans]
    found, path = walk(bank.query, paths.rows)
    if found != answer or [bank.spans[i] for i in path] != list(evidence):
        raise Unproved("unsolved", f"the solver finds {found!r} by {len(path)} records", index)
    for row in path:
        if walk(bank.query, paths.rows, without=row)[0] is not None:
            raise Unproved("not_necessary", f"the record at {bank.spans[row][0]}", index)
    own = paths.chains.index(tuple(path))
    earlier = _earlier(seen.reading, bank, index)
    windows = (seen.reading.context // parts for parts in WINDOW_PARTS)
    return paths.ends, tuple(paths.counted.epsilon(own, earlier, window) for window in windows)


def _read_bank(seen: _Seen, bank: _Bank, index: int) -> _Paths:
    """The paths of a bank: disjoint, of one length, with an end each, all of its rows; its names stand nowhere else."""
    rows = tuple(read_row(seen.records[start], bank.by_table) for start, _ in bank.spans)
    own = {start for start, _ in bank.spans}
    if any(not seen.named[name] <= own for row in rows for name in row.names):
        raise Unproved("leak", "a name of the bank stands in records of another", index)
    found = [walk(PathQuery(start, bank.query.tables), rows) for start in _starts(bank, rows)]
    chains = tuple(tuple(path) for end, path in found if end is not None)
    ends = tuple(sorted({end for end, _ in found if end is not None}))
    used = sorted(i for chain in chains for i in chain)
    if len({len(c) for c in chains}) != 1 or used != list(range(len(rows))) or len(ends) < len(chains):
        raise Unproved("claims", "evidence and distractors are not the paths of a bank", index)
    at = np.array([[bank.spans[chain[hop]] for chain in chains] for hop in range(len(chains[0]))], np.int64)
    return _Paths(rows, chains, ends, PathBank(at[..., 0], at[..., 1]))


def _starts(bank: _Bank, rows: Sequence[Row]) -> list[str]:
    """Names that stand once and begin a path: in the first table, where there are tables; elsewhere none ends one."""
    counts = Counter(name for row in rows for name in row.names)
    first = {name for row in rows for name in row.names if not bank.by_table or bank.query.tables[0] in row.names}
    return sorted(name for name in first if counts[name] == 1)


def _earlier(reading: Reading, bank: _Bank, index: int) -> int:
    """How many questions of the bank are answered in front of this one."""
    task, spans = reading.tasks[index], set(bank.spans)
    return sum(
        other["family"] == task["family"]
        and (other["answer_end"] or 0) <= task["query_start"]
        and any((e["start"], e["end"]) in spans for e in other["evidence"] or ())
        for other in reading.tasks
    )
