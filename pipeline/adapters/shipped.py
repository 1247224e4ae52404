"""A row-local stage that travels to the workers of somebody else's engine.

It is pickled as it is; one from a user's file (`./my_filters.py:shouting`) takes the bytes of the file along, since no
worker could import it: what was hashed is what runs there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

from gristmill.manifests.errors import UsageError
from gristmill.stages import catalogue
from gristmill.stages.doc_filter import DocFilter
from gristmill.stages.protocol import Expander, Filter, Mapper, RowStage
from gristmill.stages.user_code import load_from, name_in_file, source_of


@dataclass(frozen=True)
class Shipped:
    """A stage, picklable by pickle, dill and cloudpickle."""

    stage: RowStage

    def __reduce__(self) -> tuple[Any, ...]:
        stage: Any = self.stage
        module = stage.function.__module__ if isinstance(stage, DocFilter) else type(stage).__module__
        source = source_of(module)
        if source is None:
            return Shipped, (stage,)
        name = name_in_file(module, stage)
        return _from_file, (*source, name, _values(stage))


def row_stage(stage: object, params: Mapping[str, object] | None, base_dir: Path, caller: str) -> Shipped:
    """The row-local stage, ready to run. Raises UsageError on anything else, InputError on a file that is not there."""
    if isinstance(stage, str):
        stage = catalogue.load(stage, params or {}, base_dir)
    elif params is not None:
        remedy = "give the stage's name with them, or an object that was made with its own"
        raise UsageError("parameters belong to a name", caller, sorted(params), remedy)
    if isinstance(stage, type) or not isinstance(stage, Filter | Mapper):
        raise _not_row_local(stage, caller)
    catalogue.prepare([stage])
    return Shipped(stage)


def _not_row_local(stage: object, caller: str) -> UsageError:
    if isinstance(stage, type):
        return UsageError("a class, not a stage", caller, stage.__name__, f"call it: {stage.__name__}(...)")
    name = getattr(stage, "name", type(stage).__name__)
    if isinstance(stage, Expander):
        remedy = "name the stage in a recipe for `gristmill run`"
        return UsageError("makes further records and has no verdict on one document", caller, name, remedy)
    if catalogue.kind_of(stage) == "exchange" or hasattr(stage, "version"):
        remedy = "write the documents out, and name the stage in a recipe for `gristmill run`"
        return UsageError("looks at whole datasets and has no verdict on one document", caller, name, remedy)
    remedy = "give a stage's name, ./FILE.py:NAME, or what @doc_filter makes"
    return UsageError("not a stage", caller, name, remedy)


def _values(stage: Any) -> dict[str, Any]:
    if isinstance(stage, DocFilter):
        return catalogue.canonical_params(stage)
    return {field.name: getattr(stage, field.name) for field in fields(stage) if field.init}


def _from_file(path: str, source: bytes, name: str, values: dict[str, Any]) -> Shipped:
    found: Any = load_from(Path(path), source, name)[0]
    stage = found.with_limits(values) if isinstance(found, DocFilter) else found(**values)
    return Shipped(cast(RowStage, stage))
