"""Banks as a reader finds them, without documents and tokenizer: each byte of the text is a token."""

from typing import Any

import numpy as np

from gristmill.render.draws import Draws
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.plan import BankPlan
from gristmill.synth.plant import Asked, Manner, Piece, Planted, plant
from gristmill.synth.protocol import Size
from gristmill.synth.solvers import asking
from gristmill.synth.solvers.laws import LAWS
from gristmill.synth.solvers.prove import records_of
from gristmill.synth.solvers.reading import Reading

CONTEXT = 1 << 19

Task = dict[str, Any]


def planted(family: str, size: Size, key: int, asked: int = 0) -> Planted:
    """One bank, `asked` questions of it (0: as many as the size allows)."""
    plan = BankPlan(family, size, asked or size.asked)
    return plant([plan], [], Manner("train"), Draws("test bank", family, size.chains, key))


def reading_of(bank: Planted, context: int = CONTEXT) -> Reading:
    """The pieces at their places in a text of nothing but spaces, and the tasks."""
    text, spans, kinds, done = bytearray(), list[tuple[int, int]](), list[str](), 0
    room = context - sum(len(piece.text.encode()) for piece in bank.pieces)
    where: dict[int, tuple[int, int]] = {}
    for index in sorted(range(len(bank.pieces)), key=lambda i: (bank.pieces[i].at, i)):
        piece = bank.pieces[index]
        text += b" " * (int(piece.at * room) + done - len(text))
        where[index] = (len(text), len(text) + len(piece.text.encode()))
        text += piece.text.encode()
        done += len(piece.text.encode())
        spans.append(where[index])
        kinds.append(piece.kind)
    tasks = tuple(_task(asked, where) for asked in bank.tasks)
    ids = np.zeros(0, np.uint32)
    return Reading(
        context, len(text), ids, bytes(text), np.arange(len(text) + 1), tuple(spans), tuple(kinds), (0,), tasks
    )


def _task(asked: Asked, where: dict[int, tuple[int, int]]) -> Task:
    def span(index: int) -> Task:
        return {"start": where[index][0], "end": where[index][1]}

    return {
        "family": asked.family.name,
        "query_start": where[asked.query][0],
        "query_end": where[asked.query][1],
        "answer_end": where[asked.answer][1],
        "answer": asked.answer_text,
        "evidence": [span(fact) for fact in asked.facts],
        "distractors": [span(piece) for piece, _ in asked.others],
    }


def prove_all(reading: Reading) -> list[asking.Found]:
    """What the law of each task proves; raises as it does."""
    spans = zip(reading.spans, reading.kinds, strict=True)
    seen = asking.Seen(reading, records_of({s: reading.piece(s, e) for (s, e), kind in spans if kind == "record"}))
    found: list[asking.Found] = []
    for index, task in enumerate(reading.tasks):
        evidence, others = (
            tuple((part["start"], part["end"]) for part in task[name]) for name in ("evidence", "distractors")
        )
        query = reading.piece(task["query_start"], task["query_end"])
        asked = asking.Asked(index, task["family"], query, task["answer"], evidence, others)
        found.append(LAWS[task["family"]].prove(seen, asked))
    return found


def some_size(family: str) -> Size:
    """The smallest."""
    return min(FAMILIES[family].sizes, key=lambda size: size.facts)


def with_piece(bank: Planted, index: int, piece: Piece) -> Planted:
    """The bank with another piece in the place of one."""
    return Planted((*bank.pieces[:index], piece, *bank.pieces[index + 1 :]), bank.tasks)
