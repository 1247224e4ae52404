"""Another plan goes on where a run was: no row comes again before its epoch is over, and caps count what was read."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.errors import RecipeError, UsageError
from gristmill.pipeline.reader import TokenStream, load_plan
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from gristmill.pipeline.reader.state import sealed_state
from tests.pipeline.reader.test_stream import QUIET, SHORT, out, plan_file

__all__ = ["out"]


def one_stage(rate: float, tokens: int, **more: Any) -> dict[str, Any]:
    return {"stages": [{"context": 64, "tokens": tokens, "mix": {"a64": rate, "b64": 1 - rate}, **more}]}


def read(stream: TokenStream, batches: int) -> Counter[tuple[str, int]]:
    """How often each row of each dataset came in so many batches."""
    found: Counter[tuple[str, int]] = Counter()
    made = iter(stream)
    for _ in range(batches):
        if (batch := next(made, None)) is None:
            break
        found.update(zip(batch.source, batch.row.tolist(), strict=True))
    return found


def stopped(out: Path, batches: int) -> tuple[Counter[tuple[str, int]], dict[str, Any]]:
    stream = TokenStream(plan_file(out, **one_stage(0.7, 64 * 60)), global_batch=4, options=QUIET)
    return read(stream, batches), json.loads(json.dumps(stream.state_dict()))


@pytest.mark.parametrize("batches", [1, 5, 9])
def test_changed_rates_go_on_with_rows_that_were_not_read(out: Path, batches: int) -> None:
    """Megatron-LM#457, #725: a change of weights lost and repeated samples."""
    before, state = stopped(out, batches)
    changed = plan_file(out, **one_stage(0.4, 64 * 40))
    stream = TokenStream(changed, global_batch=4, options=QUIET)
    with pytest.raises(UsageError, match=r"another plan.*rebase"):
        stream.load_state_dict(state)
    stream.load_state_dict(state, rebase=True)
    assert stream.next == 0 and stream.base == {
        n: sum(c for (d, _), c in before.items() if d == n) for n in stream.base
    }
    after = read(stream, 100)
    assert max((before + after).values()) == 1, "less than an epoch of each: no row twice"
    for name in ("a64", "b64"):
        mine = sum(count for (dataset, _), count in (before + after).items() if dataset == name)
        assert mine == stream.state_dict()["drawn"][name]


def test_a_rebased_run_is_resumed_and_rebased_again(out: Path) -> None:
    before, state = stopped(out, 5)
    changed = plan_file(out, **one_stage(0.4, 64 * 40))
    whole = TokenStream(changed, global_batch=4, options=QUIET)
    whole.load_state_dict(state, rebase=True)
    expected = [b.row.tolist() for b in whole]
    broken = TokenStream(changed, global_batch=4, options=QUIET)
    broken.load_state_dict(state, rebase=True)
    first = [b.row.tolist() for _, b in zip(range(4), broken, strict=False)]
    middle = json.loads(json.dumps(broken.state_dict()))
    for rebase in (False, True):
        again = TokenStream(changed, global_batch=4, options=QUIET)
        again.load_state_dict(middle, rebase=rebase)
        assert again.state_dict() == middle
        assert first + [b.row.tolist() for b in again] == expected
    third = TokenStream(plan_file(out, **one_stage(0.5, 64 * 12)), options=QUIET)
    third.load_state_dict(middle, rebase=True)
    assert dict(third.base) == middle["drawn"]
    again = TokenStream(changed, global_batch=4, options=QUIET)
    again.load_state_dict(state, rebase=True)
    assert max((before + read(again, 4) + read(third, 12)).values()) == 1


def test_a_stage_that_begins_anew_is_not_shifted(out: Path) -> None:
    _, state = stopped(out, 5)
    plain = TokenStream(plan_file(out, **one_stage(0.4, 64 * 40)), global_batch=4, options=QUIET)
    rows = [b.row.tolist() for b in plain]
    anew = TokenStream(plan_file(out, **one_stage(0.4, 64 * 40, carry="restart")), global_batch=4, options=QUIET)
    anew.load_state_dict(state, rebase=True)
    assert [b.row.tolist() for b in anew] == rows


def test_caps_count_what_was_read_before(out: Path) -> None:
    rows = RowsDataset.open(out / "b64").rows
    stages = {"stages": [{"context": 64, "tokens": 64 * 3 * rows, "mix": {"b64": 1.0}}]}
    stream = TokenStream(plan_file(out, **stages), options=SHORT)
    stream.next = stream.plan.rows
    state = stream.state_dict()
    more = {"stages": [{"context": 64, "tokens": 64 * 2 * rows, "mix": {"b64": 1.0}}]}
    again = TokenStream(plan_file(out, **more), options=SHORT)
    with pytest.raises(RecipeError, match=r"5\.00 times, 4 are allowed"):
        again.load_state_dict(state, rebase=True)


def test_counters_of_other_data_are_not_believed(out: Path) -> None:
    _, state = stopped(out, 5)
    stream = TokenStream(plan_file(out, **one_stage(0.4, 64 * 40)), options=QUIET)
    state["manifests"]["b64"] = "blake3:other"
    stream.load_state_dict(sealed_state(state), rebase=True)
    assert set(stream.base) == {"a64"}
    state["manifests"] = {}
    with pytest.raises(UsageError, match="none of the state's sources"):
        stream.load_state_dict(sealed_state(state), rebase=True)


def test_a_state_of_the_same_plan_goes_on_in_it(out: Path) -> None:
    plan = load_plan(plan_file(out))
    stream = TokenStream(plan, global_batch=4, options=QUIET)
    read(stream, 7)
    state = stream.state_dict()
    again = TokenStream(plan, global_batch=4, options=QUIET)
    again.load_state_dict(state, rebase=True)
    assert again.next == stream.next and not again.base


def test_a_source_that_a_plan_in_between_does_not_read_keeps_its_place(out: Path) -> None:
    before, state = stopped(out, 5)
    between = TokenStream(
        plan_file(out, stages=[{"context": 64, "tokens": 64 * 8, "mix": {"a64": 1.0}}]), options=QUIET
    )
    between.load_state_dict(state, rebase=True)
    middle = read(between, 8)
    last = TokenStream(plan_file(out, **one_stage(0.4, 64 * 40)), options=QUIET)
    last.load_state_dict(json.loads(json.dumps(between.state_dict())), rebase=True)
    assert max((before + middle + read(last, 40)).values()) == 1
