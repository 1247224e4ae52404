"""Rates of a curriculum, read from a `rates.toml`: `rates.toml` beside this module is the default and the example.

* `label`: where the figures come from: PRIOR, or the verdict of an ablation (LABELS), which then names its report in
  `evidence`. It is shown with every plan, and stands in the plan's digest.
* `bounds`: of the length buckets, in tokens, rising.
* `[domains]`: the rate of each domain, adding up to 1, or `domains = "unimax"`: as even as supply and caps allow
  (`unimax`), where no ablation says better.
* `[caps]`: epochs over the whole run, `default` and by domain; `[cap_classes]`: names for caps.
* `[[stages]]`: `name`, `context` (tokens in a row), `buckets` (the target of each bucket, adding up to 1), `replay`
  (the least share of the first bucket), `synthesised` (the share of synthesised sequences in what is no replay).

Unknown keys, wrong types and wrong sums are errors with file, key, value and remedy.
"""

import math
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from gristmill.manifests.canonical import key_of
from gristmill.manifests.errors import RecipeError, UsageError
from gristmill.pipeline.buckets import BOUNDS
from gristmill.pipeline.curriculum.room import MOST_COLUMNS

PRIOR = "prior, not ablated"
LABELS = (PRIOR, "aligned", "indistinguishable", "hyperparameters not aligned: indicative only")
DEFAULT = "default"
_SUM_TOLERANCE = 1e-6
_REMEDY = "see docs/curriculum.md"

Share = Annotated[float, Field(ge=0, le=1)]
Cap = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _adds_up(shares: list[float]) -> None:
    if abs(math.fsum(shares) - 1) > _SUM_TOLERANCE:
        raise ValueError(f"must add up to 1, not {math.fsum(shares):.6g}")


class StageRates(BaseModel):
    """Targets of a stage."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    name: str = Field(min_length=1)
    context: int = Field(ge=1)
    buckets: list[Share]
    replay: Share = 0.0
    synthesised: Share = 0.0

    @field_validator("buckets")
    @classmethod
    def _buckets_add_up(cls, buckets: list[float]) -> list[float]:
        _adds_up(buckets)
        return buckets

    @model_validator(mode="after")
    def _replay_fits(self) -> Self:
        if self.replay > self.buckets[0] + _SUM_TOLERANCE:
            raise ValueError(f"replay {self.replay:g} is more than the first bucket's target {self.buckets[0]:g}")
        return self

    @property
    def synth_share(self) -> float:
        """Of all tokens of the stage."""
        return self.synthesised * (1 - self.replay)


class Rates(BaseModel):
    """See the module."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    label: Literal["prior, not ablated", "aligned", "indistinguishable", "hyperparameters not aligned: indicative only"]
    evidence: str = ""
    bounds: list[int] = Field(default=list(BOUNDS), min_length=1, max_length=MOST_COLUMNS - 1)
    domains: dict[str, Share] | Literal["unimax"]
    caps: dict[str, Cap]
    cap_classes: dict[str, Cap] = {}
    stages: list[StageRates] = Field(min_length=1)

    @field_validator("bounds")
    @classmethod
    def _bounds_rise(cls, bounds: list[int]) -> list[int]:
        if bounds[0] < 1 or any(b <= a for a, b in pairwise(bounds)):
            raise ValueError("must rise, from 1 or more")
        return bounds

    @field_validator("domains")
    @classmethod
    def _domains_add_up(cls, domains: dict[str, float] | str) -> dict[str, float] | str:
        if isinstance(domains, dict):
            _adds_up(list(domains.values()))
        return domains

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if "default" not in self.caps:
            raise ValueError("caps has no `default`")
        for stage in self.stages:
            if len(stage.buckets) != len(self.bounds) + 1:
                raise ValueError(f"stage {stage.name} has {len(stage.buckets)} buckets, not {len(self.bounds) + 1}")
        if len({stage.name for stage in self.stages}) < len(self.stages):
            raise ValueError("two stages bear one name")
        if self.label != PRIOR and not self.evidence:
            raise ValueError(f"label {self.label!r} needs `evidence`: the report of the ablation")
        return self

    @property
    def digest(self) -> str:
        """Of all that stands in the file, the label included."""
        return key_of(self.model_dump())

    def cap(self, domain: str) -> float:
        """Epochs that a domain may be gone through."""
        return self.caps.get(domain, self.caps["default"])

    def stage(self, name: str, context: int, where: str) -> StageRates:
        """The stage of a name, or without a name the one of a context. Raises RecipeError."""
        found = [s for s in self.stages if (s.name == name if name else s.context == context)]
        if len(found) != 1:
            known = ", ".join(f"{s.name} ({s.context})" for s in self.stages)
            what = "the rates have no such stage" if not found else "several stages of the rates have this context"
            raise RecipeError(what, where, name or context, f"name one of {known}")
        if found[0].context != context:
            what = f"the rates' stage {found[0].name} is of {found[0].context} tokens"
            raise RecipeError(what, where, context, "give it another name, or other rates")
        return found[0]


def load_rates(name: str, base: Path) -> Rates:
    """`default`, or the file of that path from `base`. Raises UsageError where it cannot be read, RecipeError."""
    if name == DEFAULT:
        where, text = "rates.toml (default)", (files(__package__ or "") / "rates.toml").read_text(encoding="utf-8")
    else:
        where = str(base / name)
        try:
            text = Path(where).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "no UTF-8"
            raise UsageError(f"cannot be read ({why})", where, None, "name a rates.toml, or `default`") from None
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError("is no TOML", where, str(error), _REMEDY) from None
    return rates_of(written, where)


def rates_of(written: Mapping[str, object], where: str) -> Rates:
    """Of a parsed file. Raises RecipeError."""
    try:
        return Rates.model_validate(_floats(written))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise RecipeError(what, f"{where} {key}".rstrip(), first.get("input"), _REMEDY) from None


def _floats(written: Mapping[str, object]) -> dict[str, object]:
    """With whole numbers where shares and caps stand as floats: `default = 4` is no wrong type."""
    out = dict(written)
    for key in ("domains", "caps", "cap_classes"):
        table = out.get(key)
        if isinstance(table, dict):
            out[key] = {k: _float(v) for k, v in table.items()}
    stages = out.get("stages")
    if isinstance(stages, list):
        out["stages"] = [_stage_floats(s) if isinstance(s, dict) else s for s in stages]
    return out


def _float(value: object) -> object:
    return float(value) if type(value) is int else value


def _stage_floats(stage: dict[str, object]) -> dict[str, object]:
    out: dict[str, object] = {k: _float(v) if k in ("replay", "synthesised") else v for k, v in stage.items()}
    buckets = out.get("buckets")
    if isinstance(buckets, list):
        out["buckets"] = [_float(b) for b in buckets]
    return out
