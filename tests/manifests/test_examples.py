"""The committed sample run is sound and can be looked at before anybody has run anything."""

from pathlib import Path

from gristmill.manifests.listing import list_output
from gristmill.manifests.trace import trace
from gristmill.manifests.verify import verify

EXAMPLE = Path(__file__).parents[2] / "manifests" / "examples" / "novel"


def test_the_sample_run_is_sound() -> None:
    report = verify(EXAMPLE, deep=True)
    assert report.faults == []
    assert len(report.datasets) == 4 and report.pending == []


def test_it_shows_every_kind_of_fate() -> None:
    listed = {d["name"]: d for d in list_output(EXAMPLE)["datasets"]}
    reasons = {r for d in listed.values() for s in d["steps"] for r in s["reasons"]}
    assert reasons == {"bad_json", "language_unsure", "exact_duplicate", "holdout"}
    gone = trace(EXAMPLE, "sheppard-07").events[-1]
    assert (gone.step, gone.reason) in {("exact_dedup", "exact_duplicate"), ("emit", None)}
