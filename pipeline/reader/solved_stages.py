"""Stages whose rates follow from the plan's: each bucket of their datasets is a source, solved by `curriculum.solve`.

A bucket of several lengths (small ones are merged) counts for each by what it holds of it (`sources`). Rates of tokens
become rates of rows by the tokens of a row of each source, and whole PERIOD-ths under its cap, stage by stage
backwards, so that what a stage really draws is what the stages before it find used.

The rate of the domain `vision`, where the rates leave it at 0, is what brings the plan's share of image tokens about:
begun from what the supply would give, and mended by what the solved stages have, a few times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.curriculum.cells import Floats, bucket_names
from gristmill.pipeline.curriculum.rates import Rates, StageRates
from gristmill.pipeline.curriculum.solve import Demand, Drawn, Problem, Supply, solve
from gristmill.pipeline.curriculum.unimax import unimax
from gristmill.pipeline.reader.epochs import Draw, Limits
from gristmill.pipeline.reader.mixture import PERIOD, Mixture, parts_within
from gristmill.pipeline.reader.plan_file import PlanModel, StageModel
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from gristmill.pipeline.reader.sources import Source, buckets_of
from gristmill.pipeline.reader.vision import reached, share

VISION = "vision"
_VISION_ROUNDS = 8
_LEAST_SHARE = 1e-6
"""Of a stage: what a fit leaves where nothing is wanted. A source above it has one PERIOD-th at least."""


@dataclass(frozen=True)
class Setting:
    """What the solver works on. `rows` of each stage; `draws` of the stages that say their rates themselves."""

    model: PlanModel
    rates: Rates
    datasets: Mapping[str, RowsDataset]
    pools: Mapping[str, str]
    limits: Limits
    rows: Sequence[int]
    draws: Sequence[Draw]
    where: str


@dataclass(frozen=True)
class SolvedStages:
    """By number of the stage; `sources` are all that they draw from, `synthesised` the names of those that are."""

    sources: Mapping[str, Source]
    mixtures: Mapping[int, Mixture]
    drawn: Mapping[int, Drawn]
    synthesised: Mapping[int, frozenset[str]]


@dataclass(frozen=True)
class _Stage:
    number: int
    written: StageModel
    targets: StageRates
    natural: Sequence[Source]
    synthesised: Sequence[Source]

    @property
    def sources(self) -> dict[str, Source]:
        return {s.name: s for s in (*self.natural, *self.synthesised)}


def solved_stages(setting: Setting) -> SolvedStages:
    """All stages with `from`. Raises RecipeError, naming stage and cell, where they cannot be had."""
    stages = [
        _stage(setting, number, written)
        for number, written in enumerate(setting.model.stages)
        if written.from_ is not None
    ]
    if not stages:
        return SolvedStages({}, {}, {}, {})
    domains = _domains(setting, stages)
    rates = _domain_rates(setting, stages, domains)
    vision = {s.number: _first_vision(setting, s, rates.get(VISION, 0.0)) for s in stages}
    rounds = 0
    while True:
        shares = {s.number: _with_vision(rates, vision[s.number], domains) for s in stages}
        parts, drawn = _solved(setting, stages, domains, shares)
        rounds += 1
        if rounds == _VISION_ROUNDS or not _mend_vision(setting, stages, parts, vision):
            break
    mixtures = {number: Mixture.of_parts(of_stage) for number, of_stage in parts.items()}
    synthesised = {s.number: frozenset(source.name for source in s.synthesised) for s in stages}
    return SolvedStages({n: s for stage in stages for n, s in stage.sources.items()}, mixtures, drawn, synthesised)


def _stage(setting: Setting, number: int, written: StageModel) -> _Stage:
    at = setting.model.at(setting.where, number)
    targets = setting.rates.stage(written.name, written.context, at)
    if targets.synthesised and written.synth is None:
        remedy = "name a dataset of them in `synth`, or say `synth: none`"
        raise RecipeError("has no synthesised sequences", at, f"{targets.synth_share:.3g} of the tokens", remedy)
    sources: dict[str, list[Source]] = {}
    for name in (*written.natural, *written.synthesised):
        sources[name] = buckets_of(name, setting.datasets[name])
        if not sources[name]:
            remedy = "emit it again, which packs each domain and length by itself, or give rates in `mix`"
            raise RecipeError("has no buckets", f"{at} {name}", str(setting.datasets[name].folder), remedy)
    natural = [s for name in written.natural for s in sources[name]]
    return _Stage(number, written, targets, natural, [s for name in written.synthesised for s in sources[name]])


def _domains(setting: Setting, stages: Sequence[_Stage]) -> list[str]:
    """All that have a rate; a domain without one that stands in the data is never left out unsaid."""
    held = {str(s.domain) for stage in stages for s in stage.natural}
    if setting.rates.domains == "unimax":
        return sorted(held)
    known = {*setting.rates.domains, VISION}
    if unknown := sorted(held - known):
        remedy = "give it a rate in the rates' [domains], 0 to leave it out"
        raise RecipeError("the rates have no such domain", setting.where, ", ".join(unknown), remedy)
    return sorted(d for d in known if d in held or setting.rates.domains.get(d))


def _domain_rates(setting: Setting, stages: Sequence[_Stage], domains: Sequence[str]) -> dict[str, float]:
    if setting.rates.domains != "unimax":
        return dict(setting.rates.domains)
    text = [d for d in domains if d != VISION]
    most: dict[str, dict[str, float]] = {d: {} for d in text}  # of each pool, packed so that there is most of it
    for stage in stages:
        held: dict[tuple[str, str], float] = {}
        for source in stage.natural:
            key = (str(source.domain), setting.pools[source.dataset_name])
            held[key] = held.get(key, 0.0) + source.tokens
        for (domain, pool), tokens in held.items():
            if domain in most:
                most[domain][pool] = max(tokens, most[domain].get(pool, 0.0))
    budget = sum(setting.rows[s.number] * s.written.context * (1 - _synth(s)) for s in stages)
    try:
        supply = {d: sum(by_pool.values()) for d, by_pool in most.items()}
        return unimax(supply, budget, {d: setting.rates.cap(d) for d in text})
    except ValueError as error:
        raise RecipeError(str(error), setting.where, None, "lower the stages' tokens, or raise the caps") from None


def _synth(stage: _Stage) -> float:
    return stage.targets.synth_share if stage.synthesised else 0.0


def _first_vision(setting: Setting, stage: _Stage, rate: float) -> float:
    """The rate of the domain `vision` to begin from: what would bring the share of image tokens about."""
    wanted = setting.model.vision_of(stage.number)
    of_vision = [s for s in stage.natural if s.domain == VISION]
    if rate or not isinstance(wanted, float) or not of_vision:
        return rate
    images = sum(s.image_tokens for s in of_vision) / max(sum(s.rows * s.dataset.context for s in of_vision), 1)
    return min(wanted / images, 1.0) if images else 0.0


def _with_vision(rates: Mapping[str, float], vision: float, domains: Sequence[str]) -> Floats:
    """float64[domains]: `vision` of it, the others in proportion."""
    others = np.array([0.0 if d == VISION else rates.get(d, 0.0) for d in domains])
    return np.where([d == VISION for d in domains], vision, others * (1 - vision) / max(others.sum(), 1e-300))


def _solved(
    setting: Setting, stages: Sequence[_Stage], domains: Sequence[str], shares: Mapping[int, Floats]
) -> tuple[dict[int, dict[str, int]], dict[int, Drawn]]:
    """Parts of each source in PERIOD rows, and what the solver found, by number of the stage."""
    found: dict[int, dict[str, int]] = {}

    def rounded(index: int, drawn: Mapping[str, float], left: Mapping[str, float]) -> Mapping[str, float]:
        stage = stages[index]
        rows = setting.rows[stage.number]
        parts = _parts(stage, rows, drawn, left, setting.model.at(setting.where, stage.number))
        found[stage.number] = {name: part for name, part in parts.items() if part}
        sources = stage.sources
        return {name: part / PERIOD * rows * sources[name].tokens_per_row for name, part in parts.items()}

    demands = [_demand(setting, stage, domains, shares[stage.number]) for stage in stages]
    problem = Problem(domains, bucket_names(setting.rates.bounds), demands, _used(setting, domains))
    try:
        drawn, _ = solve(problem, rounded)
    except RecipeError as error:
        raise RecipeError(error.what, error.where or setting.where, error.value, error.remedy) from None
    return found, {stage.number: one for stage, one in zip(stages, drawn, strict=True)}


def _parts(stage: _Stage, rows: int, drawn: Mapping[str, float], left: Mapping[str, float], at: str) -> dict[str, int]:
    """Tokens of sources as parts of the rows; no source comes more often than it has epochs left."""
    sources = stage.sources
    least = _LEAST_SHARE * sum(drawn.values())
    names = [name for name in sorted(sources) if drawn.get(name, 0.0) > least]
    if len(names) > PERIOD:
        raise RecipeError("has more sources than a mixture takes", at, len(names), f"{PERIOD} at most: merge buckets")
    weights = np.array([drawn[name] / sources[name].tokens_per_row for name in names])
    # A prefix of a mixture is off by less than a row: one row is kept for that.
    most = [int(PERIOD * max(left[name] * sources[name].rows - 1, 0) / rows) for name in names]
    try:
        parts = parts_within((weights / weights.sum()).tolist(), most)
    except ValueError as error:
        remedy = "lower its tokens, add documents, or raise the caps"
        raise RecipeError(f"its sources are used up: {error}", at, None, remedy) from None
    return dict(zip(names, parts, strict=True))


def _demand(setting: Setting, stage: _Stage, domains: Sequence[str], rates: Floats) -> Demand:
    return Demand(
        name=setting.model.at(setting.where, stage.number),
        tokens=float(setting.rows[stage.number] * stage.written.context),
        rates=rates,
        buckets=np.array(stage.targets.buckets),
        supplies=[_supply(setting, s, domains) for s in stage.natural],
        replay=stage.targets.replay,
        synth=_synth(stage),
        synthesised=[_supply(setting, s, domains) for s in stage.synthesised],
    )


def _supply(setting: Setting, source: Source, domains: Sequence[str]) -> Supply:
    """Of a natural source, or of a synthesised one, which may be of any domain."""
    cells = np.zeros((len(domains), len(setting.rates.bounds) + 1))
    row = domains.index(source.domain) if source.domain in domains else slice(None)
    cells[row] = source.shares(setting.rates.bounds)
    cells *= source.tokens / cells.sum()
    return Supply(source.name, setting.pools[source.dataset_name], cells, setting.limits.of(source))


def _used(setting: Setting, domains: Sequence[str]) -> dict[str, Floats]:
    """Epochs of whole datasets that stages with `mix` draw, of every cell of their pool."""
    used: dict[str, Floats] = {}
    for draw in setting.draws:
        pool = setting.pools[draw.source.dataset_name]
        before = used.setdefault(pool, np.zeros((len(domains), len(setting.rates.bounds) + 1)))
        used[pool] = before + draw.epochs
    return used


def _mend_vision(
    setting: Setting, stages: Sequence[_Stage], parts: Mapping[int, Mapping[str, int]], vision: dict[int, float]
) -> bool:
    """Raise the rate of `vision` where a stage has too little; False when none does, or none can."""
    mended = False
    for stage in stages:
        wanted, sources = setting.model.vision_of(stage.number), stage.sources
        draws = [Draw(stage.number, sources[name], part) for name, part in parts[stage.number].items()]
        have = share(draws)
        fixed = setting.rates.domains != "unimax" and setting.rates.domains.get(VISION)
        if isinstance(wanted, float) and not fixed and have > 0 and not reached(have, wanted):
            vision[stage.number] = min(vision[stage.number] * wanted / have, 1.0)
            mended = True
    return mended
