"""The folder of what Gristmill keeps for a user between runs and can make or fetch anew at any time."""

import os
from pathlib import Path


def user_cache() -> Path:
    """`$XDG_CACHE_HOME/gristmill`, by default `~/.cache/gristmill`. Not made."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gristmill"
