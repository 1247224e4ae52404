"""Banks as a reader sees them, without documents around: a thousand tasks in a second.

One byte is one token. Pieces stand in their order at their places in a row of CONTEXT bytes, line breaks between.
"""

import numpy as np

from gristmill.render.draws import Draws
from gristmill.synth.plan import BankPlan
from gristmill.synth.plant import Asked, Planted, plant
from gristmill.synth.protocol import Family, Size
from gristmill.synth.solvers.reading import Reading, Span

CONTEXT = 1 << 19


def planted(family: Family, size: Size, key: int = 0, banks: int = 1) -> Planted:
    """Banks of one family, as many of their questions asked as the size says."""
    plans = [BankPlan(family.name, size, size.asked)] * banks
    return plant(plans, [b""], "train", Draws("test planted", family.name, key))


def reading(planted: Planted, context: int = CONTEXT) -> Reading:
    """The row that holds these pieces; its tasks have what `solvers` look at."""
    room = context - sum(len(piece.text.encode()) for piece in planted.pieces)
    order = sorted(range(len(planted.pieces)), key=lambda i: (planted.pieces[i].at, i))
    text, spans, kinds, where = bytearray(), list[Span](), list[str](), dict[int, tuple[Span, int]]()
    used = 0
    for index in order:
        piece = planted.pieces[index]
        fill = max(0, int(piece.at * room) - used)
        if fill:
            spans.append((len(text), len(text) + fill))
            kinds.append("text")
            text += b"\n" * fill
        used += fill
        body = piece.text.encode()
        where[index] = ((len(text), len(text) + len(body)), len(spans))
        spans.append(where[index][0])
        kinds.append(piece.kind)
        text += body
    size = len(text)
    tasks = tuple(_task(asked, where) for asked in planted.tasks)
    ids, bytes_at = np.zeros(size, np.uint32), np.arange(size + 1, dtype=np.int64)
    return Reading(context, size, ids, bytes(text), bytes_at, tuple(spans), tuple(kinds), (0,) * len(spans), tasks)


def _task(asked: Asked, where: dict[int, tuple[Span, int]]) -> dict[str, object]:
    (query, _), (answer, _) = where[asked.query], where[asked.answer]
    facts = [where[i] for i in asked.facts]
    others = [where[i][0] for i, _ in asked.others]
    return {
        "family": asked.family.name,
        "klass": asked.family.klass,
        "query_start": query[0],
        "query_end": query[1],
        "answer_start": answer[0],
        "answer_end": answer[1],
        "answer": asked.answer_text,
        "evidence": [{"start": s, "end": e, "segment": at} for (s, e), at in facts],
        "distractors": [{"start": s, "end": e} for s, e in others],
    }
