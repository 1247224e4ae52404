"""Fetching a package: the real dpkg on a package built here, and an `apt-get` that hands it out (no network)."""

import os
import stat
import subprocess
from pathlib import Path
from shutil import which

import pytest

from gristmill.manifests.errors import InputError
from gristmill.pipeline.demo_fetch import Fetcher, fetch
from gristmill.pipeline.demo_sources import Package


def silent(_line: str) -> None:
    """Takes progress lines and drops them."""


APT = """#!/bin/sh
# Hands out the packages of $DEBS; before `update` it knows none, as a machine with empty lists. `update`
# also reports an archive that does not answer.
echo "$@" >> "$DEBS/calls"
for word; do last=$word; done
case " $* " in
  *" update "*) [ -e "$DEBS/down" ] || touch "$DEBS/lists"; refused="yes" ;;
esac
if [ -n "$refused" ] || { [ -e "$DEBS/down" ] && [ -e "$DEBS/lists" ]; }; then
  echo "E: Failed to fetch http://deb.example.org/x  Could not resolve host" >&2; exit 100
fi
[ -e "$DEBS/lists" ] && [ -e "$DEBS/$last.deb" ] && exec cp "$DEBS/$last.deb" .
echo "W: something harmless" >&2
echo "E: Unable to locate package $last" >&2
exit 100
"""
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root may update apt's lists")
PACKAGE = Package("notes", ("gm-notes-2", "gm-notes"), "CC0-1.0", "usr/share/notes-*")


@pytest.fixture
def debs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one package, built by the real dpkg-deb, and an apt-get that hands it out."""
    if which("dpkg-deb") is None:
        pytest.skip("dpkg-deb is not on this machine")
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "usr/share/notes-1").mkdir(parents=True)
    (tree / "usr/share/notes-1/a.txt").write_text("a")
    control = "Package: gm-notes\nVersion: 1.5-2\nArchitecture: all\nMaintainer: M <m@example.org>\n"
    (tree / "DEBIAN/control").write_text(control + "Description: notes\n")
    (tree / "DEBIAN/postinst").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tree / "DEBIAN/postinst").chmod(0o755)
    folder, tools = tmp_path / "debs", tmp_path / "tools"
    folder.mkdir()
    subprocess.run(["dpkg-deb", "--build", tree, folder / "gm-notes.deb"], check=True, capture_output=True)
    tools.mkdir()
    (tools / "apt-get").write_text(APT)
    (tools / "apt-get").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("DEBS", str(folder))
    return folder


def test_fetch_unpacks_once_and_runs_nothing(debs: Path, tmp_path: Path) -> None:
    (debs / "lists").touch()
    for _ in range(2):
        source = fetch(PACKAGE, Fetcher(tmp_path / "cache", silent))
        assert (source.root / "a.txt").read_text() == "a"
        assert source.origin == "gm-notes 1.5-2"
    calls = (debs / "calls").read_text().splitlines()
    assert [call.split()[-1] for call in calls] == ["gm-notes-2", "gm-notes"]
    assert not (tmp_path / "ran").exists()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["notes"]


@root_only
def test_fetch_updates_empty_lists_once(debs: Path, tmp_path: Path) -> None:
    fetcher = Fetcher(tmp_path / "cache", silent)
    assert fetch(PACKAGE, fetcher).version == "1.5-2"
    with pytest.raises(InputError, match="Unable to locate package gm-other"):
        fetch(Package("other", ("gm-other",), "", "usr"), fetcher)
    calls = (debs / "calls").read_text()
    assert calls.count(" update") == 1


@pytest.mark.parametrize("has_lists", [True, pytest.param(False, marks=root_only)])
def test_fetch_says_why_and_asks_once_without_a_network(debs: Path, tmp_path: Path, has_lists: bool) -> None:
    (debs / "down").touch()
    if has_lists:
        (debs / "lists").touch()
    fetcher = Fetcher(tmp_path / "cache", silent)
    for package in (PACKAGE, PACKAGE, Package("other", ("gm-other",), "", "usr")):
        with pytest.raises(InputError, match="Failed to fetch: Could not resolve host"):
            fetch(package, fetcher)
    downloads = [call for call in (debs / "calls").read_text().splitlines() if "download" in call]
    assert len(downloads) <= 2 * len(PACKAGE.names)  # once, and again after an update where that is allowed
    assert not [call for call in downloads if "gm-other" in call]
    assert list((tmp_path / "cache").iterdir()) == []


def test_fetch_replaces_a_damaged_copy(debs: Path, tmp_path: Path) -> None:
    (debs / "lists").touch()
    home = tmp_path / "cache/notes"
    (home / "root/usr/share/notes-0").mkdir(parents=True)
    (home / "origin.json").write_text('{"package": "../../etc", "version": "1"}')
    assert fetch(PACKAGE, Fetcher(tmp_path / "cache", silent)).package == "gm-notes"


def test_package_without_the_expected_folder_is_an_error(debs: Path, tmp_path: Path) -> None:
    (debs / "lists").touch()
    odd = Package("odd", ("gm-notes",), "CC0-1.0", "usr/share/elsewhere")
    with pytest.raises(InputError, match="expected folder"):
        fetch(odd, Fetcher(tmp_path / "cache", silent))
