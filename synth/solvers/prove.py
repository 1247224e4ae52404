"""Every proof of a row of tasks, from its columns alone; nothing that made it is imported or believed.

`prove` gives one `Proof` a task and raises `Unproved` on the first that fails, with the reason. What is proved:

* readable: valid ids spell a text, encoding it again gives the ids, padding is at most MAX_PAD;
* media: places are as many as each medium costs, named by one segment, without a target; bytes that came have their
  sha256;
* spans: query, answer, evidence and distractors are segments of kind query, answer and record (a picture and the
  words beside it are one record), all evidence stands in front of the query, the answer right behind it, and all of
  them are in one attention group;
* solved: the reference solver finds the stored answer from the text of all records, by the stored evidence and no
  other record;
* necessary: without any one evidence record it finds none;
* hidden: no name of a record or a query stands anywhere but in planted pieces, in any spelling; each name that a task
  goes by stands in no record outside of its bank;
* spread: a row of SPREAD_CONTEXT tokens and SPREAD_TASKS tasks asks for the whole window (`check_spread`);
* scattered: cover numbers, extent and epsilon at the windows of `windows.WINDOW_PARTS` are computed anew, and epsilon
  at a sixteenth is at most MAX_EPSILON, but for families that claim no more than distance (`Law.distance_only`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from gristmill.manifests.tokenizer import Tokenizer
from gristmill.synth.solvers.asking import Asked, Found, Law, Seen, Unproved
from gristmill.synth.solvers.laws import LAWS
from gristmill.synth.solvers.leaks import NameScan
from gristmill.synth.solvers.passages import TEXT_KINDS
from gristmill.synth.solvers.reading import PLANTED, Reading, Unreadable, bytes_fault, check_joins
from gristmill.synth.solvers.records import RecordPiece, read_records, record_pieces
from gristmill.synth.solvers.spans import Span, cover_number, extent, touched
from gristmill.synth.solvers.windows import WINDOW_PARTS
from gristmill.synth.solvers.words import Contradiction, names_in

VERIFIER_VERSION = "1"
MAX_PAD = 256
MAX_EPSILON = 0.02
"""Most that a window of a sixteenth of the sequence may tell (reference 2.3)."""

NEAR_PARTS = 32
"""Tasks with one record stand farther from it than the row divided by this."""
SPREAD_CONTEXT, SPREAD_TASKS = 1 << 20, 200
WIDE_FRAC, WIDE_SPAN = 0.5, 0.75
TOUCHED_PARTS = 64


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


def prove(reading: Reading, tokenizer: Tokenizer) -> list[Proof]:
    """A proof for each task. Raises Unproved."""
    try:
        if reading.context - reading.n_tokens > MAX_PAD:
            raise Unproved("padding", f"{reading.context - reading.n_tokens} tokens")
        _check_media(reading)
        check_joins(reading, tokenizer)
        pieces = record_pieces(reading)
        _check_leaks(reading, [*(piece.text for piece in pieces), *_queries(reading)])
        seen = Seen(reading, read_records(reading, pieces))
        where = _pieces(reading, pieces)
        proofs = [_guarded(seen, tokenizer, where, index) for index in range(len(reading.tasks))]
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
    wide = sum(bool(p.window_eps) and p.span_frac >= WIDE_SPAN and p.window_eps[quarter] <= MAX_EPSILON for p in proofs)
    if wide < WIDE_FRAC * len(proofs):
        raise Unproved("spread", f"{wide} of {len(proofs)} tasks ask for {WIDE_SPAN} of the window")
    evidence = [(e["start"], e["end"]) for task in reading.tasks for e in task["evidence"]]
    parts = touched(evidence, reading.context, TOUCHED_PARTS)
    if len(parts) < TOUCHED_PARTS:
        raise Unproved("spread", f"evidence touches {len(parts)} of {TOUCHED_PARTS} parts of the window")


def _guarded(seen: Seen, tokenizer: Tokenizer, where: "_Where", index: int) -> Proof:
    try:
        return _prove_task(seen, tokenizer, where, index)
    except Contradiction as error:
        raise Unproved("unsolved", str(error), index) from None


def _queries(reading: Reading) -> list[str]:
    spans = zip(reading.spans, reading.kinds, strict=True)
    return [reading.piece(start, end) for (start, end), found in spans if found == "query"]


def _check_leaks(reading: Reading, texts: Sequence[str]) -> None:
    """Every name of these, in any spelling, stands in planted pieces alone."""
    names = {name.lower() for text in texts for name in names_in(text)}
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


def _prove_task(seen: Seen, tokenizer: Tokenizer, where: "_Where", index: int) -> Proof:
    reading, task = seen.reading, seen.reading.tasks[index]
    _check_values(task, index)
    evidence, others = _check_spans(where, task, index)
    query = reading.piece(task["query_start"], task["query_end"])
    answer = reading.piece(task["answer_start"], task["answer_end"]).strip()
    if answer != task["answer"]:
        raise Unproved("unsolved", f"the answer reads {answer!r}", index)
    if task["family"] not in LAWS:
        raise Unproved("unknown_family", task["family"], index)
    asked = Asked(index, task["family"], query, answer, tuple(evidence), tuple(others))
    law = LAWS[task["family"]]
    if task["klass"] != law.klass:
        raise Unproved("claims", f"class {task['klass']} of a family of class {law.klass}", index)
    found = law.prove(seen, asked)
    _check_window(law, found, task, reading.context, index)
    if ("offset", found.candidates) not in seen.records.memo:
        seen.records.memo["offset", found.candidates] = discriminating_offset(found.candidates, tokenizer)
    return Proof(
        span_frac=extent(evidence) / reading.context,
        min_gap=task["query_start"] - max(end for _, end in evidence),
        cover_64th=cover_number(evidence, reading.context // 64),
        cover_16th=cover_number(evidence, reading.context // 16),
        cover_4th=cover_number(evidence, reading.context // 4),
        window_eps=found.epsilons,
        answer_space=found.answers,
        chance=1 / found.answers,
        disc_offset=seen.records.memo["offset", found.candidates],
    )


def _check_window(law: Law, found: Found, task: Mapping[str, Any], context: int, index: int) -> None:
    """What a sixteenth of the row tells; of a task with one record only, whether it stands farther away than that."""
    sixteenth = WINDOW_PARTS.index(16)
    if law.distance_only:
        gap = task["query_start"] - max(e["end"] for e in task["evidence"])
        if gap < context // NEAR_PARTS:
            raise Unproved("spread", f"{gap} tokens between a record and the question that needs it alone", index)
    elif law.klass != "C" and found.epsilons[sixteenth] > MAX_EPSILON:
        raise Unproved("epsilon", f"{found.epsilons} at windows of 1/{WINDOW_PARTS}", index)


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


class _Piece(NamedTuple):
    """A planted piece: `segment` is its first one, `medium` the number of its picture."""

    kind: str
    group: int
    segment: int
    medium: int | None


_Where = Mapping[Span, _Piece]


def _pieces(reading: Reading, records: Sequence[RecordPiece]) -> _Where:
    both = zip(reading.spans, reading.kinds, reading.groups, strict=True)
    found = {span: _Piece(kind, group, number, None) for number, (span, kind, group) in enumerate(both)}
    for piece in records:
        group = reading.groups[piece.segment]
        found[piece.span] = _Piece("record", group, piece.segment, piece.medium)
    return found


def _check_spans(where: _Where, task: Mapping[str, Any], index: int) -> tuple[list[Span], list[Span]]:
    """Evidence and distractors as spans."""
    query, answer = (task["query_start"], task["query_end"]), (task["answer_start"], task["answer_end"])
    evidence = [(e["start"], e["end"]) for e in task["evidence"]]
    others = [(d["start"], d["end"]) for d in task["distractors"]]
    if len(set(evidence) | set(others)) < len(evidence) + len(others):
        raise Unproved("spans", "a record stands twice among evidence and distractors", index)
    told = ("record", *TEXT_KINDS) if task["klass"] == "C" else ("record",)
    wanted = [(query, ("query",)), (answer, ("answer",)), *((span, told) for span in (*evidence, *others))]
    for span, kind in wanted:
        if span not in where or where[span].kind not in kind:
            raise Unproved("spans", f"{span} is no {kind[0]}", index)
    if not evidence or max(end for _, end in evidence) > query[0] or answer[0] != query[1]:
        raise Unproved("spans", "evidence, query and answer are not in this order", index)
    told = [(e["segment"], e["media_idx"]) for e in task["evidence"]]
    if told != [(where[span].segment, where[span].medium) for span in evidence]:
        raise Unproved("spans", "evidence names another segment or picture", index)
    if len({where[span].group for span in (query, answer, *evidence)}) != 1:
        raise Unproved("groups", "evidence, query and answer are in different attention groups", index)
    return evidence, others
