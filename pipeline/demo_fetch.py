"""Fetches packages of the distribution into a cache folder, without root: `apt-get download`, `dpkg -x`.

Cache layout: CACHE/<key>/origin.json ({"package", "version"}) beside CACHE/<key>/root (what `dpkg -x`
unpacked). The folder is renamed into place when it is complete, so a killed fetch leaves nothing that
looks finished. Nothing of a package is run: its maintainer scripts stay inside the .deb.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gristmill.manifests.errors import InputError
from gristmill.pipeline.demo_sources import Package, Source

_APT_TIMEOUT_S = 600
_UNKNOWN_NAME = ("Unable to locate package", "has no installation candidate")
_NO_NETWORK = (
    "failure resolving",
    "Could not resolve",
    "Could not connect",
    "Unable to connect",
    "unreachable",
)
_URL_IN_REFUSAL = re.compile(r"(?<=Failed to fetch) \S+")
_APT_OPTIONS = ("-q", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=30")
# Otherwise apt-get update succeeds without a network, and the packages are then "unable to locate".
_UPDATE_STRICTLY = ("-o", "APT::Update::Error-Mode=any")


@dataclass
class Fetcher:
    """Where packages are kept, and what was done in this call: each package and the lists are tried once."""

    cache: Path
    log: Callable[[str], None]
    refresh: bool = False
    lists_updated: bool = False
    no_network: str = ""  # apt's words: without a network each further package would cost some seconds
    tried: dict[str, Source | InputError] = field(default_factory=dict[str, "Source | InputError"])


def fetch(package: Package, fetcher: Fetcher) -> Source:
    """The package from the cache, or downloaded into it; with `refresh` a download is tried first.

    Raises InputError when it cannot be had (no apt, no network, unknown name, unexpected content).
    """
    if package.key not in fetcher.tried:
        try:
            fetcher.tried[package.key] = _fetch(package, fetcher)
        except InputError as error:
            fetcher.tried[package.key] = error
    outcome = fetcher.tried[package.key]
    if isinstance(outcome, InputError):
        raise outcome
    return outcome


def _fetch(package: Package, fetcher: Fetcher) -> Source:
    cached = _open_cached(package, fetcher.cache)
    if cached is not None and not fetcher.refresh:
        return cached
    try:
        _download(package, fetcher)
    except InputError as error:
        if cached is None:
            raise
        fetcher.log(f"{package.key}: the copy in the cache is used, no new one could be had: {error}")
        return cached
    fresh = _open_cached(package, fetcher.cache)
    if fresh is None:
        raise InputError("the package does not hold the expected folder", where=package.key, value=package.root_glob)
    return fresh


def _open_cached(package: Package, cache: Path) -> Source | None:
    """The package as it lies in the cache; None when it is not there, or not as it should be."""
    home = cache / package.key
    try:
        origin = json.loads((home / "origin.json").read_text("utf-8"))
        name, version = str(origin["package"]), str(origin["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    folders = [path for path in sorted((home / "root").glob(package.root_glob)) if not path.is_symlink()]
    if name not in package.names or not folders:
        return None
    notice = home / "root/usr/share/doc" / name / "copyright"
    return Source(
        root=folders[0],
        package=name,
        version=version,
        licence=package.licence,
        notice=notice if notice.is_file() and not notice.is_symlink() else None,
    )


def _download(package: Package, fetcher: Fetcher) -> None:
    """Puts the package into the cache, replacing what is there; what is there stays if this fails."""
    missing = [tool for tool in ("apt-get", "dpkg", "dpkg-deb") if shutil.which(tool) is None]
    if missing:
        raise InputError(
            "not on this machine",
            where=package.key,
            value=", ".join(missing),
            remedy="run on Debian or Ubuntu, or copy a filled cache folder here",
        )
    fetcher.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=fetcher.cache, prefix=".fetch-") as scratch:
        deb = _apt_download(package, fetcher, Path(scratch))
        made = Path(scratch, "made")
        _unpack(deb, made)
        _replace_folder(made, fetcher.cache / package.key, Path(scratch, "old"))


def _apt_download(package: Package, fetcher: Fetcher, scratch: Path) -> Path:
    """The .deb of the first of the package's names that apt knows; updates apt's lists once if need be."""
    refusal = fetcher.no_network
    if not refusal:
        fetcher.log(f"{package.key}: apt-get download")
        refusal = _try_names(package.names, scratch)
    if refusal and not fetcher.no_network and not fetcher.lists_updated and os.geteuid() == 0:
        fetcher.lists_updated = True
        fetcher.log("apt-get update (the package lists are missing or old)")
        update_refusal = _run(("apt-get", *_APT_OPTIONS, *_UPDATE_STRICTLY, "update"), scratch)
        refusal = _try_names(package.names, scratch)  # even so: one archive of many may have refused
        if refusal:
            refusal = update_refusal or refusal
    if any(sign in refusal for sign in _NO_NETWORK):
        fetcher.no_network = refusal
    debs = sorted(scratch.glob("*.deb"))
    if refusal or not debs:
        update = "" if os.geteuid() == 0 else " after `sudo apt-get update`"
        raise InputError(
            "apt-get cannot download it",
            where=package.key,
            value=refusal or "no .deb written",
            remedy=f"try again with a network{update}",
        )
    return debs[0]


def _try_names(names: Sequence[str], scratch: Path) -> str:
    """Downloads the first name that apt has; "" when done, else why the first one could not be had."""
    first_refusal = ""
    for name in names:
        refusal = _run(("apt-get", *_APT_OPTIONS, "download", name), scratch)
        if not refusal:
            return ""
        first_refusal = first_refusal or refusal
        if not any(sign in refusal for sign in _UNKNOWN_NAME):
            return refusal
    return first_refusal


def _unpack(deb: Path, made: Path) -> None:
    """`made/root` and `made/origin.json` from the package file."""
    made.mkdir()
    fields = [_field(deb, name) for name in ("Package", "Version")]
    refusal = _run(("dpkg", "-x", str(deb), str(made / "root")), made)
    if refusal:
        raise InputError("dpkg cannot unpack it", where=deb.name, value=refusal, remedy="try again")
    origin = {"package": fields[0], "version": fields[1]}
    (made / "origin.json").write_text(json.dumps(origin) + "\n", "utf-8")


def _field(deb: Path, name: str) -> str:
    done = subprocess.run(["dpkg-deb", "-f", str(deb), name], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        raise InputError(f"the package file has no field {name}", where=deb.name, remedy="try again")
    return done.stdout.strip()


def _replace_folder(made: Path, home: Path, old: Path) -> None:
    if home.exists():
        home.rename(old)
    made.rename(home)


def _run(command: Sequence[str], folder: Path) -> str:
    """Runs a command; "" when it succeeds, else its first error line (in English)."""
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_APT_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} gave no answer in {_APT_TIMEOUT_S} s"
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("E: ") for line in lines if line.startswith("E: ")]
    refusal = next(iter(errors or lines), f"{command[0]} ended with exit code {done.returncode}")
    return _URL_IN_REFUSAL.sub(":", refusal)
