"""Compiles every kernel into this machine's cache: `python -m tests.warm`, before tests that are timed.

On a machine that never ran the project that takes a minute or two, which belongs to no test.
"""

import time
from pathlib import Path

from gristmill.stages import catalogue


def main() -> None:
    """Prepare each built-in stage that can be made without parameters."""
    start = time.monotonic()
    for name in catalogue.BUILTIN:
        described = catalogue.describe(name)
        if not any(parameter["required"] for parameter in described["params"]):
            catalogue.prepare([catalogue.load(name, {}, Path())])
    print(f"kernels are warm after {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
