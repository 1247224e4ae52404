"""Compiles every kernel into this machine's cache: `python -m tests.warm`, before tests that are timed.

On a machine that never ran the project that takes a minute or two on two cores, which belongs to no test.
"""

import importlib
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from gristmill.stages import catalogue, kernels

_PLAIN = ("_plain", "__init__")


def _modules() -> list[str]:
    """Every module with kernels."""
    found = sorted(path.stem for path in Path(kernels.__file__).parent.glob("*.py"))
    return [f"{kernels.__name__}.{name}" for name in found if not name.endswith(_PLAIN)]


def _load(name: str) -> None:
    importlib.import_module(name)


def main() -> None:
    """Import every module with kernels, which compiles them; then prepare each stage that needs no parameters."""
    start = time.monotonic()
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(_load, _modules()))
    for name in catalogue.BUILTIN:
        described = catalogue.describe(name)
        if not any(parameter["required"] for parameter in described["params"]):
            catalogue.prepare([catalogue.load(name, {}, Path())])
    print(f"kernels are warm after {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
