"""Which documents each stage of a run reads: the curriculum, solved backwards.

In: stages in the order of the run (`Demand`), each with a budget T in tokens, domain rates r, bucket targets q and its
supplies; a supply is what a dataset holds, by cell (`cells`), of documents that are known by `pool`: supplies of one
pool are the same documents, packed anew. Out: a `Drawn` for each stage, and the epochs of each pool, by cell. Held
always:

* the tokens of a stage add up to T, and no cell of a pool is gone through more often than the supply's cap, over all
  stages together;
* of each domain come r * T, or within DOMAIN_SLACK of it where it has too little.

The last stage is solved first, since long documents are few and the last stages need them: begun from the square root
of the supply, fitted to r * T and q * T under what the caps still allow (`room`, `fit`); what remains flows down. So
length is upsampled within each domain (Fu et al. 2024), and is no hidden change of domains. Where supplies hold several
lengths, which come together, the table is of what they hold, and replay is held first (`evenly`).

A share `synth` of a stage's tokens comes from supplies of synthesised sequences. They stand for documents too short to
fill a window alone: they take from the buckets above the first, the shortest first. What natural documents cannot give
comes from more synthesised ones, then from the neighbouring bucket, nearest first; otherwise the plan is refused, with
stage, domain, bucket, what is needed and what is there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.curriculum.cells import Floats
from gristmill.pipeline.curriculum.evenly import Together
from gristmill.pipeline.curriculum.room import Room, fitted

DOMAIN_SLACK = 0.02
"""Of a stage's tokens. A domain's share may move so far for want of supply, and no farther."""
_EPSILON = 1e-7
_MISSED = 0.5e-3
"""Of a stage's tokens: two of the 4096 parts that rates are rounded to."""
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Supply:
    """What can be drawn as one: `cells` float64[domains, buckets] tokens, each gone through `cap` times at most."""

    name: str
    pool: str
    cells: Floats
    cap: float


def supplies_of(pool: str, cells: Floats, cap: float) -> list[Supply]:
    """One for each cell that holds anything, named `pool[domain,bucket]` by their numbers."""
    found: list[Supply] = []
    for d, b in np.argwhere(cells > 0).tolist():
        one = np.zeros_like(cells)
        one[d, b] = cells[d, b]
        found.append(Supply(f"{pool}[{d},{b}]", pool, one, cap))
    return found


@dataclass(frozen=True)
class Demand:
    """A stage. rates float64[domains] and buckets float64[buckets] add up to 1; replay: the least share of the first
    bucket; synth: the share of tokens that comes from `synthesised`."""

    name: str
    tokens: float
    rates: Floats
    buckets: Floats
    supplies: Sequence[Supply]
    replay: float = 0.0
    synth: float = 0.0
    synthesised: Sequence[Supply] = ()


@dataclass(frozen=True)
class Drawn:
    """Tokens of a stage: `cells` natural, `stood_for` by synthesised sequences, both float64[domains, buckets];
    `sources` of each supply by name; `missed`: buckets whose target does not hold, with the share wanted and had: of
    what is really drawn, where that was rounded."""

    cells: Floats
    stood_for: Floats
    sources: Mapping[str, float]
    missed: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])


Epochs = dict[str, Floats]
Rounded = Callable[[int, Mapping[str, float], Mapping[str, float]], Mapping[str, float]]
"""(number of the stage, tokens of each supply, epochs that each has left) -> tokens that are really drawn."""


@dataclass(frozen=True)
class Problem:
    """Stages over one pool of domains and buckets; `used`: epochs that other stages draw."""

    domains: Sequence[str]
    buckets: Sequence[str]
    stages: Sequence[Demand]
    used: Mapping[str, Floats] = field(default_factory=dict[str, Floats])


def solve(
    problem: Problem, rounded: Rounded | None = None, order: Literal["backwards", "forwards"] = "backwards"
) -> tuple[list[Drawn], Epochs]:
    """The draws of each stage, in the order of the run, and the epochs of each pool by cell; see the module.

    `forwards` shows what the order is for: the first stages use up what the last ones need. Raises RecipeError.
    """
    shape = (len(problem.domains), len(problem.buckets))
    used: Epochs = {pool: epochs.copy() for pool, epochs in problem.used.items()}
    numbers = range(len(problem.stages))
    found: dict[int, Drawn] = {}
    for number in reversed(numbers) if order == "backwards" else numbers:
        stage = problem.stages[number]
        supplies = [*stage.supplies, *stage.synthesised]
        left = {s.name: _left(s, used.get(s.pool)) for s in supplies}
        drawn = _solved(problem, stage, left)
        if rounded is not None:
            sources = rounded(number, drawn.sources, left)
            drawn = Drawn(_cells_of(stage.supplies, sources, shape), drawn.stood_for, sources)
        drawn = replace(drawn, missed=_missed(problem.buckets, stage, drawn))
        for supply in supplies:
            epochs = drawn.sources.get(supply.name, 0.0) / max(float(supply.cells.sum()), _TINY)
            before = used.setdefault(supply.pool, np.zeros(shape))
            used[supply.pool] = before + np.where(supply.cells > 0, epochs, 0.0)
        found[number] = drawn
    return [found[number] for number in numbers], used


def _left(supply: Supply, used: Floats | None) -> float:
    """Epochs. A supply of several cells is drawn from evenly, so the most used of them decides."""
    held = supply.cells > 0
    most = float(used[held].max(initial=0.0)) if used is not None else 0.0
    return max(supply.cap - most, 0.0)


def _solved(problem: Problem, stage: Demand, left: Mapping[str, float]) -> Drawn:
    shape = (len(problem.domains), len(problem.buckets))
    there = sum((s.cells for s in stage.supplies), np.zeros(shape)) / stage.tokens
    room = [s.cells * left[s.name] / stage.tokens for s in stage.supplies]
    caps = sum(room, np.zeros(shape))
    seed = np.sqrt(there / max(there.max(initial=0.0), _TINY))
    open_rows = np.where(there.any(axis=1), stage.rates, 0.0)
    wanted = fitted(seed, np.where(there > 0, 1.0, 0.0), open_rows, stage.buckets * open_rows.sum())
    spare = _spare_synthesised(stage, left)
    stood_for = _shortest_first(wanted, stage.synth)
    table, extra = _fitted(problem, stage, _Asked(seed, caps, wanted), stood_for, spare)
    stood_for = stood_for + extra
    sources = {
        s.name: float(_shared(table, r, caps).sum() * stage.tokens) for s, r in zip(stage.supplies, room, strict=True)
    }
    sources = _mended(stage, sources, left)
    cells = _cells_of(stage.supplies, sources, shape)
    if cells[:, 0].sum() < (stage.replay - _EPSILON) * stage.tokens:
        need, have = stage.replay * stage.tokens, cells[:, 0].sum()
        what = f"replay, bucket {problem.buckets[0]}: {need:.4g} tokens are needed, {have:.4g} can be had"
        raise RecipeError(what, stage.name, None, "lower `replay` in the rates, add short documents, or raise the caps")
    sources |= _synthesised(stage, left, stood_for.sum(axis=1) * stage.tokens)
    return Drawn(cells, stood_for * stage.tokens, sources)


def _mended(stage: Demand, sources: Mapping[str, float], left: Mapping[str, float]) -> dict[str, float]:
    """Tokens of natural supplies; of supplies of one cell each, or of several domains, they are left as they are."""
    held = [s.cells > 0 for s in stage.supplies]
    if not any(h.sum() > 1 for h in held) or any(h.any(axis=1).sum() != 1 for h in held):
        return dict(sources)
    tokens = np.array([s.cells.sum() for s in stage.supplies])
    together = Together(
        short=np.array([s.cells[:, 0].sum() for s in stage.supplies]) / tokens,
        domain=np.array([h.any(axis=1).argmax() for h in held], np.int64),
        caps=tokens * np.array([left[s.name] for s in stage.supplies]) / stage.tokens,
    )
    amounts = np.array([sources[s.name] for s in stage.supplies]) / stage.tokens
    amounts = together.with_replay(np.minimum(amounts, together.caps), stage.replay) * stage.tokens
    return dict(zip(sources, amounts.tolist(), strict=True))


def _cells_of(supplies: Sequence[Supply], sources: Mapping[str, float], shape: tuple[int, int]) -> Floats:
    """What so many tokens of each supply hold, cell by cell."""
    parts = [s.cells * (sources.get(s.name, 0.0) / max(float(s.cells.sum()), _TINY)) for s in supplies]
    return sum(parts, np.zeros(shape))


def _missed(buckets: Sequence[str], stage: Demand, drawn: Drawn) -> dict[str, tuple[float, float]]:
    had = (drawn.cells + drawn.stood_for).sum(axis=0)
    had = had / max(had.sum(), _TINY)
    pairs = zip(stage.buckets.tolist(), had.tolist(), strict=True)
    return {buckets[b]: (q, h) for b, (q, h) in enumerate(pairs) if abs(q - h) > _MISSED}


@dataclass(frozen=True)
class _Asked:
    """Of a stage, in parts of its tokens: where fitting begins, what the caps allow, what is wanted without them."""

    seed: Floats
    caps: Floats
    wanted: Floats


def _spare_synthesised(stage: Demand, left: Mapping[str, float]) -> float:
    """Parts of the stage's tokens that synthesised supplies have beyond the share asked for."""
    have = sum(float(s.cells.sum()) * left[s.name] for s in stage.synthesised) / stage.tokens
    if have < stage.synth - _EPSILON:
        needed = f"{stage.synth * stage.tokens:.4g} tokens are needed"
        what = f"synthesised sequences: {needed}, {have * stage.tokens:.4g} are there"
        remedy = "make more of them, lower `synthesised` in the rates, or raise their max_epochs"
        raise RecipeError(what, stage.name, None, remedy)
    return max(have - stage.synth, 0.0)


def _synthesised(stage: Demand, left: Mapping[str, float], wanted: Floats) -> dict[str, float]:
    """Tokens of each synthesised supply: of each domain what is wanted (float64[domains]) as far as there is so much
    of it, and what then lacks from all the rest alike."""
    room = {s.name: s.cells.sum(axis=1) * left[s.name] for s in stage.synthesised}
    there = sum(room.values(), np.zeros_like(wanted))
    first = np.minimum(wanted, there)
    rest = float((wanted - first).sum()) / max(float((there - first).sum()), _TINY)
    by_domain = (first + rest * (there - first)) / np.maximum(there, _TINY)
    return {name: float((amount * by_domain).sum()) for name, amount in room.items()}


def _shortest_first(wanted: Floats, synth: float) -> Floats:
    """What synthesised sequences stand for: `synth` in all, from the second bucket on, of all domains alike."""
    by_bucket = wanted.sum(axis=0)
    taken = np.clip(synth - (np.cumsum(by_bucket) - by_bucket - by_bucket[0]), 0.0, by_bucket)
    taken[0] = 0.0
    return wanted * (taken / np.maximum(by_bucket, _TINY))[None, :]


def _shared(table: Floats, room: Floats, caps: Floats) -> Floats:
    """The part of a table that one supply gives, by the room that it has of all."""
    return table * room / np.maximum(caps, _TINY)


def _fitted(problem: Problem, stage: Demand, asked: _Asked, stood_for: Floats, spare: float) -> tuple[Floats, Floats]:
    """The natural table, and what more than its share synthesised sequences stand for."""
    rows = np.maximum(stage.rates - stood_for.sum(axis=1), 0.0)
    columns = np.maximum(asked.wanted.sum(axis=0) - stood_for.sum(axis=0), 0.0)
    rows *= (1.0 - stood_for.sum()) / max(rows.sum(), _TINY)
    columns *= rows.sum() / max(columns.sum(), _TINY)
    lack_rows = np.maximum(rows - asked.caps.sum(axis=1), 0.0)
    lack_columns = np.maximum(columns - Room.of(rows, asked.caps).filled(columns), 0.0)
    lack_columns[0] = 0.0
    amount = min(max(lack_rows.sum(), lack_columns.sum()), spare)
    extra = np.zeros_like(asked.caps)
    if amount > _EPSILON:
        less_rows, less_columns = _filled(lack_rows, rows, amount), _filled(lack_columns, columns, amount)
        extra = np.outer(less_rows, less_columns) / amount
        rows, columns = rows - less_rows, columns - less_columns
    rows = _within_slack(problem, stage, asked, rows)
    return fitted(asked.seed, asked.caps, rows, columns), extra


def _filled(lack: Floats, amounts: Floats, total: float) -> Floats:
    """`total` in all: what lacks, in proportion, and the rest of all that is there."""
    first = lack * min(total / max(lack.sum(), _TINY), 1.0)
    rest = amounts - first
    return first + rest * (total - first.sum()) / max(rest.sum(), _TINY)


def _within_slack(problem: Problem, stage: Demand, asked: _Asked, rows: Floats) -> Floats:
    """Sums of domains that the caps allow, each within DOMAIN_SLACK of what was asked for. Raises RecipeError."""
    allowed = asked.caps.sum(axis=1)
    short = np.maximum(rows - allowed, 0.0)
    takers = np.clip(allowed - rows, 0.0, DOMAIN_SLACK)
    if short.max(initial=0.0) > DOMAIN_SLACK or short.sum() > takers.sum() + _EPSILON:
        domain = int(np.argmax(short))
        bucket = int(np.argmax((asked.wanted - asked.caps)[domain]))
        raise _infeasible(problem, stage, asked.wanted, asked.caps, (domain, bucket))
    if not short.any():
        return rows
    return rows - short + takers * short.sum() / max(takers.sum(), _TINY)


def _infeasible(problem: Problem, stage: Demand, wanted: Floats, caps: Floats, cell: tuple[int, int]) -> RecipeError:
    domain, bucket = problem.domains[cell[0]], problem.buckets[cell[1]]
    need, have = wanted[cell] * stage.tokens, caps[cell] * stage.tokens
    of_domain = (
        f"{stage.rates[cell[0]] * stage.tokens:.4g} and {caps[cell[0]].sum() * stage.tokens:.4g} in all its buckets"
    )
    what = f"domain {domain}, bucket {bucket}: {need:.4g} tokens are needed, {have:.4g} are there ({of_domain})"
    remedy = "lower the domain's rate or the stage's tokens, add documents, or raise its cap"
    return RecipeError(what, stage.name, None, remedy)
