"""What belongs to this checkout, as git sees it."""

import subprocess
from pathlib import Path

import pytest


def tracked_files(repo: Path) -> list[str]:
    """Paths relative to `repo` that git tracks, or would once added; skips the test where there is no git."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=repo, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"{repo} is no git checkout: {done.stderr.strip()}")
    return [name for name in done.stdout.split("\0") if name and (repo / name).is_file()]
