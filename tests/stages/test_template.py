"""How to test a new filter: copy this file, put your filter in place of `shouting`. The laws test the rest."""

import pytest

from gristmill.stages import doc_filter
from tests.stages.verdicts import reason_of


@doc_filter(drop_above={"upper_frac": 0.3})
def shouting(text: str) -> dict[str, float]:
    """Documents written mostly in capitals."""
    letters = [c for c in text if c.isalpha()]
    return {"upper_frac": sum(c.isupper() for c in letters) / max(len(letters), 1)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Read the manual.", None),  # what must stay
        ("BUY NOW", "upper_frac_above"),  # what must go
        ("ABCdefghij", None),  # just at the limit
        ("", None),  # nothing at all
    ],
)
def test_shouting(text: str, reason: str | None) -> None:
    assert reason_of(shouting, text) == reason
