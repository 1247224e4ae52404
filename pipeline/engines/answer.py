"""What an engine tells its driver of an exception of a task: the same error, whichever engine ran it.

In: anything that a task raised. Out: a GristmillError or OSError to be raised by the driver, which survives pickling in
another process that has not loaded what the task had. Expected errors are told as they are; no memory as a lost
worker, for another attempt elsewhere may do it; everything else, a SystemExit of a stage too, is a bug: a TaskError
with the traceback as a note. Needs no engine.
"""

import io
import pickle
import sys
import traceback
from typing import Any

from gristmill.manifests.errors import EngineLostError, GristmillError

FEWER = "run the same command with fewer --workers to resume"


class TaskError(GristmillError):
    """A task raised something unexpected: a bug. The worker's traceback is attached as a note."""


def answer_to(error: BaseException, label: str, more_memory: str = FEWER) -> GristmillError | OSError:
    """What the driver is to raise. `label` is the task's; `more_memory` the remedy where there was too little."""
    if isinstance(error, GristmillError | OSError):
        return sendable(error)
    if isinstance(error, MemoryError):
        return EngineLostError("a worker ran out of memory", label, remedy=more_memory)
    told = TaskError(f"{type(error).__name__}: {_text(error)}", where=label)
    told.add_note(f"in the worker:\n{''.join(traceback.format_exception(error))}")
    return told


def sendable(error: GristmillError | OSError) -> GristmillError | OSError:
    """The error, or the nearest to it that can be pickled here and read by who knows this package only."""
    if _survives(error):
        return error
    if isinstance(error, GristmillError):
        known = next(base for base in type(error).__mro__ if base.__module__.startswith("gristmill."))
        value = None if error.value is None else _text(error.value)
        told: GristmillError | OSError = known(_text(error.what), _text(error.where), value, _text(error.remedy))
    elif error.errno is not None:
        told = OSError(error.errno, _text(error.strerror), None if error.filename is None else _text(error.filename))
    else:
        told = OSError(_text(error))
    for note in getattr(error, "__notes__", ()):
        told.add_note(_text(note))
    return told


class _Reader(pickle.Unpickler):
    """Reads what every process of this package can: nothing of a class that a recipe's own files define."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        root = module_name.partition(".")[0]
        if root != "gristmill" and root not in sys.stdlib_module_names:
            raise pickle.UnpicklingError(module_name)
        return super().find_class(module_name, global_name)


def _survives(error: BaseException) -> bool:
    try:
        _Reader(io.BytesIO(pickle.dumps(error))).load()
    except Exception:
        return False
    return True


def _text(value: object) -> str:
    """What somebody else's object says of itself, even where that raises."""
    try:
        return str(value)
    except Exception:
        return f"a {type(value).__name__}"
