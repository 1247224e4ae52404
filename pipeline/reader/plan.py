"""A trainer's plan: stages of one row length each, their budgets of tokens, and the rates of their sources.

    seed: 17
    vision: none                     # no source of any stage holds pictures; said, or refused
    datasets: {web: out/web_8k, code: out/code_8k, long: out/long_64k}     # paths from the plan's file
    stages:
      - {context: 8192, tokens: 20B, mix: {web: 0.7, code: 0.3}, max_epochs: {code: 2}}
      - {context: 65536, tokens: 1B, from: long, synth: none, carry: restart}

Datasets in object storage are named by URL. Each epoch of a dataset is shuffled as a whole, or in blocks where it lies
in object storage; `shuffle:` at the plan's top says otherwise: `global`, `block`, or {block_rows: 128, window_blocks:
64} (`block_shuffle`).

A file with `stages:` is a plan; the folder of a dataset of rows is the implicit plan of one stage, in which each row
comes once. `tokens` may be written 20B, 1.5T, 300M, 4K; a stage has as many rows as fit.

A stage gives the rates of whole datasets (`mix`; those of rows, and so of tokens, since rows are full but for a
ten-thousandth), or leaves those of the buckets of datasets to the plan's `rates` (`from`; `solved_stages`): each bucket
is then a source of its own. A source that several stages draw from goes on where the stage before left off, or with
`carry: restart` begins anew. No document is gone through more often over the whole run than `max_epochs` says, or else
the rates' caps; more is refused before anything is read (`epochs`), and so is a stage without pictures (`vision`).

The digest of a plan covers what decides the order: seed, stages, and the digests of the datasets' manifests; of a
solved one its buckets and its rates with their label, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import key_of
from gristmill.manifests.errors import RecipeError
from gristmill.manifests.remote_access import is_remote
from gristmill.pipeline.curriculum.rates import Rates, load_rates
from gristmill.pipeline.curriculum.solve import Drawn
from gristmill.pipeline.reader.block_shuffle import BlockShuffle, ShuffleChoice, shuffle_of
from gristmill.pipeline.reader.epochs import Draw, Limits, check_epochs, limits_of
from gristmill.pipeline.reader.mixture import PERIOD, Mixture
from gristmill.pipeline.reader.plan_file import PlanModel, StageModel, read_plan, tokens_of
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from gristmill.pipeline.reader.solved_stages import Setting, SolvedStages, solved_stages
from gristmill.pipeline.reader.sources import Source, pools, whole
from gristmill.pipeline.reader.vision import check_vision


@dataclass(frozen=True)
class Stage:
    """A stage of `rows` rows. `drawn[name]`: rows of each source that stages before it drew, and it goes on from.
    Where the rates gave the mixture, `solved` is what was found, and `synthesised` names its sources that are."""

    context: int
    rows: int
    mixture: Mixture
    drawn: Mapping[str, int]
    name: str = ""
    solved: Drawn | None = field(default=None, repr=False)
    synthesised: frozenset[str] = frozenset()
    restart: bool = False


@dataclass(frozen=True)
class Plan:
    """Stages over opened datasets. `starts[s]` is the global index of the first row of stage s, with the end of all;
    `sources` are what the mixtures of the stages name. `rates` where a stage is solved by them."""

    seed: int
    stages: Sequence[Stage]
    datasets: Mapping[str, RowsDataset]
    sources: Mapping[str, Source]
    starts: Sequence[int]
    digest: str = field(default="")
    rates: Rates | None = None
    pools: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: Limits = field(default_factory=Limits)
    shuffles: Mapping[str, BlockShuffle] = field(default_factory=dict[str, BlockShuffle])
    """Of the datasets that are shuffled in blocks."""

    @property
    def rows(self) -> int:
        """Of all stages."""
        return self.starts[-1]


def load_plan(path: str | Path) -> Plan:
    """The plan of a file, or the implicit one of a dataset's folder.

    Raises RecipeError, naming file and key, where it cannot be carried out; UsageError, VerifyError of datasets.
    """
    if is_remote(str(path)):
        return implicit_plan(path)
    path = Path(path)
    return implicit_plan(path) if path.is_dir() else _plan(read_plan(path), path.parent, str(path))


def implicit_plan(folder: str | Path, seed: int = 0, shuffle: ShuffleChoice | None = None) -> Plan:
    """Each row of a dataset once."""
    dataset = RowsDataset.open(folder)
    name = str(folder).rstrip("/").rpartition("/")[2] if is_remote(str(folder)) else Path(folder).resolve().name
    stage = Stage(dataset.context, dataset.rows, Mixture.of({name: 1.0}), {name: 0})
    return _sealed(seed, [stage], {name: dataset}, {name: whole(name, dataset)}, None, shuffle)


def _plan(model: PlanModel, base: Path, where: str) -> Plan:
    names = list(dict.fromkeys(name for stage in model.stages for name in stage.names))
    datasets = {name: _opened(name, _place(base, model.datasets.get(name, name)), where) for name in names}
    _check_tokenizers(datasets, where)
    for number, stage in enumerate(model.stages):
        _check_contexts(stage, datasets, model.at(where, number))
    rates = load_rates(model.rates, base)
    pool = pools(datasets)
    limits = limits_of(model, rates, datasets, where)
    rows = [_rows(stage, model.at(where, number)) for number, stage in enumerate(model.stages)]
    sources = {name: whole(name, datasets[name]) for stage in model.stages for name in stage.mix or ()}
    mixtures = {n: _mixture(s, model.at(where, n)) for n, s in enumerate(model.stages) if s.mix is not None}
    draws = [Draw(n, sources[name], count) for n, m in mixtures.items() for name, count in m.counts(rows[n])]
    found = solved_stages(Setting(model, rates, datasets, pool, limits, rows, draws, where))
    sources |= found.sources
    stages = _in_order(model, rows, {**mixtures, **found.mixtures}, found)
    draws = [Draw(n, sources[name], count) for n, s in enumerate(stages) for name, count in s.mixture.counts(s.rows)]
    check_vision(model, draws, rows, where)
    check_epochs(draws, pool, limits, [model.at(where, n) for n in range(len(stages))])
    sealed = _sealed(model.seed, stages, datasets, sources, rates if found.mixtures else None, model.shuffle)
    return replace(sealed, pools=pool, limits=limits)


def _place(base: Path, written: str) -> str | Path:
    return written if is_remote(written) else base / written


def _opened(name: str, folder: str | Path, where: str) -> RowsDataset:
    dataset = RowsDataset.open(folder)
    if not dataset.rows:
        raise RecipeError("has no rows", f"{where} {name}", str(folder), "leave it out")
    return dataset


def _mixture(written: StageModel, at: str) -> Mixture:
    try:
        return Mixture.of(written.mix or {})
    except ValueError as error:
        raise RecipeError(str(error), f"{at}.mix", written.mix, "give each source its share of the rows") from None


def _rows(written: StageModel, at: str) -> int:
    rows = tokens_of(written.tokens, f"{at}.tokens") // written.context
    if not rows:
        raise RecipeError("is less than a row", f"{at}.tokens", written.tokens, f"give {written.context} or more")
    return rows


def _in_order(
    model: PlanModel, rows: Sequence[int], mixtures: Mapping[int, Mixture], found: SolvedStages
) -> list[Stage]:
    """The stages, each source going on where the stage before left off."""
    stages: list[Stage] = []
    drawn: dict[str, int] = {}
    for number, written in enumerate(model.stages):
        mixture = mixtures[number]
        begins = {name: drawn.get(name, 0) if written.carry == "continue" else 0 for name in mixture.names}
        drawn |= {name: begins[name] + count for name, count in mixture.counts(rows[number])}
        solved, synthesised = found.drawn.get(number), found.synthesised.get(number, frozenset[str]())
        stage = Stage(written.context, rows[number], mixture, begins, written.name, solved, synthesised)
        stages.append(replace(stage, restart=written.carry == "restart"))
    return stages


def _check_contexts(stage: StageModel, datasets: Mapping[str, RowsDataset], at: str) -> None:
    for name in stage.names:
        if datasets[name].context != stage.context:
            what = f"its rows are of {datasets[name].context} tokens, the stage's of {stage.context}"
            raise RecipeError(what, f"{at} {name}", name, "emit it with the stage's context")


def _check_tokenizers(datasets: Mapping[str, RowsDataset], where: str) -> None:
    digests = {d.tokenizer.fingerprint: name for name, d in datasets.items()}
    if len(digests) > 1:
        raise RecipeError("datasets of different tokenizers", where, sorted(digests.values()), "emit them with one")


def _sealed(
    seed: int,
    stages: Sequence[Stage],
    datasets: Mapping[str, RowsDataset],
    sources: Mapping[str, Source],
    rates: Rates | None,
    choice: ShuffleChoice | None,
) -> Plan:
    chosen = {name: shuffle_of(choice, data.context, data.is_remote) for name, data in datasets.items()}
    shuffles = {name: shuffle for name, shuffle in chosen.items() if shuffle is not None}
    for name, shuffle in shuffles.items():
        datasets[name].block_rows = shuffle.block_rows
    starts = [0]
    for stage in stages:
        starts.append(starts[-1] + stage.rows)
    described: dict[str, Any] = {
        "order": 1,
        "period": PERIOD,
        "seed": seed,
        "datasets": {name: dataset.digest for name, dataset in datasets.items()},
        "stages": [
            {"context": s.context, "rows": s.rows, "names": s.mixture.names, "parts": s.mixture.parts, "drawn": s.drawn}
            for s in stages
        ],
    }
    if rates is not None:
        ranges = {s.name: [s.dataset_name, s.first_row, s.stop_row] for s in sources.values()}
        described |= {"sources": ranges, "rates": {"label": rates.label, "digest": rates.digest}}
    if shuffles:
        described["shuffles"] = {name: shuffle.plain() for name, shuffle in shuffles.items()}
    return Plan(seed, stages, datasets, sources, starts, key_of(described), rates, shuffles=shuffles)
