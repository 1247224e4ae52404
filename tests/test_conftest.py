"""The 20 s limit of the quick suite, seen on a suite of its own with a limit of 0.2 s."""

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = """
import tests.conftest
from tests.conftest import *

tests.conftest.MAX_QUICK_TEST_S = 0.2
"""
SUITE = """
import time
import pytest

@pytest.fixture
def sleepy():
    time.sleep(0.3)

def test_quick(sleepy): pass
def test_long(): time.sleep(0.3)
@pytest.mark.slow
def test_long_and_marked(): time.sleep(0.3)
@pytest.mark.xfail(strict=True)
def test_long_and_failing(): time.sleep(0.3); raise ValueError
def test_shared(shared_data): pass
"""


def run_suite(folder: Path, shared: Path) -> str:
    """Runs SUITE in `folder`; its output with one line a test."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    repo = Path(__file__).resolve().parent.parent
    env = os.environ | {"PYTHONPATH": str(repo), "GRISTMILL_SHARED": str(shared)}
    argv = [sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider", "test_suite.py"]
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_only_a_long_test_without_the_mark_fails(tmp_path: Path) -> None:
    out = run_suite(tmp_path, shared=tmp_path)
    assert "test_suite.py::test_quick PASSED" in out  # the 0.3 s of its fixture do not count
    assert "test_suite.py::test_long FAILED" in out
    assert "test_suite.py::test_long_and_marked PASSED" in out
    assert "test_suite.py::test_long_and_failing XFAIL" in out
    assert "test_suite.py::test_shared PASSED" in out
    assert "without the mark `slow`" in out


def test_absent_real_inputs_are_skipped_with_their_place(tmp_path: Path) -> None:
    out = run_suite(tmp_path, shared=tmp_path / "nowhere")
    assert "test_suite.py::test_shared SKIPPED" in out
    assert f"no real inputs at {tmp_path / 'nowhere'}" in out
