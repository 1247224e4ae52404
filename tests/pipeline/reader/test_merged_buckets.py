"""Plans over buckets of several lengths, which count by what they hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.errors import RecipeError, VerifyError
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.cli.trainer_plan import described
from gristmill.pipeline.reader import load_plan
from gristmill.pipeline.reader.ledger import by_cell, exposure
from tests.pipeline.reader.sized import Sized, bucket, holding, sized_dataset
from tests.pipeline.reader.test_solved_plan import write, write_rates

SHORT, MIDDLE, LONG = (0, 64), (64, 128), (128, None)
MERGED = holding(bucket("web", (0, 128), 0), {SHORT: 60e6, MIDDLE: 20e6})


def merged_plan(folder: Path, buckets: Sequence[dict[str, Any]], wanted: list[float], replay: float) -> Path:
    """A stage of 40M tokens of rows of 64, all of the domain web."""
    sized_dataset(folder / "d", Sized(64, buckets))
    rates = {"label": "prior, not ablated", "domains": {"web": 1.0}, "bounds": [64, 128]}
    write_rates(folder, rates, wanted, 64, replay=replay)
    return write(folder, [{"context": 64, "tokens": "40M", "from": "d"}], vision="none", rates="r.toml")


def test_a_merged_bucket_counts_by_what_it_holds(tmp_path: Path) -> None:
    """3 of 4 of its tokens are short: counted evenly, 0.7 of them are not to be had."""
    told = described(merged_plan(tmp_path / "new", [MERGED], [0.75, 0.25, 0.0], 0.7))
    stage = told["stages"][0]
    assert stage["replay"] == pytest.approx(0.75) and stage["missed"] == {}
    assert [(p["bucket"], p["share"]) for p in stage["sources"][0]["lengths"]] == [("<64", 0.75), ("64-128", 0.25)]
    assert [(c["bucket"], c["epochs"]) for c in told["epochs"]] == [("<64", 0.5), ("64-128", 0.5)]
    plan = load_plan(tmp_path / "new" / "plan.yaml")
    cells = by_cell(exposure(plan, plan.rows))
    assert cells["web", "<64"]["tokens"] == 30_000_000 and cells["web", "64-128"]["tokens"] == 10_000_000
    seen = by_cell(exposure(plan, 1001))
    assert sum(c["rows"] for c in seen.values()) == 1001 and abs(seen["web", "<64"]["rows"] - 750.75) < 1

    earlier = {k: v for k, v in MERGED.items() if k != "lengths"}
    with pytest.raises(RecipeError, match=r"replay, bucket <64: 2.8e.07 tokens are needed, 2e.07"):
        load_plan(merged_plan(tmp_path / "old", [earlier], [0.75, 0.25, 0.0], 0.7))
    even = described(merged_plan(tmp_path / "even", [earlier], [0.5, 0.5, 0.0], 0.5))["stages"][0]
    assert even["replay"] == pytest.approx(0.5) and even["missed"] == {}


def test_lengths_that_come_together_are_weighed_together(tmp_path: Path) -> None:
    """MERGED alone has the middle length: 40 % of it brings 30 % of short ones along, and other short ones give way."""
    buckets = [MERGED, bucket("web", LONG, 80e6)]
    stage = described(merged_plan(tmp_path / "fits", buckets, [0.3, 0.1, 0.6], 0.3))["stages"][0]
    assert {s["bucket"]: round(s["rate"], 3) for s in stage["sources"]} == {"<128": 0.4, ">=128": 0.6}
    assert stage["missed"] == {}
    stage = described(merged_plan(tmp_path / "less", buckets, [0.1, 0.3, 0.6], 0.1))["stages"][0]
    had = {name: had for name, (_, had) in stage["missed"].items()}
    assert had["<64"] / had["64-128"] == pytest.approx(3, rel=1e-6), "what is missed is told of what is drawn"
    buckets = [bucket("web", SHORT, 20e6), holding(bucket("web", (0, 128), 0), {SHORT: 20e6, MIDDLE: 60e6})]
    stage = described(merged_plan(tmp_path / "replay", buckets, [0.5, 0.5, 0.0], 0.5))["stages"][0]
    assert stage["replay"] == pytest.approx(0.5, abs=1e-3), "replay comes first"


def test_what_lacks_is_said_and_what_is_more_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    buckets = [bucket("web", SHORT, 80e6), bucket("web", MIDDLE, 80e6)]
    assert main(["plan", str(merged_plan(tmp_path / "none", buckets, [0.5, 0.3, 0.2], 0.5))]) == 0
    told = capsys.readouterr().out
    assert "bucket >=128 has 0.00%, not 20.00%: there is no more of it\n" in told
    assert "bucket 64-128" not in told
    assert main(["plan", str(merged_plan(tmp_path / "merged", [MERGED], [0.6, 0.4, 0.0], 0.5))]) == 0
    told = capsys.readouterr().out
    assert "bucket 64-128 has 25.00%, not 40.00%: there is no more of it, or it shares rows with other lengths" in told
    assert "domain\t<64\t64-128\tall\nweb\t75.00\t25.00\t100.00" in told


def test_lengths_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    with pytest.raises(VerifyError, match="none that this version reads"):
        load_plan(merged_plan(tmp_path / "d", [MERGED | {"tokens": 9_000_000}], [0.7, 0.3, 0.0], 0.0))
