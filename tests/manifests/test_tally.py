"""The books notice every imbalance."""

import pytest

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.tally import (
    StepTallies,
    Tally,
    check_balance,
    merge_tallies,
    step_tallies_from_json,
    step_tallies_to_json,
    total_of,
)


def balanced() -> Tally:
    tally = Tally(records_in=5, kept=3, chars_in=50, chars_kept=30, chars_gone=15)
    tally.gone("drop", "short", 1)
    tally.gone("quarantine", "odd", 1)
    tally.cut("markup", 5)
    return tally


def test_balanced_books_pass() -> None:
    balanced().balance("x")


@pytest.mark.parametrize("field", ["records_in", "kept", "dropped", "quarantined", "derived", "chars_in", "chars_kept"])
def test_one_record_or_character_too_many_is_noticed(field: str) -> None:
    tally = balanced()
    setattr(tally, field, getattr(tally, field) + 1)
    with pytest.raises(VerifyError, match=r"x: .*(balance|add up)"):
        tally.balance("x")


def test_records_lost_between_steps_are_noticed() -> None:
    after = Tally(records_in=2, kept=2)
    with pytest.raises(VerifyError, match="lost between two steps"):
        check_balance({"a": {"s": balanced()}, "b": {"s": after}}, "d")


def test_tallies_add_up_and_survive_json() -> None:
    one: StepTallies = {"a": {"s": balanced(), "t": balanced()}}
    both = merge_tallies([one, step_tallies_from_json(step_tallies_to_json(one))])
    assert total_of(both["a"]).records_in == 20
    assert total_of(both["a"]).reasons == {"short": 4, "odd": 4}
    check_balance(both, "d")
