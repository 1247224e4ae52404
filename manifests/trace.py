"""What became of a record, step by step and dataset by dataset.

Reads manifests, ledgers and shards alone. Events come in the recipe's order of datasets and, within one, in
the order of its steps: `keep` for each step that the record passed, before it `cut` for each passage that a
corpus-wide step took out, and where it went `drop` or `quarantine` with reason, measured value, limit and, for a
duplicate, the id of the record that was kept (`keeper`). A record that a step derived from another one has no events
before that step, whose `detail` names its parent. In a dataset of trainer rows the last step also lists the rows in
which the document stands.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import InputError, NoVerdictError
from gristmill.manifests.find import (
    MIN_PREFIX_CHARS,
    Hits,
    Place,
    Query,
    find,
    find_in_earlier_work,
    places,
    queries_of,
)

MAX_CANDIDATES = 20
MAX_CUTS = 20
"""Passages of one record and step that are told apart."""
_MAX_HITS = 1 << 20
"""Rows of one dataset that hold one document: a text of 200 MB fills some 6,000 rows of 8,192 tokens."""


@dataclass(frozen=True)
class Event:
    """One step's verdict. `value` of `measure` against `limit`; `file` and `offset` say where it was read.

    `rows`: for trainer rows, `row_id` and `segments` (`start`, `end`, `doc_offset` in tokens).
    """

    dataset: str
    step: str
    verdict: str
    reason: str | None = None
    value: float | None = None
    limit: float | None = None
    keeper: str | None = None
    measure: str | None = None
    detail: str | None = None
    file: str | None = None
    offset: int | None = None
    url: str | None = None
    chars: int | None = None
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass(frozen=True)
class Trace:
    """The events of one record; `others` are ids of further records that fit a URL or a text."""

    id: str
    events: list[Event]
    url: str | None
    source: str | None
    parents: list[str]
    others: list[str]


class AmbiguousError(NoVerdictError):
    """The beginning of an id fits several records: `candidates`."""

    def __init__(self, prefix: str, candidates: Sequence[str], more: bool) -> None:
        count = f"more than {len(candidates)}" if more else str(len(candidates))
        super().__init__(f"fits {count} records, {', '.join(candidates)}", prefix, None, "give more digits of the id")
        self.candidates = list(candidates)


def trace(out: Path, what: str | None, grep: str | None = None) -> Trace:
    """What became of the record with an id, the beginning of one, a URL or key (`what`), or a text (`grep`).

    Raises AmbiguousError when the beginning of an id fits several records, InputError when nothing fits or
    `out` is no output, VerifyError on damage.
    """
    datasets = places(out)
    queries = [Query("text", grep)] if grep is not None else queries_of(what or "", datasets)
    for query in queries:
        ids = [query.value] if query.kind == "id" else _candidates(out, datasets, query)
        if query.kind == "prefix" and len(ids) > 1:
            raise AmbiguousError(query.value, sorted(ids)[:MAX_CANDIDATES], len(ids) > MAX_CANDIDATES)
        traced = _trace_id(datasets, ids[0], ids[1 : MAX_CANDIDATES + 1]) if ids else None
        if traced is not None:
            return traced
    raise InputError(
        "no such record",
        where=str(out),
        value=grep if grep is not None else what,
        remedy=f"give an id, its first {MIN_PREFIX_CHARS} digits or more, a URL, or --grep with words of the text",
    )


def _candidates(out: Path, datasets: Sequence[Place], query: Query) -> list[str]:
    """Distinct ids that fit, at most one more than is shown."""
    ids: dict[str, None] = {}
    for place in datasets:
        ids.update(dict.fromkeys(find(place, query, MAX_CANDIDATES + 1).ids()))
        if len(ids) > MAX_CANDIDATES:
            return list(ids)
    if not ids and query.kind == "text":
        for place in datasets:
            ids.update(dict.fromkeys(find_in_earlier_work(place, query, MAX_CANDIDATES + 1).ids()))
    return list(ids)


def _trace_id(datasets: Sequence[Place], record: str, others: list[str]) -> Trace | None:
    events: list[Event] = []
    known: dict[str, Any] = {}
    seen: set[str] = set()
    for place in datasets:
        hits = find(place, Query("id", record), _MAX_HITS)
        if hits.kept or hits.gone or hits.rows:
            events.extend(_events(place, hits, _origin(place, record, hits, seen)))
            seen.add(place.name)
        for row in (*hits.kept, *hits.gone, *hits.rows):
            for name in ("url", "source", "parents"):
                known[name] = known.get(name) or row.get(name)
    if not events:
        return None
    return Trace(record, events, known["url"], known["source"], known["parents"] or [], others)


def _origin(place: Place, record: str, hits: Hits, seen: Set[str]) -> tuple[int, str]:
    """The place of the first step that saw a record, and words about where it is from, "" where it came from outside.

    Of a record that was derived here: the step that made it; where several may have, the last of them.
    """
    makers = [at for at, step in enumerate(place.manifest["steps"]) if step.get("derived")]
    if not makers or seen & set(map(str, place.manifest.get("origin", {}).get("datasets", []))):
        return 0, ""
    rows = hits.kept or find_in_earlier_work(place, Query("id", record), 1).kept
    row = next((row for row in rows if row["derivation"]), None)
    steps = [step["step"] for step in place.manifest["steps"]]
    last = min((_at(steps, entry["step"]) for entry in hits.gone), default=len(steps))
    makers = [at for at in makers if at <= last]
    if row is None or not makers:
        return 0, ""
    others = ", or by " + ", ".join(steps[at] for at in makers[:-1]) if makers[1:] else ""
    return makers[-1], f"made of {' '.join(row['parents'] or [])} here{others}"


def _events(place: Place, hits: Hits, origin: tuple[int, str]) -> Iterator[Event]:
    """The events of one record in one dataset, from the step that first saw it."""
    steps = [step["step"] for step in place.manifest["steps"]]
    if hits.gone:
        gone = sorted(hits.gone, key=lambda entry: _at(steps, entry["step"]))
        stop = _at(steps, gone[0]["step"])
        yield from _passed(place.name, steps[:stop], hits.cuts, origin)
        yield from _cuts(place.name, gone[0]["step"], hits.cuts)
        yield from (_gone(place.name, entry) for entry in gone)
    if hits.kept or hits.rows:
        yield from _passed(place.name, steps[:-1], hits.cuts, origin)
        yield from _cuts(place.name, steps[-1], hits.cuts)
        rows = [{"row_id": row["row_id"], "segments": row["segments"]} for row in hits.rows]
        detail = origin[1] if origin[0] == len(steps) - 1 else ""
        yield Event(place.name, steps[-1], "keep", detail=detail or None, rows=rows)


def _passed(
    dataset: str, steps: Sequence[str], cuts: Sequence[Mapping[str, Any]], origin: tuple[int, str]
) -> Iterator[Event]:
    first, words = origin
    for at, step in enumerate(steps[first:], first):
        yield from _cuts(dataset, step, cuts)
        yield Event(dataset, step, "keep", detail=(words or None) if at == first else None)


def _cuts(dataset: str, step: str, cuts: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
    mine = sorted((cut for cut in cuts if cut["step"] == step), key=lambda cut: cut["start"])
    for cut in mine[:MAX_CUTS]:
        detail = f"bytes [{cut['start']}, {cut['stop']}): {cut['text']}"
        measured: dict[str, Any] = {name: cut[name] for name in ("value", "keeper", "chars")}
        yield Event(dataset, step, "cut", cut["reason"], measure="occurrences", detail=detail, **measured)
    if len(mine) > MAX_CUTS:
        chars = sum(cut["chars"] for cut in mine[MAX_CUTS:])
        yield Event(dataset, step, "cut", detail=f"and {len(mine) - MAX_CUTS} passages more", chars=chars)


def _at(steps: Sequence[str], step: str) -> int:
    return steps.index(step) if step in steps else len(steps)


def _gone(dataset: str, entry: Mapping[str, Any]) -> Event:
    return Event(
        dataset=dataset,
        step=entry["step"],
        verdict=entry["verdict"],
        reason=entry["reason"],
        value=_number(entry["value"]),
        limit=_number(entry["limit"]),
        keeper=entry["keeper"],
        measure=entry["measure"] or None,
        detail=entry["detail"] or None,
        file=entry["file"],
        offset=entry["offset"],
        url=entry["url"],
        chars=entry["chars"],
    )


def _number(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else value
