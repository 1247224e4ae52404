"""Training of the arms, one after the other, with the same weights to begin with and the same steps.

A step takes the next `rows` sequences in the order of the file. It ends when all sequences were seen, or the time box
of the arm is used up (compilation is not counted); the rate follows a cosine over the sequences of the file, so that
arms are comparable only where none was cut short: `done` in the result says so. `ARM.checkpoint.pt` is written every
minute, and an arm goes on from it; `ARM.weights.pt` is what evaluation reads, and an arm that has it is skipped.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import cos, pi
from pathlib import Path
from typing import Any

import numpy as np

from gristmill.manifests.errors import InputError
from gristmill.synth.experiment import model
from gristmill.synth.experiment.model import torch
from gristmill.synth.experiment.settings import CONTEXT, KIND_WEIGHTS, KINDS, SHORT, Arm, Shape, Training

LOG_EVERY = 50
FLOOR = 0.05
"""What the rate ends at, of its highest."""
POLL_SECONDS = 0.5
Say = Callable[[str], None]


@dataclass
class Run:
    """What moves while an arm is trained."""

    weights: dict[str, Any]
    optimizer: Any
    step: int = 0
    seconds: float = 0.0
    log: list[dict[str, float]] | None = None


def train(
    folder: Path, arms: Sequence[Arm], shape: Shape, training: Training, seed: int, device: str, wait: float, say: Say
) -> None:
    """Train `arms` in `folder`, where `sequences.make` left (or leaves, within `wait` seconds) what they read."""
    place = model.need_torch(device)
    torch.set_float32_matmul_precision("high")
    weights = model.new_weights(shape, seed, place)
    start = {name: w.detach().clone() for name, w in weights.items()}
    step = _step_function(shape, place)
    for arm in arms:
        if (folder / f"{arm}.weights.pt").exists():
            say(f"{arm}: trained already")
            continue
        ids, kinds = _read(folder, arm, wait)
        with torch.no_grad():
            for name, w in weights.items():
                w.copy_(start[name])
        _train_arm(folder, arm, shape, training, (ids, kinds), weights, step, say)


def _read(folder: Path, arm: Arm, wait: float) -> tuple[Any, Any]:
    path, until = folder / f"{arm}.kinds.npy", time.monotonic() + wait
    while not path.exists() and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
    if not path.exists():
        raise InputError("no sequences of this arm", str(path), arm, "run `make` first, with this arm")
    return np.load(folder / f"{arm}.ids.npy", mmap_mode="r"), np.load(path, mmap_mode="r")


def _step_function(shape: Shape, device: Any) -> Callable[[dict[str, Any], Any, Any], tuple[Any, Any]]:
    """Loss and share of first answer tokens that are the best guess, of ids and kinds [rows, CONTEXT]."""
    turns = {tokens: model.rotations(shape, tokens, device) for tokens in (SHORT, CONTEXT)}
    weight_of = torch.tensor(KIND_WEIGHTS, device=device)
    first = KINDS.index("first")

    def loss(weights: dict[str, Any], ids: Any, kinds: Any) -> tuple[Any, Any]:
        with torch.autocast(device.type, torch.bfloat16):
            scores = model.logits(weights, model.forward(weights, ids, turns[ids.shape[1]], shape))[:, :-1]
        wanted, kind = ids[:, 1:].reshape(-1), kinds[:, 1:].reshape(-1)
        scores = scores.reshape(len(wanted), -1)
        each = torch.nn.functional.cross_entropy(scores.float(), wanted, reduction="none")
        weight = weight_of[kind]
        is_first = kind == first
        hits = ((scores.argmax(-1) == wanted) & is_first).sum() / is_first.sum().clamp(min=1)
        text = (kind == KINDS.index("text")).float()
        return (each * weight).sum() / weight.sum(), torch.stack((hits, (each * text).sum() / text.sum()))

    return torch.compile(loss, dynamic=False) if device.type == "cuda" else loss


def _optimizer(weights: dict[str, Any], training: Training) -> Any:
    matrices = [w for name, w in weights.items() if w.ndim == 2 and name != "embed"]
    others = [w for name, w in weights.items() if w.ndim != 2 or name == "embed"]
    groups = [{"params": matrices, "weight_decay": training.decay}, {"params": others, "weight_decay": 0.0}]
    fused = {"fused": True} if matrices[0].is_cuda else {}
    return torch.optim.AdamW(groups, lr=training.rate, betas=(0.9, 0.95), **fused)


def rate_at(step: int, steps: int, training: Training) -> float:
    """A straight rise, then a cosine down to FLOOR of the highest rate."""
    if step < training.warm_steps:
        return training.rate * (step + 1) / training.warm_steps
    done = (step - training.warm_steps) / max(steps - training.warm_steps, 1)
    return training.rate * (FLOOR + (1 - FLOOR) * (1 + cos(pi * min(done, 1))) / 2)


def _train_arm(
    folder: Path,
    arm: Arm,
    shape: Shape,
    training: Training,
    data: tuple[Any, Any],
    weights: dict[str, Any],
    step: Callable[[dict[str, Any], Any, Any], tuple[Any, Any]],
    say: Say,
) -> None:
    run = Run(weights, _optimizer(weights, training), log=[])
    kept = folder / f"{arm}.checkpoint.pt"
    _resume(kept, run)
    device, steps = weights["embed"].device, len(data[0]) // training.rows
    for tokens in (SHORT, CONTEXT):
        _compiled(step, weights, _batch(data, 0, training.rows, tokens, device))
    begun, saved = time.monotonic() - run.seconds, time.monotonic()
    while run.step < steps and run.seconds < training.minutes * 60:
        for group in run.optimizer.param_groups:
            group["lr"] = rate_at(run.step, steps, training)
        tokens = SHORT if run.step < training.short * steps else CONTEXT
        loss, seen = step(weights, *_batch(data, run.step * training.rows, training.rows, tokens, device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(weights.values()), 1.0)
        run.optimizer.step()
        run.optimizer.zero_grad(set_to_none=True)
        run.step += 1
        if run.step % LOG_EVERY == 0 or run.step == steps:
            _log(arm, run, steps, (float(loss.detach()), *map(float, seen.detach())), training, say)
        run.seconds = time.monotonic() - begun
        if time.monotonic() - saved > training.checkpoint_seconds:
            keep(kept, run)
            saved = time.monotonic()
    _finish(folder, arm, shape, training, run, steps)


def _batch(data: tuple[Any, Any], first: int, rows: int, tokens: int, device: Any) -> tuple[Any, Any]:
    """Ids and kinds of some sequences, as windows of `tokens`."""
    found = (a[first : first + rows].astype(np.int64).reshape(-1, tokens) for a in data)
    ids, kinds = (torch.from_numpy(a).to(device, non_blocking=True) for a in found)
    return ids, kinds


def _compiled(step: Callable[..., tuple[Any, Any]], weights: dict[str, Any], batch: tuple[Any, Any]) -> None:
    """One step whose gradients are thrown away, so that the time box holds no compilation."""
    step(weights, *batch)[0].backward()
    for w in weights.values():
        w.grad = None
    if batch[0].is_cuda:
        torch.cuda.synchronize()


def _log(arm: Arm, run: Run, steps: int, seen: tuple[float, ...], training: Training, say: Say) -> None:
    entry = {"step": run.step, "seconds": round(run.seconds, 1), "loss": seen[0], "first": seen[1], "text": seen[2]}
    speed = run.step * training.rows * CONTEXT / max(run.seconds, 1e-9)
    if run.log is not None:
        run.log.append({name: round(value, 4) for name, value in entry.items()})
    told = f"{arm} {run.step}/{steps} {run.seconds:.0f} s {speed / 1e6:.2f} Mtok/s"
    say(f"{told} loss {seen[0]:.3f} text {seen[2]:.3f} answers {seen[1]:.3f}")


def keep(path: Path, run: Run) -> None:
    """Write what the arm can go on from."""
    state = {
        "weights": {name: w.detach() for name, w in run.weights.items()},
        "optimizer": run.optimizer.state_dict(),
        "step": run.step,
        "seconds": run.seconds,
        "log": run.log,
    }
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def _resume(path: Path, run: Run) -> None:
    if not path.exists():
        return
    state = torch.load(path, map_location=run.weights["embed"].device)
    with torch.no_grad():
        for name, w in run.weights.items():
            w.copy_(state["weights"][name])
    run.optimizer.load_state_dict(state["optimizer"])
    run.step, run.seconds, run.log = state["step"], state["seconds"], state["log"]


def _finish(folder: Path, arm: Arm, shape: Shape, training: Training, run: Run, steps: int) -> None:
    told = {
        "arm": arm,
        "shape": asdict(shape),
        "parameters": model.parameters(run.weights),
        "training": asdict(training),
        "steps": run.step,
        "tokens": run.step * training.rows * CONTEXT,
        "seconds": round(run.seconds, 1),
        "done": run.step == steps,
        "log": run.log,
    }
    (folder / f"{arm}.training.json").write_text(json.dumps(told) + "\n")
    path = folder / f"{arm}.weights.pt"
    torch.save({name: w.detach().cpu() for name, w in run.weights.items()}, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)
    (folder / f"{arm}.checkpoint.pt").unlink(missing_ok=True)
