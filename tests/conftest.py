"""What every test stands on: the hypothesis profile, the real inputs, the 20 s limit of the quick suite."""

import os
import signal
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

REPO = Path(__file__).resolve().parent.parent
MAX_QUICK_TEST_S = 20.0
MAX_EXTRAS_TEST_S = 150.0
"""Of a test of another engine, which starts two or three sessions of a cluster (20 s each on a machine under load)."""

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")

# A shell without job control starts what runs in its background with SIGINT ignored, and every process under it
# inherits that: a test that interrupts one would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails a test that passed but ran for too long without the mark `slow`."""
    report = yield
    most_s = MAX_EXTRAS_TEST_S if "tests/extras/" in item.nodeid else MAX_QUICK_TEST_S
    too_long = call.when == "call" and call.duration > most_s
    if too_long and report.passed and item.get_closest_marker("slow") is None:
        report.outcome = "failed"
        report.longrepr = (
            f"{item.nodeid}: took {call.duration:.1f} s without the mark `slow`, which allows "
            f"{most_s:.0f} s; make it smaller, or mark it with @pytest.mark.slow"
        )
    return report


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of this checkout."""
    return REPO


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real inputs: $GRISTMILL_SHARED, else `../shared/data` beside the checkout, else a skip."""
    folder = Path(os.environ.get("GRISTMILL_SHARED") or REPO.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real inputs at {folder}; set GRISTMILL_SHARED to a folder that holds them")
    return folder
