"""How object storage is reached: the place that a URL names, and a client with credentials from environment or file.

A URL is `s3://BUCKET[/PREFIX]`; one that carries anything else (user, password, port, query) is refused unseen. What
opens the door stands, in this order, in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN),
in what a cluster gives its jobs (web identity, container), in the files of AWS_PROFILE, or in the machine's own role.
AWS_ENDPOINT_URL names a server that is not Amazon's, AWS_REGION the region. Nothing of it is kept in an object of
ours, so none of it is pickled, hashed, or written.
"""

import configparser
import importlib
import os
import re
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import UsageError

SCHEME = "s3://"
RETRY_S = 60.0
"""How long a request is tried again ($GRISTMILL_REMOTE_RETRY_S)."""
REQUEST_TIMEOUT_S = 120
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}", re.ASCII)
_GIVEN_BY_CLUSTERS = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)


@dataclass(frozen=True)
class RemotePlace:
    """A bucket and the prefix of all keys below a place in it, without slashes at its ends; "" is the whole bucket."""

    bucket: str
    prefix: str

    @property
    def url(self) -> str:
        """As a person writes it."""
        return f"{SCHEME}{self.bucket}/{self.prefix}".rstrip("/")

    def key(self, name: str) -> str:
        """The key of a name below the place."""
        return f"{self.prefix}/{name}" if self.prefix else name

    def shown(self, name: str) -> str:
        """The URL of a name below the place."""
        return f"{self.url}/{name}"


def is_remote(text: str) -> bool:
    """Whether a text names a place in object storage."""
    return text.startswith(SCHEME)


def place_of(url: str) -> RemotePlace:
    """The place. Raises UsageError on what is none; the error does not repeat a URL that may hold a secret."""
    bucket, _, prefix = url.removeprefix(SCHEME).partition("/")
    if not is_remote(url) or not _BUCKET.fullmatch(bucket):
        remedy = "write s3://BUCKET/PREFIX; credentials and the server's address come by environment (AWS_...)"
        raise UsageError("not a place in object storage", "s3://...", None, remedy)
    parts = prefix.strip("/").split("/")
    if any(part in ("", ".", "..") for part in parts) and prefix.strip("/"):
        raise UsageError("a prefix with an empty part, . or ..", f"{SCHEME}{bucket}", prefix, "name it plainly")
    return RemotePlace(bucket, prefix.strip("/"))


def endpoint() -> str:
    """The address of the server, "" for Amazon's own."""
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        if os.environ.get(name):
            return os.environ[name].rstrip("/")
    return _profile().get("endpoint_url", "").rstrip("/")


def obstore() -> Any:
    """The package that speaks to object storage. Raises UsageError where it is not installed."""
    try:
        return importlib.import_module("obstore")
    except ImportError:
        remedy = "pip install 'gristmill[s3]'"
        raise UsageError(
            "object storage needs the package obstore, which is not installed", "s3://...", None, remedy
        ) from None


def client(bucket: str) -> Any:
    """The client of a bucket, one a process: connections do not survive a fork."""
    obstore()
    return _client(bucket, os.getpid(), _settings())


def _settings() -> tuple[tuple[str, str], ...]:
    """What the environment and the age of the files say now, for the cache of clients: another key is another client,
    also where a file is renewed during a run."""
    names = [n for n in sorted(os.environ) if n.startswith("AWS_")]
    ages = [(path, _age(path)) for path in (_credentials_file(), _config_file())]
    return (*((n, os.environ[n]) for n in names), *ages, ("retry", str(_retry_s())))


def _age(path: str) -> str:
    try:
        return str(Path(path).expanduser().stat().st_mtime_ns)
    except (OSError, RuntimeError):
        return ""


def _credentials_file() -> str:
    return os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")


def _config_file() -> str:
    return os.environ.get("AWS_CONFIG_FILE", "~/.aws/config")


@lru_cache(maxsize=16)
def _client(bucket: str, pid: int, settings: tuple[tuple[str, str], ...]) -> Any:
    config: dict[str, Any] = {**_credentials(), "region": _region()}
    where = endpoint()
    options: dict[str, Any] = {
        "timeout": timedelta(seconds=REQUEST_TIMEOUT_S),
        "connect_timeout": timedelta(seconds=10),
    }
    if where:
        config["endpoint"] = where
        options["allow_http"] = where.startswith("http://")
    retry: dict[str, Any] = {
        "max_retries": 8,
        "retry_timeout": timedelta(seconds=_retry_s()),
        "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
    }
    store: Any = importlib.import_module("obstore.store").S3Store
    return store(bucket, config=config, client_options=options, retry_config=retry)


def _retry_s() -> float:
    given = os.environ.get("GRISTMILL_REMOTE_RETRY_S", "")
    try:
        seconds = float(given or RETRY_S)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise UsageError("not a number of seconds", "$GRISTMILL_REMOTE_RETRY_S", given, "give 0 to 86400")
    return seconds


def _region() -> str:
    given = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return given or _profile().get("region", "us-east-1")


def _credentials() -> dict[str, str]:
    """What the client is told; nothing where it finds them itself."""
    if os.environ.get("AWS_ACCESS_KEY_ID") or any(os.environ.get(name) for name in _GIVEN_BY_CLUSTERS):
        return {}
    profile = _profile()
    names = {"aws_access_key_id": "access_key_id", "aws_secret_access_key": "secret_access_key"}
    found = {ours: profile[theirs] for theirs, ours in names.items() if profile.get(theirs)}
    if len(found) == len(names):
        return found | ({"token": profile["aws_session_token"]} if profile.get("aws_session_token") else {})
    truth = ("1", "true")
    if os.environ.get("AWS_SKIP_SIGNATURE", "").lower() in truth:
        return {}
    if os.environ.get("AWS_PROFILE") or os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() in truth:
        remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for a table of ~/.aws/credentials"
        raise UsageError("no credentials for object storage", "s3://...", os.environ.get("AWS_PROFILE"), remedy)
    return {}


def _profile() -> dict[str, str]:
    """What the files of the AWS command line say of the profile asked for; the credentials file goes first."""
    name = os.environ.get("AWS_PROFILE", "default")
    head = name if name == "default" else f"profile {name}"
    return {**_table(_config_file(), head), **_table(_credentials_file(), name)}


def _table(path: str, head: str) -> dict[str, str]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(Path(path).expanduser().read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, RuntimeError):
        return {}
    except (OSError, UnicodeDecodeError, configparser.Error):
        # The parser's own words repeat the line, which may be the secret.
        raise UsageError("cannot be read as an AWS file", path, None, "check it, or set AWS_ACCESS_KEY_ID") from None
    return dict(parser.items(head)) if parser.has_section(head) else {}
