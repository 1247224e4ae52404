"""Rates as they are written, and what stands in for them."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import RecipeError, UsageError
from gristmill.pipeline.curriculum import PRIOR, load_rates, unimax, value_of_epochs, value_of_next_epoch
from gristmill.pipeline.curriculum.rates import rates_of
from tests.pipeline.curriculum import published

DEFAULT = (files("gristmill.pipeline.curriculum") / "rates.toml").read_text(encoding="utf-8")


def test_the_default_says_that_it_is_a_prior(tmp_path: Path) -> None:
    rates = load_rates("default", tmp_path)
    assert rates.label == PRIOR == "prior, not ablated"
    assert [s.name for s in rates.stages] == list(published.NAMES)
    assert tuple(s.context for s in rates.stages) == published.CONTEXTS
    assert tuple(tuple(s.buckets) for s in rates.stages) == published.BUCKETS
    assert [round(s.synth_share, 3) for s in rates.stages] == [0.0, 0.12, 0.24, 0.39]
    assert (rates.cap("web"), rates.cap("anything")) == (4.0, 4.0)


def test_a_file_is_read_and_any_change_of_it_is_another_digest(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        DEFAULT.replace("web = 0.50", "web = 0.48").replace("code = 0.22", "code = 0.24")
    )
    own = load_rates("own.toml", tmp_path)
    assert isinstance(own.domains, dict) and own.domains["web"] == 0.48
    assert own.digest != load_rates("default", tmp_path).digest


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('label = "prior, not ablated"', 'label = "trust me"', "label"),
        ('label = "prior, not ablated"', 'label = "aligned"', "evidence"),
        ('label = "prior, not ablated"', "", "label"),
        ("web = 0.50", "web = 0.51", "domains: must add up to 1, not 1.01"),
        ("web = 0.50", 'web = "0.50"', "domains.*web"),
        ("web = 0.50", "web = true", "domains.*web"),
        ("default = 4.0", "most = 4.0", "caps has no `default`"),
        ("default = 4.0", "default = 0", "caps.default"),
        ("default = 4.0", "default = inf", "caps.default"),
        ("0.70, 0.17", "0.60, 0.17", "stages.0.buckets: must add up to 1"),
        ("0.70, 0.17, 0.10, 0.025, 0.005", "0.70, 0.30", "P1 has 2 buckets, not 5"),
        ("replay = 0.0 ", "replai = 0.0 ", "stages.0.replai"),
        ("synthesised = 0.65", "synthesised = 1.65", "stages.3.synthesised"),
        ("replay = 0.40", "replay = 0.50", "stages.1: replay 0.5 is more than the first bucket's target 0.4"),
        ('name = "P2"', 'name = "P1"', "two stages bear one name"),
        ("bounds = [8192, 32768", "bounds = [32768, 8192", "bounds: must rise"),
        ("[domains]", "[domains", "is no TOML"),
    ],
)
def test_what_is_written_wrongly_is_refused_with_its_key(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in DEFAULT
    (tmp_path / "rates.toml").write_text(DEFAULT.replace(old, new))
    with pytest.raises(RecipeError, match=told) as caught:
        load_rates("rates.toml", tmp_path)
    assert "rates.toml" in str(caught.value) and caught.value.remedy


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml"):
        load_rates("none.toml", tmp_path)


def test_whole_numbers_are_no_wrong_type() -> None:
    written: dict[str, Any] = tomllib.loads(DEFAULT)
    written["caps"] = {"default": 4, "web": 2}
    written["stages"][0] |= {"buckets": [1, 0, 0, 0, 0], "replay": 1, "synthesised": 0}
    assert rates_of(written, "here").cap("web") == 2.0


def test_a_stage_is_found_by_name_or_by_context() -> None:
    rates = rates_of(tomllib.loads(DEFAULT), "here")
    assert rates.stage("", 65_536, "at").name == rates.stage("P2", 65_536, "at").name == "P2"
    for name, context in (("", 4096), ("P9", 8192), ("P1", 65_536)):
        with pytest.raises(RecipeError):
            rates.stage(name, context, "at")


def test_the_value_of_epochs_is_the_published_one() -> None:
    """To the digits of the table that was worked out from the paper's constant."""
    table = {1: 1, 2: 1.97, 3: 2.88, 4: 3.73, 6: 5.27, 8: 6.63, 16: 10.6, 40: 15.2}
    for epochs, value in table.items():
        assert value_of_epochs(epochs) == pytest.approx(value, abs=0.051 if epochs > 8 else 0.006)
    for epochs, value in {2: 0.94, 3: 0.88, 4: 0.82, 6: 0.72, 8: 0.63, 16: 0.38, 40: 0.08}.items():
        assert value_of_next_epoch(epochs) == pytest.approx(value, abs=0.006)
    assert value_of_epochs(0.3) == 0.3


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=8), st.floats(0.01, 1.0), st.floats(0.5, 8))
@settings(max_examples=100, deadline=None)
def test_unimax_is_as_even_as_caps_allow(supply: list[float], part: float, cap: float) -> None:
    """Who has less than another is at its cap."""
    named = {str(i): s for i, s in enumerate(supply)}
    budget = cap * sum(supply) * part
    rates = unimax(named, budget, dict.fromkeys(named, cap))
    assert sum(rates.values()) == pytest.approx(1)
    most = max(rates.values())
    for name, rate in rates.items():
        assert rate * budget <= cap * named[name] * (1 + 1e-9)
        assert rate == pytest.approx(most) or rate * budget == pytest.approx(cap * named[name])


def test_unimax_refuses_a_budget_above_all_caps() -> None:
    with pytest.raises(ValueError, match="less than"):
        unimax({"a": 10, "b": 10}, 81, {"a": 4, "b": 4})
