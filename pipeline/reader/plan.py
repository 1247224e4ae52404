"""A trainer's plan: stages of one row length each, their budgets of tokens, and the rates of their sources.

    seed: 17
    vision: none                     # no source of any stage holds pictures; said, or refused
    datasets: {web: out/web_8k, code: out/code_8k, long: out/long_64k}     # paths from the plan's file
    stages:
      - {context: 8192, tokens: 20B, mix: {web: 0.7, code: 0.3}, max_epochs: {code: 2}}
      - {context: 65536, tokens: 1B, mix: {long: 1.0}, carry: restart}

Datasets in object storage are named by URL. Each epoch of a dataset is shuffled as a whole, or in blocks where it lies
in object storage; `shuffle:` at the plan's top says otherwise: `global`, `block`, or {block_rows: 128, window_blocks:
64} (`block_shuffle`).

A file with `stages:` is a plan; the folder of a dataset of rows is the implicit plan of one stage, in which each row
comes once. `tokens` may be written 20B, 1.5T, 300M, 4K; a stage has as many rows as fit. Rates are those of rows, and
so of tokens, since the rows of a stage are full but for a ten-thousandth. A dataset that several stages name goes on
where the stage before left off, or with `carry: restart` begins anew. A dataset is gone through MAX_EPOCHS times at
most over the whole run, or as often as `max_epochs` says; more is refused before anything is read.

The digest of a plan covers what decides the order: seed, stages, and the digests of the datasets' manifests.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gristmill.manifests.canonical import key_of
from gristmill.manifests.errors import RecipeError, UsageError
from gristmill.manifests.remote_access import is_remote
from gristmill.pipeline.reader.block_shuffle import BlockShuffle, ShuffleChoice, shuffle_of
from gristmill.pipeline.reader.mixture import PERIOD, Mixture
from gristmill.pipeline.reader.rows_dataset import RowsDataset

MAX_EPOCHS = 4.0
"""Muennighoff et al. (arXiv:2305.16264): up to four epochs repeated data are worth almost as much as new."""
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_TOKENS = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMBT]?)\s*", re.IGNORECASE)


class StageModel(BaseModel):
    """A stage as it is written."""

    model_config = ConfigDict(extra="forbid")
    context: int = Field(ge=1)
    tokens: int | float | str
    mix: dict[str, float] = Field(min_length=1)
    max_epochs: dict[str, float] = {}
    carry: Literal["continue", "restart"] = "continue"


class PlanModel(BaseModel):
    """A plan as it is written."""

    model_config = ConfigDict(extra="forbid")
    seed: int = 0
    vision: Literal["none"] | None = None
    datasets: dict[str, str] = {}
    shuffle: ShuffleChoice | None = None
    stages: list[StageModel] = Field(min_length=1)


@dataclass(frozen=True)
class Stage:
    """A stage of `rows` rows. `drawn[name]`: rows of each dataset that stages before it drew, and it goes on from."""

    context: int
    rows: int
    mixture: Mixture
    drawn: Mapping[str, int]


@dataclass(frozen=True)
class Plan:
    """Stages over opened datasets. `starts[s]` is the global index of the first row of stage s, with the end of all."""

    seed: int
    stages: Sequence[Stage]
    datasets: Mapping[str, RowsDataset]
    starts: Sequence[int]
    digest: str = field(default="")
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
    if path.is_dir():
        return implicit_plan(path)
    where = str(path)
    try:
        model = PlanModel.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(
            f"cannot be read ({error.strerror})", where, None, "name a plan, or a dataset's folder"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RecipeError("is no YAML", where, " ".join(str(error).split())[:120]) from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise RecipeError(first["msg"], f"{where} {key}".rstrip(), first.get("input"), "see docs/reader.md") from None
    return _plan(model, path.parent, where)


def implicit_plan(folder: str | Path, seed: int = 0, shuffle: ShuffleChoice | None = None) -> Plan:
    """Each row of a dataset once."""
    dataset = RowsDataset.open(folder)
    name = str(folder).rstrip("/").rpartition("/")[2] if is_remote(str(folder)) else Path(folder).resolve().name
    stage = Stage(dataset.context, dataset.rows, Mixture.of({name: 1.0}), {name: 0})
    return _sealed(seed, [stage], {name: dataset}, shuffle)


def _plan(model: PlanModel, base: Path, where: str) -> Plan:
    names = sorted({name for stage in model.stages for name in stage.mix})
    datasets = {name: RowsDataset.open(_place(base, model.datasets.get(name, name))) for name in names}
    _check_tokenizers(datasets, where)
    stages: list[Stage] = []
    drawn = dict.fromkeys(names, 0)
    total = dict.fromkeys(names, 0)
    for number, written in enumerate(model.stages):
        at = f"{where} stages.{number}"
        stage = _stage(written, datasets, drawn, at)
        before = stage.mixture.before(stage.rows)
        for name, rows in zip(stage.mixture.names, before, strict=True):
            drawn[name] = stage.drawn[name] + rows
            total[name] += rows
        stages.append(stage)
        _check_vision(model, written, datasets, at)
    _check_epochs(model, total, datasets, where)
    return _sealed(model.seed, stages, datasets, model.shuffle)


def _place(base: Path, written: str) -> str | Path:
    return written if is_remote(written) else base / written


def _stage(written: StageModel, datasets: Mapping[str, RowsDataset], drawn: Mapping[str, int], at: str) -> Stage:
    try:
        mixture = Mixture.of(written.mix)
    except ValueError as error:
        raise RecipeError(str(error), f"{at}.mix", written.mix, "give each source its share of the rows") from None
    for name in written.mix:
        dataset = datasets[name]
        if dataset.context != written.context:
            what = f"its rows are of {dataset.context} tokens, the stage's of {written.context}"
            raise RecipeError(what, f"{at}.mix.{name}", name, "emit it with the stage's context")
        if not dataset.rows:
            raise RecipeError("has no rows", f"{at}.mix.{name}", name, "leave it out")
    rows = tokens_of(written.tokens, f"{at}.tokens") // written.context
    if not rows:
        raise RecipeError("is less than a row", f"{at}.tokens", written.tokens, f"give {written.context} or more")
    begins = {name: drawn[name] if written.carry == "continue" else 0 for name in mixture.names}
    return Stage(written.context, rows, mixture, begins)


def tokens_of(text: int | float | str, where: str) -> int:
    """A number of tokens. Raises RecipeError."""
    if isinstance(text, int | float):
        if math.isfinite(text) and text >= 0:
            return int(text)
    elif (found := _TOKENS.fullmatch(text)) is not None:
        return int(float(found.group(1)) * _UNITS[found.group(2).upper()])
    raise RecipeError("is no number of tokens", where, text, "write it like 20B, 1.5T or 300M")


def _check_tokenizers(datasets: Mapping[str, RowsDataset], where: str) -> None:
    digests = {d.tokenizer.fingerprint: name for name, d in datasets.items()}
    if len(digests) > 1:
        raise RecipeError("datasets of different tokenizers", where, sorted(digests.values()), "emit them with one")


def _check_vision(model: PlanModel, stage: StageModel, datasets: Mapping[str, RowsDataset], at: str) -> None:
    if model.vision is None and not any(datasets[name].manifest["media_shards"] for name in stage.mix):
        remedy = "add a source with pictures, or say `vision: none` at the plan's top"
        raise RecipeError("has no share of vision", f"{at}.mix", sorted(stage.mix), remedy)


def _check_epochs(model: PlanModel, total: Mapping[str, int], datasets: Mapping[str, RowsDataset], where: str) -> None:
    for name, rows in total.items():
        limits = [stage.max_epochs[name] for stage in model.stages if name in stage.max_epochs]
        limit = min(limits, default=MAX_EPOCHS)
        epochs = rows / datasets[name].rows
        if epochs > limit:
            remedy = "give it a smaller share, more rows, or raise max_epochs"
            what = f"{name} would be gone through {epochs:.2f} times, {limit:g} are allowed"
            raise RecipeError(what, where, rows, remedy)


def _sealed(
    seed: int, stages: Sequence[Stage], datasets: Mapping[str, RowsDataset], choice: ShuffleChoice | None
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
    if shuffles:
        described["shuffles"] = {name: shuffle.plain() for name, shuffle in shuffles.items()}
    return Plan(seed, stages, datasets, starts, key_of(described), shuffles)
