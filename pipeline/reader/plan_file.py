"""A trainer's plan as it is written; `plan` says what it means.

seed: 17
vision: 0.05                     # share of image tokens in every stage, or of each stage, or `none`
rates: default                   # the default, or the path of a rates.toml
datasets: {d8: out/train_8k, d64: out/train_64k, s64: out/synth_64k}     # paths from the plan's file, or URLs
shuffle: global                  # or block, or {block_rows: 128, window_blocks: 64}; see `plan`
stages:
  - {name: P1, context: 8192, tokens: 890B, from: d8}
  - {context: 65536, tokens: 80B, from: d64, synth: s64, max_epochs: {s64: synthesised}}
  - {context: 8192, tokens: 1B, mix: {d8: 0.7, web: 0.3}, carry: restart}
"""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError, model_validator

from gristmill.manifests.errors import RecipeError, UsageError
from gristmill.pipeline.reader.block_shuffle import ShuffleChoice
from gristmill.pipeline.reader.mixture import PERIOD
from gristmill.pipeline.recipe_yaml import parse_file

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_TOKENS = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMBT]?)\s*", re.IGNORECASE)

MAX_TOKENS = 1 << 60
"""More than all that was ever written; indices of rows are 64 bits."""

Share = Annotated[float, Field(gt=0, le=1, strict=True)]
Vision = Literal["none"] | Share


class StageModel(BaseModel):
    """A stage as written: `mix` gives the rates of datasets, `from` leaves those of buckets to the plan's rates."""

    model_config = ConfigDict(extra="forbid")
    name: str = ""
    context: int = Field(ge=1)
    tokens: int | float | str
    mix: dict[str, float] | None = Field(default=None, min_length=1)
    from_: str | Annotated[list[str], Field(min_length=1)] | None = Field(default=None, alias="from")
    synth: str | None = None
    max_epochs: dict[str, float | str] = {}
    carry: Literal["continue", "restart"] = "continue"

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.mix is None) == (self.from_ is None):
            raise ValueError("give either `mix` or `from`")
        if self.mix is not None and self.synth is not None:
            raise ValueError("`synth` goes with `from`; with `mix` give the dataset its rate there")
        return self

    @property
    def natural(self) -> list[str]:
        """The datasets of `from`."""
        return [self.from_] if isinstance(self.from_, str) else list(self.from_ or ())

    @property
    def synthesised(self) -> list[str]:
        """The dataset of `synth`, where one is named."""
        return [] if self.synth in (None, "none") else [str(self.synth)]

    @property
    def names(self) -> list[str]:
        """Of all datasets that the stage reads."""
        return list(dict.fromkeys([*(self.mix or ()), *self.natural, *self.synthesised]))


class PlanModel(BaseModel):
    """A plan as it is written."""

    model_config = ConfigDict(extra="forbid")
    seed: StrictInt = 0
    vision: Vision | list[Vision] | None = None
    rates: str = "default"
    datasets: dict[str, str] = {}
    shuffle: ShuffleChoice | None = None
    stages: list[StageModel] = Field(min_length=1)

    @model_validator(mode="after")
    def _a_share_a_stage(self) -> Self:
        if isinstance(self.vision, list) and len(self.vision) != len(self.stages):
            raise ValueError(f"vision has {len(self.vision)} shares for {len(self.stages)} stages")
        unused = sorted(set(self.datasets) - {name for stage in self.stages for name in stage.names})
        if unused:
            raise ValueError(f"no stage reads {', '.join(unused[:5])}")
        if any(len(stage.names) > PERIOD for stage in self.stages):
            raise ValueError(f"a stage reads more than {PERIOD} sources")
        return self

    def vision_of(self, stage: int) -> Vision | None:
        """The share of image tokens that a stage is to have; None where the plan does not say."""
        return self.vision[stage] if isinstance(self.vision, list) else self.vision

    def at(self, where: str, stage: int) -> str:
        """Where a stage stands: `plan.yaml stages.1 (P2)`."""
        name = self.stages[stage].name
        return f"{where} stages.{stage}" + (f" ({name})" if name else "")


def read_plan(path: Path) -> PlanModel:
    """The plan of a file. Raises UsageError where it cannot be read, RecipeError, naming file and key."""
    where = str(path)
    try:
        return PlanModel.model_validate(parse_file(path.read_bytes(), where).plain())
    except OSError as error:
        raise UsageError(
            f"cannot be read ({error.strerror})", where, None, "name a plan, or a dataset's folder"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise RecipeError(what, f"{where} {key}".rstrip(), first.get("input"), "see docs/reader.md") from None


def tokens_of(text: int | float | str, where: str) -> int:
    """A number of tokens. Raises RecipeError."""
    number: float = -1.0
    if isinstance(text, int | float):
        number = text
    elif (found := _TOKENS.fullmatch(text)) is not None:
        number = float(found.group(1)) * _UNITS[found.group(2).upper()]
    if 0 <= number < MAX_TOKENS:
        return int(number)
    raise RecipeError("is no number of tokens", where, text, "write it like 20B, 1.5T or 300M")
