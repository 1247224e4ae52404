"""Fitting what is fitted on the training part: a fastText model, or a linear head over an encoder."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from blake3 import blake3

from gristmill.manifests.errors import EngineLostError, UsageError
from gristmill.pipeline.classifier.fit_child import END, EXIT_NO_ROOM
from gristmill.pipeline.classifier.split import Labelled
from gristmill.stages.protocol import Floats
from gristmill.stages.quality.calibration import logistic
from gristmill.stages.quality.features import normalised

POSITIVE_LABEL = "__label__positive"
NEGATIVE_LABEL = "__label__negative"

TRAINED_WINDOWS = 4
"""Windows of a document that fastText is trained with: half the time, and a long document weighs no more than four."""

_CHILD = "gristmill.pipeline.classifier.fit_child"
# glibc then fills what it allocates with 255 xor 255, which is zero; see fit_child.
_ZEROED_MEMORY = {"MALLOC_PERTURB_": "255"}
_NEWTON_STEPS = 50


@dataclass(frozen=True)
class FastTextParams:
    """What fastText is trained with. Size of the model: about `max_features * (dim / 2 + 1)` bytes and its words."""

    dim: int = 16
    word_ngrams: int = 2
    bucket: int = 1 << 19
    epochs: int = 10
    lr: float = 0.5
    min_count: int = 2
    max_features: int = 50_000


def fit_fasttext(rows: Sequence[Labelled], params: FastTextParams, seed: int) -> bytes:
    """The model's bytes: the same for the same documents, parameters and build of fastText."""
    with tempfile.TemporaryDirectory(prefix="gristmill-classifier-") as folder:
        lines, job, out = Path(folder, "lines.txt"), Path(folder, "job.json"), Path(folder, "model")
        lines.write_text("".join(_training_lines(rows, seed)), encoding="utf-8")
        job.write_text(json.dumps({**asdict(params), "lines": str(lines), "out": str(out)}), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", _CHILD, str(job)],
            env={**os.environ, **_ZEROED_MEMORY},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        model = out.read_bytes() if out.is_file() else b""
        if done.returncode == EXIT_NO_ROOM:
            raise EngineLostError("no space left for the model", folder, None, "make room, or name another TMPDIR")
        if done.returncode < 0:
            name = signal.Signals(-done.returncode).name
            raise EngineLostError("the process that trains was killed", "classifier", name, "see that memory suffices")
        if done.returncode != 0 or not model.endswith(END):
            complaint = done.stderr.strip().rpartition("\n")[2] or f"exit code {done.returncode}"
            raise UsageError("fastText cannot train", "classifier", complaint, "try a lower --lr, or more documents")
        return model.removesuffix(END)


def fit_head(embeddings: Floats, positive: Floats, ridge: float = 1.0) -> dict[str, object]:
    """Weights and bias of a logistic regression with penalty `ridge / 2 * |weights|^2`, by Newton's method."""
    design = np.hstack([embeddings, np.ones((len(embeddings), 1))])
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = 1e-6
    params = np.zeros(design.shape[1])
    for _ in range(_NEWTON_STEPS):
        p = logistic(design @ params)
        gradient = design.T @ (p - positive) + penalty * params
        hessian = (design * (p * (1 - p))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        params = params - step
        if np.abs(step).max() < 1e-8:
            break
    return {"weights": [float(w) for w in params[:-1]], "bias": float(params[-1])}


def _some(windows: Sequence[str]) -> Sequence[str]:
    """At most TRAINED_WINDOWS of a document's windows, evenly spaced, the first and the last among them."""
    last = len(windows) - 1
    if last < TRAINED_WINDOWS:
        return windows
    return [windows[index * last // (TRAINED_WINDOWS - 1)] for index in range(TRAINED_WINDOWS)]


def _training_lines(rows: Sequence[Labelled], seed: int) -> Iterator[str]:
    """A line for each of some windows of each document, in an order drawn by content, since fastText takes
    them as they come."""
    windows = [(row, index, window) for row in rows for index, window in enumerate(_some(row.document.windows))]
    windows.sort(key=lambda one: blake3(f"{seed}\0{one[1]}\0".encode() + one[0].document.digest).digest(16))
    for (row, _, _), line in zip(windows, normalised([window for _, _, window in windows]), strict=True):
        if line:
            yield f"{POSITIVE_LABEL if row.positive else NEGATIVE_LABEL} {line}\n"
