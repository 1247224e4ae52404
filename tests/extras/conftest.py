"""Skips what needs an extra that is not installed; the Spark cluster that these tests share."""

from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.extras.spark_cluster import SCRUBBED, Cluster, cluster
from tests.pipeline.export_data import make_output


@pytest.fixture(autouse=True)
def _calm_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine reaches a Spark of these tests, and it listens on the loopback."""
    for name in SCRUBBED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[Cluster]:
    """A standalone master with two workers."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: make test-extras")
    with cluster(tmp_path_factory.mktemp("spark")) as running:
        yield running


@pytest.fixture(scope="session")
def exported_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output with the datasets `rows` and `texts`, for exports."""
    return make_output(tmp_path_factory.mktemp("exported"))


@pytest.fixture(scope="module")
def module_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the tests of a module."""
    return tmp_path_factory.mktemp("module")
