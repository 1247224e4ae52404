"""Where things run: engine, workers, cluster, scratch. Nothing here changes a byte of the output or a hash.

In: `profiles.toml`, one table a profile. It is `$GRISTMILL_PROFILES`, else `profiles.toml` in the working
directory, else in `$XDG_CONFIG_HOME/gristmill` (`~/.config/gristmill`). Out: a frozen `Profile`. The table
`default` holds for runs that name no profile. Unknown keys and wrong types are UsageErrors with the line.
"""

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.suggest import did_you_mean

FILE_NAME = "profiles.toml"
DEFAULT = "default"
MAX_BYTES = 1 << 20
Engine = Literal["local", "spark", "datatrove"]
Executor = Literal["local", "slurm", "ray"]
_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)
_Text = Annotated[str, Field(min_length=1)]
_KEY = re.compile(r""" "([^"]*)" | '([^']*)' | ([\w-]+) """, re.VERBOSE)
_WRITTEN = re.compile(rf"(?:{_KEY.pattern})(?:\s*\.\s*(?:{_KEY.pattern}))*(?=\s*=)", re.VERBOSE)


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, float) else value


_Setting = Annotated[str | int | bool, BeforeValidator(_as_text)]
"""What Spark is told: a text in any case."""


class SlurmProfile(BaseModel):
    """The table `slurm`: what jobs ask for. `time` is `HH:MM:SS`; `venv` a folder with `bin/activate` that every node
    sees, this one's own where absent; `requeue_before_s`: how long before its end a job is told to stop and queue
    again; `srun`: start tasks by srun; `sbatch`: further options of sbatch by name."""

    model_config = _STRICT

    partition: _Text | None = None
    time: Annotated[str, Field(pattern=r"^(\d+-)?\d{1,3}:\d\d:\d\d$")] = "24:00:00"
    qos: _Text | None = None
    venv: _Text | None = None
    max_array_size: Annotated[int, Field(ge=1)] = 1001
    tasks_per_job: Annotated[int, Field(ge=1)] = 1
    requeue_before_s: Annotated[int, Field(ge=1)] = 120
    srun: bool = False
    sbatch: dict[str, str | int] = Field(default_factory=dict[str, str | int])


class RayProfile(BaseModel):
    """The table `ray`: `address` of a cluster; absent: one of this machine, made for the run."""

    model_config = _STRICT

    address: _Text | None = None


class Profile(BaseModel):
    """One table of profiles.toml; None leaves the choice to the command. `scratch` is absolute. `executor` is that of
    the engine datatrove; `spark` holds settings of Spark, `"spark.executor.memory" = "8g"`."""

    model_config = _STRICT

    workers: Annotated[int, Field(ge=1, le=4096)] | None = None
    scratch: _Text | None = None
    engine: Engine | None = None
    master: _Text | None = None
    executor: Executor | None = None
    spark: dict[str, _Setting] = Field(default_factory=dict[str, _Setting])
    slurm: SlurmProfile = Field(default_factory=SlurmProfile)
    ray: RayProfile = Field(default_factory=RayProfile)


def profiles_path() -> Path | None:
    """The file that profiles are read from, None when there is none. A named file must exist."""
    named = os.environ.get("GRISTMILL_PROFILES")
    if named:
        if not Path(named).is_file():
            raise UsageError("no such file", "$GRISTMILL_PROFILES", named, "name a profiles.toml")
        return Path(named)
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    candidates = (Path(FILE_NAME), config / "gristmill" / FILE_NAME)
    return next((path for path in candidates if path.is_file()), None)


def load_profile(name: str | None = None) -> Profile:
    """The profile of this name; without a name the table `default`, or an empty profile.

    Raises UsageError when the name or the file is wrong.
    """
    path = profiles_path()
    if path is None:
        if name is None:
            return Profile()
        remedy = f"write one, with a table [{name[:100]}]"
        raise UsageError(f"no {FILE_NAME} here or in ~/.config/gristmill", "--profile", name, remedy)
    text, tables = read_tables(path)
    wanted = DEFAULT if name is None else name
    if wanted not in tables:
        if name is None:
            return Profile()
        raise UsageError("no such profile", str(path), name, did_you_mean(name, tables))
    return checked(tables[wanted], wanted, path, text)


def read_tables(path: Path) -> tuple[str, dict[str, object]]:
    """The text of a file and its tables. Raises UsageError."""
    try:
        with path.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError("too large for profiles", str(path), f"over {MAX_BYTES} bytes")
        text = data.decode("utf-8-sig")
        return text, tomllib.loads(text)
    except OSError as error:
        raise UsageError("cannot be read", str(path), error.strerror, "check the path") from None
    except UnicodeDecodeError:
        raise UsageError("not UTF-8", str(path), None, "save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        # tomllib lets int() and datetime() fail on numbers out of range, and recurses on nested arrays.
        remedy = "check quotes and brackets there"
        raise UsageError(f"not TOML: {str(error)[:200]}", str(path), None, remedy) from None


def checked(table: object, name: str, path: Path, text: str) -> Profile:
    """The profile that a table holds. Raises UsageError."""
    if not isinstance(table, dict):
        raise UsageError("not a table", str(path), name, f"begin with [{name}]")
    try:
        profile = Profile.model_validate(table)
    except ValidationError as error:
        raise _told(error.errors(include_url=False)[0], name, path, text) from None
    if profile.scratch is None:
        return profile
    try:
        scratch = (path.parent / Path(profile.scratch).expanduser()).resolve()
    except (RuntimeError, ValueError) as error:
        where = f"{path}:{_line_of(text, (name, 'scratch'))}"
        raise UsageError(f"[{name}] scratch: {error}", where, profile.scratch, "name a folder") from None
    return profile.model_copy(update={"scratch": str(scratch)})


def _told(detail: ErrorDetails, name: str, path: Path, text: str) -> UsageError:
    """What is wrong with a profile, by the keys that lead there."""
    model, inner, key = _place([str(key) for key in detail["loc"]])
    head = ".".join([name, *inner])
    where = f"{path}:{_line_of(text, (name, *inner, key))}"
    if detail["type"] == "extra_forbidden":
        return UsageError(f"[{head}]: unknown key", where, key, did_you_mean(key, model.model_fields))
    what = detail["msg"][:1].lower() + detail["msg"][1:]
    if len(detail["loc"]) > len(inner) + 1:  # pydantic tells of the first of the types that it tried
        what = "neither text nor a number nor true or false"
    return UsageError(f"[{head}] {key}: {what}", where, detail["input"], "correct it")


def _place(keys: Sequence[str]) -> tuple[type[BaseModel], list[str], str]:
    """The model that a key stands in, the tables below the profile's, and the key; `spark` and `sbatch` have any."""
    model: type[BaseModel] = Profile
    inner: list[str] = []
    for key in keys[:-1]:
        field = model.model_fields[key].annotation
        if isinstance(field, type) and issubclass(field, BaseModel):
            model = field
        elif get_origin(field) is not dict:
            break
        inner.append(key)
        if get_origin(field) is dict:
            break
    return model, inner, keys[len(inner)]


def _line_of(text: str, path: Sequence[str]) -> int:
    """The line of a key, by the tables that it stands in; of the innermost that is written as such, else 1."""
    found, known = 1, 0
    head: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith("["):
            whole = head = _parts(bare[1:].partition("]")[0])
        elif written := _WRITTEN.match(bare):
            whole = head + _parts(written.group())
        else:
            continue
        if len(whole) > known and tuple(path[: len(whole)]) == whole:
            found, known = number, len(whole)
    return found


def _parts(dotted: str) -> tuple[str, ...]:
    """The keys of a dotted key."""
    return tuple("".join(key) for key in _KEY.findall(dotted))
