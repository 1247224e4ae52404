"""What became of a record, step by step and dataset by dataset.

Reads manifests, ledgers and shards alone. Events come in the recipe's order of datasets and, within one, in
the order of its steps: `keep` for each step that the record passed, before it `cut` for each passage that a
corpus-wide step took out, and where it went `drop` or `quarantine` with reason, measured value, limit and, for a
duplicate, the id of the record that was kept (`keeper`). In
a dataset of trainer rows the last step also lists the rows in which the document stands.
"""

from collections.abc import Iterator, Mapping, Sequence
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
    for place in datasets:
        hits = find(place, Query("id", record), _MAX_HITS)
        events.extend(_events(place, hits))
        for row in (*hits.kept, *hits.gone, *hits.rows):
            for name in ("url", "source", "parents"):
                known[name] = known.get(name) or row.get(name)
    if not events:
        return None
    return Trace(record, events, known["url"], known["source"], known["parents"] or [], others)


def _events(place: Place, hits: Hits) -> Iterator[Event]:
    """The events of one record in one dataset."""
    steps = [step["step"] for step in place.manifest["steps"]]
    if hits.gone:
        gone = sorted(hits.gone, key=lambda entry: _at(steps, entry["step"]))
        for step in steps[: _at(steps, gone[0]["step"])]:
            yield from _cuts(place.name, step, hits.cuts)
            yield Event(place.name, step, "keep")
        yield from _cuts(place.name, gone[0]["step"], hits.cuts)
        yield from (_gone(place.name, entry) for entry in gone)
    if hits.kept or hits.rows:
        for step in steps[:-1]:
            yield from _cuts(place.name, step, hits.cuts)
            yield Event(place.name, step, "keep")
        yield from _cuts(place.name, steps[-1], hits.cuts)
        rows = [{"row_id": row["row_id"], "segments": row["segments"]} for row in hits.rows]
        yield Event(place.name, steps[-1], "keep", rows=rows)


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
