"""The stage `render_split`: pairs of other splits go, their forms with them, and nothing else."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.render.record import SPLITS as MADE
from gristmill.stages.chain import run_chain
from gristmill.stages.vision.render_forms import RenderForms
from gristmill.stages.vision.render_split import SPLITS, RenderSplit
from tests.stages.vision.scenes import batch_of, pair

PAIRS = [pair(seed) for seed in range(15)]


def split_of(row: dict[str, Any]) -> str:
    return json.loads(row["meta"])["render"]["split"]


def test_the_splits_are_those_that_records_have() -> None:
    assert list(SPLITS) == list(MADE)


@pytest.mark.parametrize("keep", [("train",), ("validation", "test"), SPLITS])
def test_pairs_of_other_splits_go(keep: tuple[Any, ...]) -> None:
    result = run_chain([RenderSplit(keep)], batch_of(PAIRS))
    assert result.kept.column("id").to_pylist() == [p["id"] for p in PAIRS if split_of(p) in keep]
    assert Counter(f.detail for f in result.fates) == Counter(split_of(p) for p in PAIRS if split_of(p) not in keep)
    assert {(f.verdict, f.reason) for f in result.fates} <= {("drop", "other_split")}


def test_forms_go_with_their_pair_wherever_the_step_stands() -> None:
    before = run_chain([RenderSplit(), RenderForms()], batch_of(PAIRS)).kept.to_pylist()
    behind = run_chain([RenderForms(), RenderSplit()], batch_of(PAIRS)).kept.to_pylist()
    assert before == behind and {row["derivation"] for row in behind} == {None, "form"}
    assert {split_of(row) for row in behind} == {"train"}


def test_what_is_no_pair_stays() -> None:
    plain = [pair(n) | {"meta": meta} for n, meta in enumerate((None, "", "{}", '{"split": "test"}', '"render"'))]
    assert run_chain([RenderSplit()], batch_of(plain)).fates == []


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists) | st.just({"test": 1}))
def test_a_pair_of_no_split_or_a_strange_one_goes(split: object) -> None:
    if split in SPLITS:
        return
    told: list[dict[str, object]] = [{"render": {"split": split}}, {"render": {}}]
    rows = [pair(n) | {"meta": json.dumps(meta)} for n, meta in enumerate(told)]
    assert [f.reason for f in run_chain([RenderSplit()], batch_of(rows)).fates] == ["no_split", "no_split"]


@pytest.mark.parametrize("keep", [(), ("train", "train")])
def test_wrong_parameters(keep: tuple[Any, ...]) -> None:
    with pytest.raises(UsageError, match=r"render_split\.keep"):
        RenderSplit(keep)
