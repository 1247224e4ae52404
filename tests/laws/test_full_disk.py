"""A disk that is really full: one line, what is committed, and the command that resumes, which then does."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_ENGINE
from gristmill.pipeline.cli.main import main
from tests.laws.running import fingerprint, run_inline, write_recipe

RECIPE = """
name: full
datasets:
  d: {read: {text: "*.txt"}}
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that holds 2 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_full_disk_is_told_and_the_run_resumes(
    workers: str, tmp_path: Path, small_disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(f"{name} " + os.urandom(300_000).hex())
    recipe = write_recipe(tmp_path, RECIPE)
    (small_disk / "in the way").write_bytes(bytes((1 << 20) + (900 << 10)))
    words = ["run", str(recipe), "--out", f"{small_disk}/my out", "--workers", workers, "--quiet"]
    assert main(words) == EXIT_ENGINE
    told = capfd.readouterr().err
    assert "no space left on the device" in told
    assert f"committed: 0 tasks in {small_disk}/my out; datasets published: none yet\n" in told
    assert f"resume with: gristmill run {recipe} --out '{small_disk}/my out' --workers {workers} --quiet\n" in told
    assert "Traceback" not in told
    (small_disk / "in the way").unlink()
    assert main(words) == 0
    run_inline(recipe, tmp_path / "calm")
    assert fingerprint(small_disk / "my out") == fingerprint(tmp_path / "calm")
