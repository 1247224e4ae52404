"""One S3-compatible server for all tests of a session; each test has a bucket and a proxy of its own."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extras.s3.server import KEY, SECRET, Proxy, ask, proxy_to, s3_server

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3_server(tmp_path_factory.mktemp("s3")) as url:
        yield url


@pytest.fixture
def bucket(server: str) -> str:
    name = f"bucket-{next(_NUMBERS)}"
    ask(server, "PUT", f"/{name}")
    return name


@pytest.fixture
def proxy(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Proxy]:
    """The way to the server, named by the environment; the scratch space is the test's own."""
    with proxy_to(server) as found:
        for name, value in {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": found.url,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
            "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
            "GRISTMILL_REMOTE_RETRY_S": "2",
            "TMPDIR": str(tmp_path),
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("tempfile.tempdir", None)
        yield found
