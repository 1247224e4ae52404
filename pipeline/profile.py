"""Where things run: engine, workers, cluster, scratch. Nothing here changes a byte of the output or a hash.

In: `profiles.toml`, one table a profile. It is `$GRISTMILL_PROFILES`, else `profiles.toml` in the working
directory, else in `$XDG_CONFIG_HOME/gristmill` (`~/.config/gristmill`). Out: a frozen `Profile`. The table
`default` holds for runs that name no profile. Unknown keys and wrong types are UsageErrors with the line.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.suggest import did_you_mean

FILE_NAME = "profiles.toml"
DEFAULT = "default"
MAX_BYTES = 1 << 20
Engine = Literal["local", "spark", "datatrove"]
Executor = Literal["local", "slurm", "ray"]
_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)
_Text = Annotated[str, Field(min_length=1)]


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
    spark: dict[str, str | int | bool] = Field(default_factory=dict[str, str | int | bool])
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
        detail = error.errors(include_url=False)[0]
        key = str(detail["loc"][0])
        where = f"{path}:{_line_of(text, name, key)}"
        if detail["type"] == "extra_forbidden":
            remedy = did_you_mean(key, Profile.model_fields)
            raise UsageError(f"[{name}]: unknown key", where, key, remedy) from None
        what = detail["msg"][:1].lower() + detail["msg"][1:]
        raise UsageError(f"[{name}] {key}: {what}", where, detail["input"], "correct it") from None
    if profile.scratch is None:
        return profile
    try:
        scratch = (path.parent / Path(profile.scratch).expanduser()).resolve()
    except (RuntimeError, ValueError) as error:
        where = f"{path}:{_line_of(text, name, 'scratch')}"
        raise UsageError(f"[{name}] scratch: {error}", where, profile.scratch, "name a folder") from None
    return profile.model_copy(update={"scratch": str(scratch)})


def _line_of(text: str, table: str, key: str) -> int:
    """The line of a key below its table's head; of the head, or 1, where the key is written otherwise."""
    found = 1
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        head = re.match(r"\s*\[\s*(.+?)\s*\]\s*(?:#.*)?$", line)
        if head:
            inside = head.group(1).strip("'\"") == table
            found = number if inside else found
        elif inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
            return number
    return found
