"""Compiles every kernel into this machine's cache: `python -m tests.warm`, before tests that are timed.

On a machine that never ran the project that takes a minute or two, which belongs to no test.
"""

import importlib
import time
from pathlib import Path

from gristmill.stages import catalogue, kernels


def main() -> None:
    """Import every module with kernels, which compiles them; then prepare each stage that needs no parameters."""
    start = time.monotonic()
    for path in sorted(Path(kernels.__file__).parent.glob("*.py")):
        importlib.import_module(f"{kernels.__name__}.{path.stem}")
    for name in catalogue.BUILTIN:
        described = catalogue.describe(name)
        if not any(parameter["required"] for parameter in described["params"]):
            catalogue.prepare([catalogue.load(name, {}, Path())])
    print(f"kernels are warm after {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
