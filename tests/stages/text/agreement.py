"""Agreement with datatrove 0.10.1: its four filters and ours over the same documents, decision and first reason.

`theirs` runs datatrove in this process, each filter on each document; `ours` runs our stages in one profile of words.
`chain` is the order of a FineWeb-like run (repetition, quality, C4, FineWeb), where a document goes at the first filter
that drops it and C4's text is what FineWeb sees. `disagreements` lists what differs, each with its cause: the fault of
the register that is mended (M23 to M27), a deliberate deviation that the stage's docstring states, the other tokenizer,
or `unknown`. `python -m tests.stages.text.agreement N` prints all of it for N documents.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import RowStage
from gristmill.stages.text.c4 import C4
from gristmill.stages.text.compat.profile import Words
from gristmill.stages.text.fineweb import FineWeb
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.gopher_repetition import GopherRepetition

FILTERS = ("gopher_repetition", "gopher_quality", "c4", "fineweb")
CHAIN = "chain"
KEPT = ""
_ROWS_AT_ONCE = 500

Verdicts = dict[str, list[str]]
"""By filter, and by CHAIN: the reason of each document, KEPT where it stays."""


@dataclass(frozen=True)
class Disagreement:
    """One document on which a filter decides otherwise, or gives another reason."""

    filter: str
    number: int
    theirs: str
    ours: str
    cause: str


def their_filters() -> dict[str, Any]:
    """datatrove's filters with their defaults."""
    from datatrove.pipeline.filters.c4_filters import C4QualityFilter
    from datatrove.pipeline.filters.fineweb_quality_filter import FineWebQualityFilter
    from datatrove.pipeline.filters.gopher_quality_filter import GopherQualityFilter
    from datatrove.pipeline.filters.gopher_repetition_filter import GopherRepetitionFilter

    made = (GopherRepetitionFilter(), GopherQualityFilter(), C4QualityFilter(), FineWebQualityFilter())
    return dict(zip(FILTERS, made, strict=True))


def our_stages(words: Words) -> dict[str, RowStage]:
    """Our stages as datatrove has its filters: Gopher's upper limit on words is on, and English is all there is."""
    made: tuple[Any, ...] = (
        GopherRepetition(words=words),
        GopherQuality(words=words, max_doc_words=100_000),
        C4(words=words),
        FineWeb(words=words),
    )
    return dict(zip(FILTERS, made, strict=True))


def _their_reason(made: Any, text: str) -> tuple[str, str]:
    """Reason, and the text behind the filter."""
    from datatrove.data import Document

    document = Document(text=text, id="")
    result = made.filter(document)
    kept, reason = result if isinstance(result, tuple) else (result, "")
    return (KEPT if kept else str(reason)), document.text


def theirs(texts: Sequence[str]) -> tuple[Verdicts, list[str]]:
    """datatrove's verdicts, and each text behind its C4 filter alone ("" where that drops it)."""
    filters = their_filters()
    verdicts: Verdicts = {name: [] for name in (*FILTERS, CHAIN)}
    cleaned: list[str] = []
    for text in texts:
        for name, made in filters.items():
            reason, after = _their_reason(made, text)
            verdicts[name].append(reason)
            if name == "c4":
                cleaned.append(after if reason == KEPT else "")
        verdicts[CHAIN].append(_their_chain(filters, text, {name: verdicts[name][-1] for name in FILTERS}, cleaned[-1]))
    return verdicts, cleaned


def _their_chain(filters: Mapping[str, Any], text: str, alone: Mapping[str, str], cleaned: str) -> str:
    """The first reason of the chain, where only FineWeb sees another text than by itself."""
    for name in FILTERS[:3]:
        if alone[name] != KEPT:
            return f"{name}: {alone[name]}"
    last = alone["fineweb"] if cleaned == text else _their_reason(filters["fineweb"], cleaned)[0]
    return f"fineweb: {last}" if last != KEPT else KEPT


def ours(texts: Sequence[str], words: Words) -> tuple[Verdicts, list[str]]:
    """Our verdicts and texts behind C4, in the same form."""
    stages = our_stages(words)
    verdicts: Verdicts = {name: [] for name in (*FILTERS, CHAIN)}
    cleaned: list[str] = []
    for at in range(0, len(texts), _ROWS_AT_ONCE):
        some = texts[at : at + _ROWS_AT_ONCE]
        batch = document_batch({"text": pa.array(some, pa.large_string()), "lang": pa.array(["en"] * len(some))})
        for name, stage in stages.items():
            result = run_chain([stage], batch)
            gone = {fate.row: fate.reason for fate in result.fates}
            verdicts[name] += [gone.get(row, KEPT) for row in range(len(some))]
            if name == "c4":
                left = dict(zip(result.kept_rows.tolist(), result.kept.column("text").to_pylist(), strict=True))
                cleaned += [left.get(row, "") for row in range(len(some))]
        result = run_chain(list(stages.values()), batch)
        gone = {fate.row: f"{FILTERS[fate.step_index]}: {fate.reason}" for fate in result.fates}
        verdicts[CHAIN] += [gone.get(row, KEPT) for row in range(len(some))]
    return verdicts, cleaned


def share(of_theirs: Sequence[str], of_ours: Sequence[str]) -> float:
    """Of documents with the same decision and the same first reason."""
    same = sum(one == other for one, other in zip(of_theirs, of_ours, strict=True))
    return same / max(len(of_theirs), 1)


def disagreements(
    texts: Sequence[str], of_theirs: Verdicts, of_ours: Verdicts, cause: Callable[[str, str, str, str], str]
) -> Iterator[Disagreement]:
    """All of them; `cause(filter, text, theirs, ours)` names each one's."""
    for name in of_theirs:
        for number, (one, other) in enumerate(zip(of_theirs[name], of_ours[name], strict=True)):
            if one != other:
                yield Disagreement(name, number, one, other, cause(name, texts[number], one, other))
