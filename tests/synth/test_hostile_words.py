"""Words that once ended a proof with an error of Python's, or were read as something else: each is refused."""

import pytest

from gristmill.synth.solvers import conflicts, turns
from gristmill.synth.solvers.words import Contradiction


def test_a_date_behind_the_word_entry_is_no_number() -> None:
    records = ["Kelvama, entry 7: Zubofik has 3", "Kelvama, entry 1999-01-01: Zubofik has 3 and 4"]
    with pytest.raises(Contradiction, match="a record with names"):
        conflicts.read("which two entries of Kelvama differ", records)
    found = conflicts.read("which two entries of Kelvama differ", [records[0], "Kelvama, entry 9: Zubofik has 4"])
    assert conflicts.solve(found, -1) == ("7 and 9", (0, 1))


ASKED = "count each recipe about tunnels in Kelvama, which makes {count}: what heads numbers {ranks}"
REPLIES = [f"Kelvama, turn {n}, a recipe about tunnels, first word {w}" for n, w in enumerate(("Zubofik", "Govrisep"))]


@pytest.mark.parametrize(("count", "ranks"), [("2", "0, 1, 2 and 1"), ("2", "1, 2, 3 and 1"), ("1", "1, 1, 1 and 1")])
def test_a_rank_that_no_reply_has_is_refused(count: str, ranks: str) -> None:
    with pytest.raises(Contradiction):
        turns.solve(turns.read(ASKED.format(count=count, ranks=ranks), REPLIES), -1)


def test_a_count_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(Contradiction, match="a query with chats"):
        turns.read(ASKED.format(count="9" * 5000, ranks="1, 2, 1 and 2"), REPLIES)
    found = turns.read(ASKED.format(count="2", ranks="1, 2, 1 and 2"), REPLIES)
    assert turns.solve(found, -1) == ("Zubofik, Govrisep, Zubofik, Govrisep", (0, 1))
