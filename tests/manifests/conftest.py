"""The small run that verification, tracing and comparing are tested on."""

from pathlib import Path

import pytest

from tests.manifests.small_run import copy_run, make_run


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of the small run; not to be changed."""
    return make_run(tmp_path_factory.mktemp("small"))


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return copy_run(finished, tmp_path / "out")
