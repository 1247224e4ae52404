"""Digests of the fonts that decide how pages look: the files that fontconfig would give to a page."""

import functools
import shutil
import subprocess
from pathlib import Path

from blake3 import blake3

_SECONDS = 20.0


@functools.cache
def digest() -> str:
    """BLAKE3 of all font files, by name and content, as hex; "" where fontconfig cannot list them."""
    files = _files()
    if not files:
        return ""
    hasher = blake3()
    for path in files:
        hasher.update(f"{path.name}\0{blake3(path.read_bytes()).hexdigest()}\0".encode())
    return hasher.hexdigest(16)


def _files() -> list[Path]:
    program = shutil.which("fc-list")
    if program is None:
        return []
    done = subprocess.run([program, ":", "file"], capture_output=True, text=True, timeout=_SECONDS, check=False)
    paths = {Path(line.strip().rstrip(":").strip()) for line in done.stdout.splitlines() if line.strip()}
    return sorted((path for path in paths if path.is_file()), key=lambda path: (path.name, str(path)))
