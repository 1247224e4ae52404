"""Parameters of stages: fields of a frozen dataclass that carry a line of documentation.

`stage list` shows them; `stages.catalogue` checks what a recipe gives against their types.
"""

from dataclasses import field
from typing import Any


def param(default: Any, doc: str) -> Any:
    """A dataclass field with a default; `doc` says meaning, unit and source in one line."""
    return field(default=default, metadata={"doc": doc})


def file_param(default: Any, doc: str) -> Any:
    """A field (`str | None`, or a tuple of str) that names files: those of a recipe, relative to its folder.

    The stage gets absolute paths; what decides its output, and is shown, is the digest of each file.
    """
    return field(default=default, metadata={"doc": doc, "file": True})


def tokenizer_param(doc: str) -> Any:
    """A field (`str`) that names a tokenizer; left out, it is the recipe's.

    The stage gets a packaged name or an absolute path ("": the default); what decides its output is the fingerprint of
    the vocabulary and its engine, which counts only where the stage's property `tokenizes` is true.
    """
    return field(default="", metadata={"doc": doc, "tokenizer": True})
