"""Every source by name, imported when it is used."""

import importlib
from collections.abc import Mapping
from typing import Any

from gristmill.pipeline.sources.files import Selection
from gristmill.pipeline.sources.protocol import OptionValue

SOURCES: Mapping[str, str] = {
    name: f"gristmill.pipeline.sources.{name}"
    for name in ("warc", "wet", "jsonl", "parquet", "arrow", "html", "text", "tree")
}
KEYED = frozenset({"jsonl", "parquet", "arrow"})
"""Sources whose records have fields, one of which `key:` may name; the others' records bring a key themselves."""

# Trees come from strangers: a link in one could name any file of this machine.
_HOSTILE_TREES = frozenset({"html", "text", "tree"})


def load(name: str) -> Any:
    """The module of a source. Raises KeyError for an unknown name."""
    return importlib.import_module(SOURCES[name])


def selection(name: str, options: Mapping[str, OptionValue] | None = None) -> Selection:
    """Which files a source reads under the options of its `read:` mapping."""
    whole_repo = bool(options and options.get("whole_repo"))
    return Selection(load(name).SUFFIXES, name not in _HOSTILE_TREES, whole_repo)
