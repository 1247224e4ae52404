"""The experiment on sequences of `synth` under PyTorch: its attention, going on from a checkpoint, all of it tiny."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.synth.experiment import __main__ as command
from gristmill.synth.experiment import model, training
from gristmill.synth.experiment.settings import CONTEXT, Shape, Training

torch: Any = pytest.importorskip("torch", reason="torch is one of the extras")
SMALL = Shape(layers=2, width=32, heads=2, vocabulary=64, shift=True)
CPU = torch.device("cpu")


def states(ids: Any, window: int | None) -> Any:
    weights = model.new_weights(SMALL, 1, CPU)
    return model.forward(weights, ids, model.rotations(SMALL, ids.shape[1], CPU), SMALL, window).detach()


def test_a_window_hides_what_is_farther_away() -> None:
    """By one layer: the token itself and those in front of it, window - 1 of them, and no other."""
    q, k, v = (torch.randn(2, 2, 64, 8, generator=torch.Generator().manual_seed(s)) for s in (1, 2, 3))
    place = torch.arange(64)
    gap = place[:, None] - place[None, :]
    mask = (gap >= 0) & (gap < 16)
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert torch.allclose(model.windowed(q, k, v, 16), wanted, atol=1e-5)


def test_a_window_of_everything_is_full_attention_and_nothing_looks_ahead() -> None:
    ids = torch.randint(0, 64, (2, 64), generator=torch.Generator().manual_seed(5))
    full = states(ids, None)
    assert torch.allclose(full, states(ids, 64), atol=1e-4)
    changed = ids.clone()
    changed[:, 40] = (changed[:, 40] + 1) % 64
    other = states(changed, None)
    assert torch.equal(full[:, :40], other[:, :40]) and not torch.allclose(full[:, 63], other[:, 63])


def test_training_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    """Stopped by its time box after a step and started again: the weights of a run that nothing stopped."""
    rows = np.random.default_rng(1).integers(0, 64, (2, CONTEXT))
    shape = Shape(layers=1, width=16, heads=1, vocabulary=64)
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "plain.ids.npy", rows.astype(np.uint16))
        np.save(tmp_path / name / "plain.kinds.npy", np.ones_like(rows, np.uint8))
    keep = Training(minutes=5, rows=1, checkpoint_seconds=0)
    said: list[str] = []

    def stop(path: Path, run: Any) -> None:
        kept(path, run)
        if run.step == 1:
            raise KeyboardInterrupt

    train(tmp_path / "whole", shape, keep, said)
    kept = training.keep
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(training, "keep", stop)
        train(tmp_path / "parts", shape, keep, said)
    train(tmp_path / "parts", shape, keep, said)
    first, second = (torch.load(tmp_path / name / "plain.weights.pt") for name in ("whole", "parts"))
    assert all(torch.allclose(first[name], second[name], atol=1e-6) for name in first)
    train(tmp_path / "parts", shape, keep, said)
    assert said[-1] == "plain: trained already"


def train(folder: Path, shape: Shape, settings: Training, said: list[str]) -> None:
    training.train(folder, ("plain",), shape, settings, 1, "cpu", 0.0, said.append)


def test_all_of_it_runs_tiny(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--smoke"]) == 0
    told = capsys.readouterr().out
    assert "Indicative: one seed alone" in told and "| tasks | 0.3M |" in told


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["train", "--work", str(tmp_path)]) == 2
    assert "sees no accelerator" in capsys.readouterr().err
