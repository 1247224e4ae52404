"""Tokenizers are loaded and documents encoded once, before the tests that are timed."""

import pytest

from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.scenes import drawing
from tests.synth.corpus import SUMS, documents, made, tokenizer


@pytest.fixture(scope="session", autouse=True)
def corpus() -> None:
    """The tokenizers, documents for all but the longest windows, and the row that most tests damage."""
    for name in ("deepseek", "bytes"):
        assert tokenizer(name).identity.name == name
    for tokens, name in ((300_000, "deepseek"), (150_003, "deepseek"), (196_608, "bytes")):
        assert documents(tokens, name)
    assert made(50_001, families=SUMS).num_rows == 1


@pytest.fixture(autouse=True)
def pictures(request: pytest.FixtureRequest) -> None:
    """Families with pictures are tried where pictures can be drawn."""
    family = getattr(request.node, "callspec", None) and request.node.callspec.params.get("family")
    found = FAMILIES.get(family, family) if isinstance(family, str) else family
    if getattr(found, "pictured", False) and drawing.absent():
        pytest.skip(f"pictures cannot be drawn: {drawing.absent()}")
