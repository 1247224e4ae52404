"""`@doc_filter`: a filter from one plain function of a document, without knowing the framework.

    @doc_filter(drop_above={"upper_frac": 0.3})
    def shouting(text):
        '''Documents written mostly in capitals.'''
        letters = [c for c in text if c.isalpha()]
        return {"upper_frac": sum(c.isupper() for c in letters) / max(len(letters), 1)}

The function's arguments name columns of `manifests.schema.DOCUMENT` (a null text comes as "", other nulls
as None); it returns a value for each measure that has a limit. None and NaN mean "does not apply" and never
drop. A record on which it raises, or returns something else, is quarantined as `filter_error` with the
exception as detail; the others go on. MemoryError alone is the machine's, and ends the task. Reasons are
`<measure>_above` and `<measure>_below`, tried in the order in which they are written.

Imports nothing heavy: `gristmill.stages` imports it.
"""

import contextlib
import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from blake3 import blake3

from gristmill.manifests.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from gristmill.stages.protocol import Floats, Mapped, Reason, Rule

FILTER_ERROR = "filter_error"
_DETAIL_CHARS = 300
_VERSION_BYTES = 6

Limits = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class DocFilter:
    """What `@doc_filter` makes: a `Filter` (rules and measures as data) that the chain runs as a `Mapper`,
    since only a mapper can quarantine. `version` is a hash of the function's source; calling it calls the
    function."""

    name: str
    version: int
    doc: str
    function: Callable[..., Any]
    columns: tuple[str, ...]
    drop_above: Limits
    drop_below: Limits

    def __call__(self, *args: object, **named: object) -> Any:
        """The user's function, as it was written."""
        return self.function(*args, **named)

    def rules(self) -> tuple["Rule", ...]:
        """The limits, above before below."""
        from gristmill.stages.protocol import Rule

        above = (Rule(name, "above", limit, f"{name}_above") for name, limit in self.drop_above)
        below = (Rule(name, "below", limit, f"{name}_below") for name, limit in self.drop_below)
        return (*above, *below)

    def reasons(self) -> tuple["Reason", ...]:
        """One reason for each rule, and `filter_error`."""
        from gristmill.stages.protocol import Reason

        dropped = (Reason(r.reason, "drop", f"{r.measure} {r.direction} its limit") for r in self.rules())
        return (*dropped, Reason(FILTER_ERROR, "quarantine", "the filter raised on this record"))

    def measure(self, batch: "pa.RecordBatch") -> "Mapping[str, Floats]":
        """The measures of each row; NaN where the function failed."""
        return self._measure(batch)[0]

    def transform(self, batch: "pa.RecordBatch") -> "Mapped":
        """The rows as they are, with a verdict for each that fails a rule or the function."""
        from gristmill.stages.chain import first_failing_rule
        from gristmill.stages.protocol import Mapped, RowVerdict

        measures, errors = self._measure(batch)
        rules = self.rules()
        failing = first_failing_rule(rules, measures, batch.num_rows).tolist()
        verdicts: list[RowVerdict] = []
        for row, index in enumerate(failing):
            if row in errors:
                verdicts.append(RowVerdict(row, "quarantine", FILTER_ERROR, detail=errors[row]))
            elif index >= 0:
                rule = rules[index]
                value = float(measures[rule.measure][row])
                verdicts.append(RowVerdict(row, "drop", rule.reason, rule.measure, value, rule.limit))
        return Mapped(batch, tuple(verdicts), measures=measures)

    def with_limits(self, limits: Mapping[str, object]) -> "DocFilter":
        """Itself with other limits: `{measure: limit}`, or `{drop_above: {measure: limit}}` where a measure
        has one on each side. Raises UsageError."""
        sides = {"drop_above": dict(self.drop_above), "drop_below": dict(self.drop_below)}
        for key, value in limits.items():
            if key in sides and isinstance(value, Mapping):
                for measure, limit in cast(Mapping[str, object], value).items():
                    self._set_limit({key: sides[key]}, measure, limit)
            else:
                self._set_limit(sides, key, value)
        return replace(
            self, drop_above=tuple(sides["drop_above"].items()), drop_below=tuple(sides["drop_below"].items())
        )

    def _set_limit(self, sides: Mapping[str, dict[str, float]], measure: str, limit: object) -> None:
        where = f"stage {self.name}.{measure}"
        having = [side for side in sides.values() if measure in side]
        if not having:
            known = ", ".join(sorted({name for side in sides.values() for name in side})) or "none"
            raise UsageError("no such measure with a limit", where, measure, f"it has {known}")
        if len(having) > 1:
            remedy = "name the side too: drop_above: {...} or drop_below: {...}"
            raise UsageError("a measure with two limits", where, measure, remedy)
        having[0][measure] = _limit(limit, where)

    def _measure(self, batch: "pa.RecordBatch") -> "tuple[dict[str, Floats], dict[int, str]]":
        import numpy as np

        measures = {r.measure: np.full(batch.num_rows, np.nan) for r in self.rules()}
        errors: dict[int, str] = {}
        own_pid = os.getpid()
        # Standard output belongs to the command: with --json it is one object.
        with contextlib.redirect_stdout(sys.stderr):
            for row, arguments in enumerate(self._arguments(batch)):
                # Any exception of foreign code is the record's fate, counted and stored, never the split's.
                try:
                    found = self.function(**arguments)
                    values = {name: _number(found[name]) for name in measures}
                except MemoryError:
                    raise  # what memory a machine has decides no record's fate: the engine tries again, or stops
                except (Exception, SystemExit, GeneratorExit) as error:
                    errors[row] = describe_error(error)
                    continue
                finally:
                    if os.getpid() != own_pid:
                        os._exit(0)  # a fork that came back would do the split a second time, into the same files
                for name, value in values.items():
                    measures[name][row] = value
        return measures, errors

    def _arguments(self, batch: "pa.RecordBatch") -> Iterator[dict[str, Any]]:
        columns = [batch.column(name) for name in self.columns]
        for row in range(batch.num_rows):
            values = {n: c[row].as_py() for n, c in zip(self.columns, columns, strict=True)}
            if values.get("text", "") is None:
                values["text"] = ""
            yield values


def doc_filter(
    *,
    drop_above: Mapping[str, float] | None = None,
    drop_below: Mapping[str, float] | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Mapping[str, float | None]]], DocFilter]:
    """Make a filter of a function; see the module. Raises UsageError on an argument that is no column."""
    if callable(drop_above):
        raise UsageError("doc_filter needs its limits", remedy='write @doc_filter(drop_above={"measure": 0.3})')

    def make(function: Callable[..., Mapping[str, float | None]]) -> DocFilter:
        own_name = name or function.__name__
        where = f"stage {own_name}"
        return DocFilter(
            name=own_name,
            version=_version(function),
            doc=(inspect.getdoc(function) or "").partition("\n")[0],
            function=function,
            columns=_columns(function, where),
            drop_above=tuple((m, _limit(v, f"{where}.{m}")) for m, v in (drop_above or {}).items()),
            drop_below=tuple((m, _limit(v, f"{where}.{m}")) for m, v in (drop_below or {}).items()),
        )

    return make


def _columns(function: Callable[..., Any], where: str) -> tuple[str, ...]:
    from gristmill.manifests.schema import DOCUMENT

    names: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            remedy = "name each column as an ordinary argument, such as `text`"
            raise UsageError("a filter's arguments must name columns", where, str(parameter), remedy)
        if parameter.name in DOCUMENT.names:
            names.append(parameter.name)
        elif parameter.default is parameter.empty:
            remedy = f"the columns are {', '.join(DOCUMENT.names)}"
            raise UsageError("argument names no column of a document", where, parameter.name, remedy)
    if not names:
        raise UsageError("a filter must take at least one column", where, remedy="such as `text`")
    return tuple(names)


def _version(function: Callable[..., Any]) -> int:
    try:
        source = inspect.getsource(function).encode("utf-8", "surrogatepass")
    except (OSError, TypeError):
        # Typed into an interpreter: no source, but its bytecode says the same for one Python version.
        code = function.__code__
        source = code.co_code + repr((code.co_consts, code.co_names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake3(source).digest(_VERSION_BYTES), "big")


def _limit(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError("a limit must be a finite number", where, value)
    return float(value)


def _number(value: object) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str | bytes):
        raise TypeError(f"a measure must be a number, not {value!r}")
    return float(value)  # pyright: ignore[reportArgumentType]


def describe_error(error: BaseException) -> str:
    """What was raised, as a ledger's detail."""
    try:
        said = str(error)
    except Exception:
        said = "(an error that cannot be shown)"
    return one_line(f"{type(error).__name__}: {said}")


def one_line(said: str) -> str:
    """What foreign code said, as a ledger's detail: one short line of Unicode."""
    # Addresses differ from run to run, and details stand in ledgers that must not.
    text = re.sub(r"0x[0-9a-fA-F]+", "0x?", said)
    return " ".join(text.split())[:_DETAIL_CHARS].encode("utf-8", "backslashreplace").decode()
