"""numba as our kernels use it: compiled once for each machine, loaded from a cache that only its owner may write.

Imports numba (about 0.6 s): import it where a kernel is needed. A kernel has one explicit signature, so that
it is compiled or loaded when its module is imported and never again; helpers are compiled into the kernels
that call them and need no cache entry of their own. numba forgets a kernel when its own file changes, but not when that
of a helper does: so each kernel's folder in the cache is named by a digest of all the code that it is made of.
"""

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any


def _usable(folder: Path) -> bool:
    """Whether the folder is ours alone: numba unpickles what it finds there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and not found.st_mode & 0o022 and os.access(folder, os.W_OK)


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    wanted = Path(base) / "gristmill" / "numba"
    return wanted if _usable(wanted) else Path(tempfile.mkdtemp(prefix="gristmill-numba-"))


os.environ.setdefault("NUMBA_CACHE_DIR", str(_cache_folder()))

import numba  # noqa: E402  it reads NUMBA_CACHE_DIR when it is imported
from numba import types  # noqa: E402
from numba.core import config as numba_config  # noqa: E402
from numba.core import entrypoints  # noqa: E402

config: Any = numba_config  # its settings are made when it is loaded

_INITIALIZED = "_already_initialized"
_FOLDER = Path(__file__).parent
_OURS = re.compile(r"^from gristmill\.stages\.kernels\.(\w+) import", re.MULTILINE)

BYTES = types.Array(types.uint8, 1, "C", readonly=True)
OFFSETS = types.Array(types.int64, 1, "C", readonly=True)
KEYS = types.Array(types.uint64, 1, "C", readonly=True)
SMALL = types.Array(types.int16, 1, "C", readonly=True)
COUNTS_OUT = types.Array(types.int64, 2, "C")
BITS_OUT = types.Array(types.uint64, 2, "C")


def _code_of(file: Path, found: set[Path]) -> set[Path]:
    """Adds to `found` the files that make up a kernel's: itself, and what it imports of this folder."""
    if file not in found:
        found.add(file)
        for imported in _OURS.findall(file.read_text(encoding="utf-8")):
            _code_of(_FOLDER / f"{imported}.py", found)
    return found


def _code_digest(path: str) -> str:
    """Of the code that a kernel in the file `path` is made of."""
    digest = hashlib.sha256()
    for file in sorted(_code_of(Path(path), set()), key=lambda file: file.name):
        digest.update(file.stem.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def _our_way(path: str) -> Generator[None]:
    """The right folder of the cache; and numba does not import every installed package that extends it (awkward: 0.65 s
    of 1.2 s), which our kernels do not use. It does so at the next compilation by anybody else, as ever."""
    before = getattr(entrypoints, _INITIALIZED, False), config.CACHE_DIR
    setattr(entrypoints, _INITIALIZED, True)
    config.CACHE_DIR = os.path.join(config.CACHE_DIR or os.environ["NUMBA_CACHE_DIR"], _code_digest(path))
    try:
        yield
    finally:
        setattr(entrypoints, _INITIALIZED, before[0])
        config.CACHE_DIR = before[1]


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for one signature of the array types above; without the GIL."""
    compiling = numba.njit(signature, cache=True, nogil=True, boundscheck=False, error_model="numpy")

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        with _our_way(function.__code__.co_filename):
            return compiling(function)

    return compiled


helper = numba.njit(inline="never", error_model="numpy")
"""Compile a function into the kernels that call it."""

inner = numba.njit(forceinline=True, error_model="numpy")
"""The same for what innermost loops call: it is always compiled into its callers, and costs no call."""
