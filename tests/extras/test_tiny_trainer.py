"""The example really trains, across stages, and goes on bit for bit where it was stopped."""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.reader.test_stream import out, plan_file

torch: Any = pytest.importorskip("torch", reason="torch is one of the extras")
SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "tiny_trainer.py"

__all__ = ["out"]


@pytest.fixture(scope="module")
def example() -> Any:
    """The example as a module."""
    spec = spec_from_file_location("tiny_trainer", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["tiny_trainer"] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


STAGES = [
    {"context": 64, "tokens": 64 * 40, "mix": {"a64": 0.7, "b64": 0.3}},
    {"context": 256, "tokens": 256 * 24, "mix": {"b256": 1.0}},
]


def test_a_stopped_run_goes_on_bit_for_bit(out: Path, tmp_path: Path, example: Any) -> None:
    plan = plan_file(out, stages=STAGES)
    whole = example.train(plan, tmp_path / "whole", 16, 64)
    assert len(whole) == 16 and sum(whole[-4:]) < sum(whole[:4])
    for steps in (3, 9, 11, 16):  # stage 0 ends after 10
        broken = example.train(plan, tmp_path / "broken", steps, 64)
    assert broken == whole
    assert json.loads((tmp_path / "broken" / "losses.json").read_text()) == whole
    assert (tmp_path / "broken" / "loss.svg").read_text() == example.curve(whole)


def test_a_document_does_not_see_its_neighbours(example: Any) -> None:
    """nanoVLM#204, transformers#46634: packed rows that attend across documents although positions begin anew."""
    torch.manual_seed(1)
    model = example.TinyTransformer(100, 16).eval()
    tokens = torch.randint(0, 100, (1, 12))
    segments = torch.tensor([[0] * 5 + [1] * 7])
    positions = torch.tensor([[*range(5), *range(7)]])
    other = tokens.clone()
    other[0, 2] = (other[0, 2] + 1) % 100
    before, after = (model(t, positions, segments) for t in (tokens, other))
    assert torch.equal(before[0, 5:], after[0, 5:])
    assert not torch.equal(before[0, 2:5], after[0, 2:5])
    assert torch.equal(before[0, :2], after[0, :2])
