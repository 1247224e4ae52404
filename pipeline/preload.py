"""What a process that runs tasks imports, once for all that are forked from it."""

import importlib
from contextlib import suppress

from gristmill.pipeline.task import KINDS
from gristmill.stages.catalogue import BUILTIN


def import_all() -> None:
    """Every kind of task, and every built-in stage whose extra is installed."""
    for module in (*KINDS.values(), *(place.partition(":")[0] for place in BUILTIN.values())):
        with suppress(ImportError):
            importlib.import_module(module)
