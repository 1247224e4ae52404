"""Agreement with datatrove 0.10.1: its four filters and ours over the same documents, decision and first reason.

`theirs` runs datatrove in this process, each filter on each document; `ours` runs our stages in one profile of words.
`chain` is the order of a FineWeb-like run (repetition, quality, C4, FineWeb), where a document goes at the first filter
that drops it and C4's text is what FineWeb sees. `disagreements` lists what differs, each with its cause: the fault of
the register that is mended (M23 to M27), a deliberate deviation that the stage's docstring states, the other tokenizer,
or `unknown`. `python -m tests.stages.text.agreement N [prose] [whole]` prints all of it for N documents, which are
pieces of texts unless `whole`; `prose` leaves sources of programs out.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Filter, RowStage, Rule
from gristmill.stages.text.c4 import C4
from gristmill.stages.text.compat.profile import Words
from gristmill.stages.text.fineweb import FineWeb
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.gopher_repetition import GopherRepetition
from tests.stages.text.agreement_causes import DELIBERATE, MENDED, cause_of, first_difference

FILTERS = ("gopher_repetition", "gopher_quality", "c4", "fineweb")
CHAIN = "chain"
KEPT = ""
PROFILES: tuple[Words, ...] = ("compat", "fast")
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
        batch = batch_of(some)
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


def batch_of(texts: Sequence[str]) -> pa.RecordBatch:
    """Documents in English."""
    return document_batch({"text": pa.array(texts, pa.large_string()), "lang": pa.array(["en"] * len(texts))})


def share(of_theirs: Sequence[str], of_ours: Sequence[str]) -> float:
    """Of documents with the same decision and the same first reason."""
    same = sum(one == other for one, other in zip(of_theirs, of_ours, strict=True))
    return same / max(len(of_theirs), 1)


def disagreements(texts: Sequence[str], of_theirs: Verdicts, of_ours: Verdicts) -> list[Disagreement]:
    """All of them between datatrove and our fast words, each with its cause."""
    found: list[Disagreement] = []
    for name in (*FILTERS, CHAIN):
        numbers = [n for n in range(len(texts)) if of_theirs[name][n] != of_ours[name][n]]
        causes = _causes(name, [texts[n] for n in numbers], [(of_theirs[name][n], of_ours[name][n]) for n in numbers])
        pairs = zip(numbers, causes, strict=True)
        found += [Disagreement(name, n, of_theirs[name][n], of_ours[name][n], cause) for n, cause in pairs]
    return found


def _causes(name: str, texts: Sequence[str], reasons: Sequence[tuple[str, str]]) -> list[str]:
    if name == CHAIN:
        return [_cause_in_chain(text, *pair) for text, pair in zip(texts, reasons, strict=True)]
    stages = our_stages("compat")[name], our_stages("fast")[name]
    if not isinstance(stages[0], Filter) or not isinstance(stages[1], Filter):
        rule = [Rule("", "above", 0.0, one or other) for one, other in reasons]
        return [cause_of(r, text, True) for r, text in zip(rule, texts, strict=True)]
    first = first_difference((stages[0], stages[1]), batch_of(texts))
    causes: list[str] = []
    for text, (theirs_reason, _), difference in zip(texts, reasons, first, strict=True):
        rule = difference[0] if difference else None
        causes.append(cause_of(rule, text, rule is not None and theirs_reason == rule.reason))
    return causes


def _cause_in_chain(text: str, one: str, other: str) -> str:
    """That of the filter that decides first: the other verdict comes from a later one, or from the same."""
    at = {name: order for order, name in enumerate(FILTERS)}
    (name, _, reason), (other_name, _, other_reason) = one.partition(": "), other.partition(": ")
    first = min(name, other_name, key=lambda n: at.get(n, len(FILTERS)))
    alone = (reason if name == first else KEPT, other_reason if other_name == first else KEPT)
    if first != "fineweb":
        return _causes(first, [text], [alone])[0]
    # FineWeb sees the text behind C4, which may be another one.
    behind, ours_behind = (ours([text], words)[1][0] for words in PROFILES)
    if behind != ours_behind:
        return DELIBERATE + "C4 leaves other lines: ends in any script, white space around them"
    return _causes(first, [behind], [alone])[0]


def is_expected(cause: str) -> bool:
    """Mended faults and deliberate deviations, in contrast to other words at a limit, and to what nobody explains."""
    return cause in MENDED or cause.startswith(DELIBERATE)


def report(texts: Sequence[str]) -> str:
    """Agreement of both profiles by filter, and the causes of what the fast words decide otherwise."""
    of_theirs, cleaned = theirs(texts)
    lines = [f"{len(texts)} documents, {sum(len(t.encode()) for t in texts) / 1e6:.1f} MB"]
    for words in PROFILES:
        of_ours, our_cleaned = ours(texts, words)
        for name in (*FILTERS, CHAIN):
            lines.append(f"{words:6} {name:18} {share(of_theirs[name], of_ours[name]):.5f}")
        lines.append(
            f"{words:6} other texts behind c4: {sum(a != b for a, b in zip(cleaned, our_cleaned, strict=True))}"
        )
        found = disagreements(texts, of_theirs, of_ours)
        for name in (*FILTERS, CHAIN):
            left = sum(not is_expected(d.cause) for d in found if d.filter == name)
            lines.append(f"{words:6} {name:18} {1 - left / len(texts):.5f} outside mended and deliberate")
        for (name, cause), count in sorted(Counter((d.filter, d.cause) for d in found).items()):
            lines.append(f"{words:6} {name:18} {count:5} {cause}")
        lines += [f"{words:6} {d.filter} #{d.number}: {d.theirs!r}, ours {d.ours!r}: {d.cause}" for d in found]
    return "\n".join(lines)


if __name__ == "__main__":
    from tests.stages.text.compat.documents import documents

    asked = {"prose": "prose" in sys.argv, "whole": "whole" in sys.argv}
    print(report(documents(int(sys.argv[1]), everywhere=True, **asked)))
