"""Two hundred web pages: how many attempts are accepted, and the same bytes a second time."""

import subprocess
from pathlib import Path

import pytest

from gristmill.manifests.manifest import read_manifest
from tests.extras.web_pages import skip_without_browser
from tests.laws.running import command, fingerprint

skip_without_browser()


COUNT = 200
MIN_ACCEPTED_FRAC = 0.85


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_hundred_pages_are_made_twice_alike(tmp_path: Path) -> None:
    outs = [tmp_path / "first", tmp_path / "second"]
    for out, workers in zip(outs, ("2", "1"), strict=True):
        words = ["render", "web", "--count", str(COUNT), "--seed", "1", "--out", out, "--workers", workers]
        done = subprocess.run(command(*words), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    step = read_manifest(outs[0] / "web")["steps"][0]
    assert step["kept"] >= COUNT * MIN_ACCEPTED_FRAC
    assert step["kept"] >= step["records_in"] * MIN_ACCEPTED_FRAC
    assert fingerprint(outs[0]) == fingerprint(outs[1])
    assert subprocess.run(command("verify", outs[0]), capture_output=True, check=False).returncode == 0
