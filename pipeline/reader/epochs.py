"""How often each document comes over a whole run, and the caps on that.

Datasets of one pool hold the same documents (`sources.pools`), so their epochs add up: per domain, and per stretch of
document lengths between the bounds of what their buckets hold. A whole dataset counts for every one of these, a bucket
for each length that stands in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.curriculum.rates import Rates
from gristmill.pipeline.reader.plan_file import PlanModel
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from gristmill.pipeline.reader.sources import Source

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Draw:
    """Rows that a stage draws of a source."""

    stage: int
    source: Source
    rows: int

    @property
    def epochs(self) -> float:
        """Of the source."""
        return self.rows / self.source.rows


@dataclass(frozen=True)
class Limits:
    """Caps in epochs: those of datasets that a plan names, else those of domains, else the default."""

    datasets: Mapping[str, float] = field(default_factory=dict[str, float])
    domains: Mapping[str, float] = field(default_factory=dict[str, float])
    default: float = 4.0

    def of(self, source: Source) -> float:
        """For a source."""
        if source.dataset_name in self.datasets:
            return self.datasets[source.dataset_name]
        return self.domains.get(source.domain or "", self.default)


def limits_of(model: PlanModel, rates: Rates, datasets: Mapping[str, RowsDataset], where: str) -> Limits:
    """The smallest `max_epochs` of each dataset over all stages; else, of one that a stage names as `synth`, the class
    `synthesised`; else the rates' caps. Raises RecipeError."""
    found: dict[str, float] = {}
    for number, stage in enumerate(model.stages):
        for name, written in stage.max_epochs.items():
            at = f"{model.at(where, number)}.max_epochs.{name}"
            if name not in datasets:
                raise RecipeError("no stage reads this dataset", at, name, "name one that a stage reads")
            cap = rates.cap_classes.get(written) if isinstance(written, str) else written
            if cap is None or not cap > 0:
                known = ", ".join(sorted(rates.cap_classes))
                raise RecipeError("is no number of epochs", at, written, f"give a number above 0, or one of {known}")
            found[name] = min(cap, found.get(name, cap))
    made = rates.cap_classes.get("synthesised", rates.caps["default"])
    found = {name: made for stage in model.stages for name in stage.synthesised} | found
    return Limits(found, {d: c for d, c in rates.caps.items() if d != "default"}, rates.caps["default"])


@dataclass(frozen=True)
class Stretch:
    """Documents of a pool: of a domain (None: none is known), of [first, stop) tokens (None: no bound)."""

    pool: str
    domain: str | None
    first_tokens: int
    stop_tokens: int | None


def stretches(draws: Sequence[Draw], pools: Mapping[str, str]) -> Iterator[tuple[Stretch, list[Draw]]]:
    """Each stretch of documents that is drawn from, with the draws that it is part of, in the order of the run."""
    for pool in dict.fromkeys(pools[d.source.dataset_name] for d in draws):
        mine = [d for d in draws if pools[d.source.dataset_name] == pool and d.rows]
        domains = sorted({d.source.domain for d in mine if d.source.domain is not None}) or [None]
        for domain in domains:
            lengths = [part for d in mine for part in d.source.lengths]
            bounds = sorted({0, *(p.min_tokens for p in lengths), *(p.max_tokens or 0 for p in lengths)})
            for first, stop in zip(bounds, [*bounds[1:], None], strict=True):
                here = [d for d in mine if d.source.holds(domain, first)]
                if here:
                    yield Stretch(pool, domain, first, stop), here


def check_epochs(draws: Sequence[Draw], pools: Mapping[str, str], limits: Limits, stages: Sequence[str]) -> None:
    """Raises RecipeError, naming stage, source, epochs and cap, where documents come more often than they may."""
    for _, here in stretches(draws, pools):
        limit = min(limits.of(d.source) for d in here)
        total, epochs = sum(d.epochs for d in here), 0.0
        for draw in here:
            epochs += draw.epochs
            if epochs > limit + _TOLERANCE:
                shared = sorted({d.source.name for d in here} - {draw.source.name})
                what = f"{draw.source.name} would be gone through {total:.2f} times, {limit:g} are allowed"
                what += f" (with {', '.join(shared)}: the same documents)" if shared else ""
                remedy = "give it a smaller share, more rows, or raise max_epochs"
                raise RecipeError(what, stages[draw.stage], draw.rows, remedy)
