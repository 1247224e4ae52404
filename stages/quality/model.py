"""A model ready to score: scorer, windows, calibration and threshold, loaded once a process and only read.

The score of a document is the calibrated mean of the raw scores of its windows, rounded to 1e-4, so that the last bits
of a float sum decide nothing (design law 2). A document without windows scores as raw 0.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import InputError, UsageError
from gristmill.stages.protocol import Floats
from gristmill.stages.quality.adapters import as_scorer
from gristmill.stages.quality.calibration import IDENTITY, calibrated
from gristmill.stages.quality.features import Windows
from gristmill.stages.quality.model_file import ModelFile, read_model
from gristmill.stages.quality.scorer import Scorer, load_scorer
from gristmill.stages.user_code import load_object

SCORE_DECIMALS = 4
PYTHON_KIND = "python"
CODE_SUFFIX = ".py"
DEFAULT_THRESHOLD = 0.5

_CALL_WINDOWS = 256


@dataclass(frozen=True)
class Model:
    """What gives a document its score; `card` says where it comes from (empty for bare code)."""

    scorer: Scorer
    windows: Windows
    calibration: Mapping[str, Any]
    threshold: float
    card: Mapping[str, Any]

    def raw(self, text: pa.Array) -> Floats:
        """Mean raw score over the windows of each row, float64[n] in [0, 1]."""
        pieces, rows = self.windows.of(text)
        return mean_by_row(window_scores(self.scorer, pieces), rows, len(text))

    def scores(self, text: pa.Array) -> Floats:
        """Calibrated and rounded score of each row, float64[n] in [0, 1]."""
        return rounded(calibrated(self.calibration, self.raw(text)))


def rounded(probabilities: Floats) -> Floats:
    """Scores as they are stored and decided on."""
    return np.clip(np.round(probabilities, SCORE_DECIMALS), 0.0, 1.0)


def window_scores(scorer: Scorer, pieces: Sequence[str]) -> Floats:
    """Raw scores of windows, some at a time, so that memory is bounded by them."""
    parts = [scorer.score(pieces[at : at + _CALL_WINDOWS]) for at in range(0, len(pieces), _CALL_WINDOWS)]
    return np.concatenate([np.zeros(0), *parts])


def mean_by_row(scores: Floats, rows: Any, count: int) -> Floats:
    """Mean of the scores that belong to each of `count` rows; 0 for a row without any."""
    total = np.bincount(rows, weights=scores, minlength=count)
    return total / np.maximum(np.bincount(rows, minlength=count), 1)


def open_model(model: str, code: str | None = None, object_name: str = "") -> Model:
    """The model of a file: a `.gmq`, with `code` where it asks for a user's own; or a user's `.py` file.

    Raises InputError for a file that is not what it should be, UsageError where file and parameters do not fit.
    """
    stamps = [_stamp(path) for path in (model, code) if path]
    return _open(model, code, object_name, tuple(stamps))


@functools.lru_cache(maxsize=16)
def _open(model: str, code: str | None, object_name: str, _stamps: tuple[tuple[int, int], ...]) -> Model:
    if model.endswith(CODE_SUFFIX):
        if not object_name:
            raise UsageError("names no object", "stage quality.object", model, "say which: object: my_scorer")
        found, digest = load_object(Path(model), object_name)
        return Model(as_scorer(found, f"{digest}:{object_name}"), Windows(), IDENTITY, DEFAULT_THRESHOLD, {})
    file = read_model(Path(model))
    scorer = _own_code(file, model, code) if file.kind == PYTHON_KIND else _built_in(file, model, code)
    return Model(scorer, Windows(**file.windows), file.calibration, file.threshold, file.card)


def _built_in(file: ModelFile, model: str, code: str | None) -> Scorer:
    if code:
        raise UsageError("the model needs no code", "stage quality.code", code, "leave it out")
    return load_scorer(file.kind, file.members, file.settings, model)


def _own_code(file: ModelFile, model: str, code: str | None) -> Scorer:
    """The scorer of a model that was calibrated around a user's code. A model never carries code itself, so that
    nothing is run that the recipe does not name."""
    if not all(isinstance(file.settings.get(name), str) for name in ("object", "code")):
        raise InputError("names no code", model, file.kind, "calibrate it anew")
    if not code:
        remedy = f"name the file that holds {file.settings['object']}: code: ./FILE.py"
        raise UsageError("the model was made around code of yours", "stage quality.code", model, remedy)
    found, digest = load_object(Path(code), file.settings["object"])
    if digest != file.settings["code"]:
        remedy = "calibrate it anew, or give the code it was made with"
        raise InputError("the code is not what the model was calibrated with", code, digest, remedy)
    return as_scorer(found, f"{digest}:{file.settings['object']}", file.settings.get("head"))


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError as error:
        raise InputError("cannot be read", path, error.strerror, "name a file that you may read") from error
    return found.st_size, found.st_mtime_ns
