"""Two outputs, dataset by dataset: what was asked for differently, and which records changed side.

A record has a fate in a dataset: kept, or gone at a step for a reason. Records are paired by id, in parts of
bounded memory (`manifests.scan`), and only where the manifests do not name the same files. Counts:

* `kept_to_dropped`, `dropped_to_kept`: another side; quarantined records count among the dropped;
* `moved`: gone on both sides, at another step or for another reason;
* `content`: kept on both sides with another text or media (documents only);
* `only_a`, `only_b`: records that the other dataset never saw.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.manifests.canonical import canonical_json
from gristmill.manifests.fates import Cell, Fates, read_fates, same_as_before
from gristmill.manifests.find import Place, places
from gristmill.manifests.manifest import FILE_LISTS, Manifest
from gristmill.manifests.scan import parts_for, sort_by_id, words_to_id

CHANGES = ("kept_to_dropped", "dropped_to_kept", "moved", "content", "only_a", "only_b")
STEP_COUNTS = ("records_in", "kept", "dropped", "quarantined", "derived", "rows", "reasons")
_STEP_ASKED = ("stage", "version", "params", "rules", "alarm")
_DATASET_ASKED = ("kind", "seed", "sample", "until", "origin")

Ints = npt.NDArray[np.int64]
Fate = dict[str, str] | None


@dataclass(frozen=True)
class Example:
    """A record that changed, and its fates: `verdict`, `step`, `reason`; None where it was never seen."""

    id: str
    change: str
    a: Fate
    b: Fate


@dataclass
class DatasetDiff:
    """One dataset. `same`: the manifests have one digest; `same_files`: they name the same bytes.

    `asked` lists what was asked for differently (`what`, `a`, `b`), `steps` the counts of each step, `moves` how
    many records went from one fate to another. A digest is None where the dataset is missing.
    """

    name: str
    same: bool
    same_files: bool
    digest_a: str | None
    digest_b: str | None
    asked: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    changed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CHANGES, 0))
    moves: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    examples: list[Example] = field(default_factory=list[Example])


@dataclass(frozen=True)
class Diff:
    """All datasets: those of `a` in its order, then those that only `b` has."""

    same: bool
    datasets: list[DatasetDiff]


def diff(a: Path, b: Path, examples: int = 5) -> Diff:
    """Compare two outputs, or two datasets whatever their names; `examples` of each change at most.

    Raises InputError when one is neither, VerifyError on damage.
    """
    mine, theirs = places(a), places(b)
    if len(mine) == len(theirs) == 1:
        pairs: list[tuple[Place | None, Place | None]] = [(mine[0], theirs[0])]
    else:
        by_name = {place.name: place for place in theirs}
        pairs = [(place, by_name.pop(place.name, None)) for place in mine]
        pairs += [(None, place) for place in by_name.values()]
    datasets = [_dataset(one, other, examples) for one, other in pairs]
    return Diff(all(d.same for d in datasets), datasets)


def _dataset(a: Place | None, b: Place | None, examples: int) -> DatasetDiff:
    ma, mb = (place.manifest if place else None for place in (a, b))
    digest_a, digest_b = (m["digest"] if m else None for m in (ma, mb))
    same_files = ma is not None and mb is not None and _files(ma) == _files(mb)
    out = DatasetDiff(
        name=a.name if a else b.name if b else "",
        same=digest_a == digest_b,
        same_files=same_files,
        digest_a=digest_a,
        digest_b=digest_b,
        asked=_asked(ma, mb),
        steps=_steps(ma, mb),
    )
    if a is not None and b is not None and not same_files:
        _records(a, b, out, examples)
    return out


def _files(manifest: Manifest) -> list[tuple[str, list[str]]]:
    return [(name, [entry["digest"] for entry in manifest.get(name, [])]) for name in FILE_LISTS]


def _asked(a: Manifest | None, b: Manifest | None) -> list[dict[str, Any]]:
    """What two manifests were asked for differently: of the dataset, then step by step."""
    if a is None or b is None:
        return []
    pairs: list[tuple[str, Any, Any]] = [(name, a[name], b[name]) for name in _DATASET_ASKED]
    steps_a, steps_b = ({step["step"]: step for step in m["steps"]} for m in (a, b))
    for step in dict.fromkeys([*steps_a, *steps_b]):
        if step in steps_a and step in steps_b:
            pairs += [(f"{step}.{n}", steps_a[step].get(n), steps_b[step].get(n)) for n in _STEP_ASKED]
        else:
            pairs.append((step, step in steps_a, step in steps_b))
    different = [p for p in pairs if canonical_json(p[1]) != canonical_json(p[2])]
    return [{"what": what, "a": mine, "b": theirs} for what, mine, theirs in different]


def _steps(a: Manifest | None, b: Manifest | None) -> list[dict[str, Any]]:
    counts: list[dict[str, Any]] = []
    for m in (a, b):
        steps = m["steps"] if m else []
        counts.append({step["step"]: {n: step[n] for n in STEP_COUNTS} for step in steps})
    names = dict.fromkeys([*counts[0], *counts[1]])
    return [{"step": name, "a": counts[0].get(name), "b": counts[1].get(name)} for name in names]


@dataclass(frozen=True)
class _Pairs:
    """Entries of two `Fates`: `a[i]` and `b[i]` are one record; -1 where a side has none."""

    a: Ints
    b: Ints


def _records(a: Place, b: Place, out: DatasetDiff, examples: int) -> None:
    moves: Counter[tuple[Cell | None, Cell | None]] = Counter()
    shown: Counter[str] = Counter()
    rows = [sum(e["rows"] for n in ("shards", "tokenised", "ledger") for e in p.manifest[n]) for p in (a, b)]
    for part in parts_for(max(rows)):
        fates = (read_fates(a.folder, a.manifest, part), read_fates(b.folder, b.manifest, part))
        pairs = _paired(*fates)
        for change, chosen in _changes(pairs, *fates):
            out.changed[change] += len(chosen)
            if change != "content":
                moves.update(_moves(pairs, chosen, *fates))
            for at in chosen[: max(0, examples - shown[change])].tolist():
                shown[change] += 1
                out.examples.append(_example(change, pairs, at, *fates))
    order = sorted(moves.items(), key=lambda item: (-item[1], str(item[0])))
    out.moves = [{"a": _fate(one), "b": _fate(other), "count": n} for (one, other), n in order]


def _once(fates: Fates) -> Ints:
    """One entry of each id, the first: ids stand once in a sound dataset."""
    return np.flatnonzero(~same_as_before(fates))


def _paired(a: Fates, b: Fates) -> _Pairs:
    in_a, in_b = _once(a), _once(b)
    first = np.concatenate([a.first[in_a], b.first[in_b]])
    second = np.concatenate([a.second[in_a], b.second[in_b]])
    entry = np.concatenate([in_a, in_b])
    of_b = np.arange(len(entry)) >= len(in_a)
    order = sort_by_id(first, second)
    first, second, entry, of_b = first[order], second[order], entry[order], of_b[order]
    new = np.concatenate(([True], (first[1:] != first[:-1]) | (second[1:] != second[:-1])))[: len(first)]
    group = np.cumsum(new) - 1
    sides = np.full((2, int(new.sum())), -1, dtype=np.int64)
    sides[of_b.astype(np.int64), group] = entry
    return _Pairs(sides[0], sides[1])


def _changes(pairs: _Pairs, a: Fates, b: Fates) -> Iterator[tuple[str, Ints]]:
    """For each kind of change the pairs that show it."""
    both = (pairs.a >= 0) & (pairs.b >= 0)
    cell_a, cell_b = _cells(a, pairs.a), _cells(b, pairs.b)
    kept_a, kept_b = both & (cell_a == 0), both & (cell_b == 0)
    # Fates of b in the numbering of a, so that equal ones compare equal.
    number = {cell: index for index, cell in enumerate(a.cells)}
    in_a = np.array([number.get(cell, -2) for cell in b.cells], dtype=np.int64)
    moved = both & (cell_a > 0) & (cell_b > 0) & (cell_a != in_a[np.maximum(cell_b, 0)])
    content = kept_a & kept_b
    content[content] = a.content[pairs.a[content]] != b.content[pairs.b[content]]
    yield "kept_to_dropped", np.flatnonzero(kept_a & both & (cell_b > 0))
    yield "dropped_to_kept", np.flatnonzero(kept_b & both & (cell_a > 0))
    yield "moved", np.flatnonzero(moved)
    yield "content", np.flatnonzero(content)
    yield "only_a", np.flatnonzero(pairs.b < 0)
    yield "only_b", np.flatnonzero(pairs.a < 0)


def _cells(fates: Fates, at: Ints) -> Ints:
    """The fate of each entry as an index, -1 where there is none."""
    cells = np.full(len(at), -1, dtype=np.int64)
    cells[at >= 0] = fates.cell[at[at >= 0]]
    return cells


def _moves(pairs: _Pairs, chosen: Ints, a: Fates, b: Fates) -> Counter[tuple[Cell | None, Cell | None]]:
    cells = np.stack([_cells(a, pairs.a[chosen]), _cells(b, pairs.b[chosen])], axis=1)
    found, counts = np.unique(cells, axis=0, return_counts=True)
    moves: Counter[tuple[Cell | None, Cell | None]] = Counter()
    for (one, other), count in zip(found.tolist(), counts.tolist(), strict=True):
        moves[_cell(a.cells, one), _cell(b.cells, other)] += count
    return moves


def _cell(cells: Sequence[Cell], index: int) -> Cell | None:
    return cells[index] if index >= 0 else None


def _example(change: str, pairs: _Pairs, at: int, a: Fates, b: Fates) -> Example:
    in_a, in_b = int(pairs.a[at]), int(pairs.b[at])
    side, entry = (a, in_a) if in_a >= 0 else (b, in_b)
    record = words_to_id(int(side.first[entry]), int(side.second[entry]))
    fate_a = _fate(a.cells[int(a.cell[in_a])] if in_a >= 0 else None)
    fate_b = _fate(b.cells[int(b.cell[in_b])] if in_b >= 0 else None)
    return Example(record, change, fate_a, fate_b)


def _fate(cell: Cell | None) -> Fate:
    return None if cell is None else dict(zip(("verdict", "step", "reason"), cell, strict=True))
