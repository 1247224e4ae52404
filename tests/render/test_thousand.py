"""A thousand SVG records: how many attempts are accepted, how varied they are, and the same bytes a second time."""

import subprocess
from pathlib import Path

import pytest

from gristmill.manifests.manifest import read_manifest
from tests.laws.running import command, fingerprint
from tests.render.needs import skip_without_svg

skip_without_svg()

COUNT = 1000
MIN_ACCEPTED_FRAC = 0.9


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_thousand_records_are_made_twice_alike(tmp_path: Path) -> None:
    outs = [tmp_path / "first", tmp_path / "second"]
    for out, workers in zip(outs, ("2", "1"), strict=True):
        words = ["render", "svg", "--count", str(COUNT), "--seed", "1", "--out", out, "--workers", workers]
        done = subprocess.run(command(*words), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    step = read_manifest(outs[0] / "svg")["steps"][0]
    assert step["kept"] >= COUNT * MIN_ACCEPTED_FRAC
    assert step["kept"] >= step["records_in"] * MIN_ACCEPTED_FRAC
    assert fingerprint(outs[0]) == fingerprint(outs[1])
    assert subprocess.run(command("verify", outs[0]), capture_output=True, check=False).returncode == 0
