"""What the families write changes only with the domain's version."""

import json

import pytest

from gristmill.render.web.domain import WebDomain
from tests.render.golden_codes import digest, golden_file

GOLDEN = json.loads(golden_file("web").read_text(encoding="utf-8"))
DOMAIN = WebDomain()


def test_the_version_and_the_families_are_those_of_the_file() -> None:
    assert GOLDEN["version"] == DOMAIN.version, "then: python -m tests.render.golden_codes web"
    assert sorted(GOLDEN["families"]) == list(DOMAIN.families())


@pytest.mark.parametrize("family", DOMAIN.families())
def test_code_changes_only_with_the_version(family: str) -> None:
    assert GOLDEN["families"].get(family) == digest(DOMAIN, family), (
        "raise the version of web, then: python -m tests.render.golden_codes web"
    )
