"""Banks as a reader finds them, without documents and tokenizer: each byte of the text is a token."""

from typing import Any

import numpy as np

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.render.draws import Draws
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.plan import BankPlan
from gristmill.synth.plant import Asked, Manner, Piece, Planted, plant
from gristmill.synth.protocol import Size
from gristmill.synth.solvers import asking
from gristmill.synth.solvers.laws import LAWS
from gristmill.synth.solvers.reading import Reading
from gristmill.synth.solvers.records import read_records, record_pieces

CONTEXT = 1 << 19

Task = dict[str, Any]


def planted(family: str, size: Size, key: int, asked: int = 0) -> Planted:
    """One bank, `asked` questions of it (0: as many as the size allows)."""
    plan = BankPlan(family, size, asked or size.asked)
    return plant([plan], [], Manner("train"), Draws("test bank", family, size.chains, key))


def reading_of(bank: Planted, context: int = CONTEXT) -> Reading:
    """The pieces at their places in a text of nothing but spaces, of which a picture takes one; and the tasks."""
    text, spans, kinds, done = bytearray(), list[tuple[int, int]](), list[str](), 0
    room = context - sum(len(piece.text.encode()) for piece in bank.pieces)
    media, media_idx = list[Task](), list[int | None]()
    where: dict[int, tuple[int, int]] = {}
    for index in sorted(range(len(bank.pieces)), key=lambda i: (bank.pieces[i].at, i)):
        piece = bank.pieces[index]
        text += b" " * (int(piece.at * room) + done - len(text))
        first = len(text)
        for number, part in enumerate(piece.text.split(MEDIUM_CHAR) if piece.media else [piece.text]):
            for added, kind in ((" " * bool(number), "image"), (part, piece.kind)):
                if added:
                    spans.append((len(text), len(text) + len(added.encode())))
                    kinds.append(kind)
                    media_idx.append(len(media) if kind == "image" else None)
                    media += (
                        [{"sha256": piece.media[(number - 1) % len(piece.media)].medium.sha256}]
                        if kind == "image"
                        else []
                    )
                    text += added.encode()
        where[index] = (first, len(text))
        done += len(text) - first
    return Reading(
        context=context,
        n_tokens=len(text),
        ids=np.zeros(0, np.uint32),
        text=bytes(text),
        bytes_at=np.arange(len(text) + 1),
        spans=tuple(spans),
        kinds=tuple(kinds),
        groups=(0,),
        tasks=tuple(_task(asked, where) for asked in bank.tasks),
        docs=(0,) * len(spans),
        media_idx=tuple(media_idx),
        media=tuple(media),
        media_bytes={shown.medium.sha256: shown.data for piece in bank.pieces for shown in piece.media},
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
    seen = asking.Seen(reading, read_records(reading, record_pieces(reading)))
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
