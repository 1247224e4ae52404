"""The scorers that a training can make or take: fastText, a head over embeddings, or one that is calibrated only."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gristmill.manifests.errors import InputError, UsageError
from gristmill.pipeline.classifier.fit import POSITIVE_LABEL, fit_fasttext, fit_head
from gristmill.pipeline.classifier.split import Labelled
from gristmill.stages.protocol import Floats
from gristmill.stages.quality import fasttext_scorer, onnx_scorer
from gristmill.stages.quality.adapters import as_scorer, embeddings
from gristmill.stages.quality.features import FEATURES_VERSION
from gristmill.stages.quality.model import PYTHON_KIND
from gristmill.stages.quality.scorer import Scorer, load_scorer
from gristmill.stages.user_code import load_object

if TYPE_CHECKING:
    from gristmill.pipeline.classifier.train import TrainOptions

FASTTEXT = "fasttext"
ONNX_SETTINGS = "scorer.json"

_USER_MARK = ".py:"
_FASTTEXT_SUFFIXES = (".bin", ".ftz")
_ENCODED_WINDOWS = 64


@dataclass(frozen=True)
class Trained:
    """A scorer, and what the model file holds of it."""

    kind: str
    scorer: Scorer
    settings: Mapping[str, Any]
    members: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])


def train_scorer(scorer: str, rows: Sequence[Labelled], options: "TrainOptions") -> Trained:
    """What `--scorer` names, fitted on the rows where there is something to fit. Raises UsageError, InputError."""
    if scorer == FASTTEXT:
        model = fit_fasttext(rows, options.params, options.seed)
        settings = {"label": POSITIVE_LABEL, "features": FEATURES_VERSION}
        return _of_members(FASTTEXT, {fasttext_scorer.MEMBER: model}, settings, asdict(options.params))
    if _USER_MARK in scorer:
        return _own_code(scorer, rows)
    path = Path(scorer)
    if path.suffix in _FASTTEXT_SUFFIXES:
        if not options.label:
            raise UsageError("which label is good", "--label", None, "for instance --label __label__hq")
        settings = {"label": options.label, "features": fasttext_scorer.FOREIGN_FEATURES}
        return _of_members(FASTTEXT, {fasttext_scorer.MEMBER: _bytes(path)}, settings, {})
    if path.is_dir():
        return _onnx(path, rows)
    remedy = "fasttext, FILE.bin, FILE.ftz, FILE.py:NAME or a folder with model.onnx and tokenizer.json"
    raise UsageError("no such scorer", "--scorer", scorer, remedy)


def _of_members(
    kind: str, members: Mapping[str, bytes], settings: Mapping[str, Any], params: Mapping[str, Any]
) -> Trained:
    return Trained(kind, load_scorer(kind, members, settings, "--scorer"), settings, members, params)


def _own_code(scorer: str, rows: Sequence[Labelled]) -> Trained:
    path, _, name = scorer.rpartition(":")
    found, digest = load_object(Path(path), name)
    encode = getattr(found, "encode", None)
    head = None
    if callable(encode) and not callable(getattr(found, "score", None)):
        head = _head(lambda texts: embeddings(encode, texts), rows)
    settings = {"code": digest, "object": name, **({"head": head} if head else {})}
    params = {"scorer": f"{Path(path).name}:{name}"}
    return Trained(PYTHON_KIND, as_scorer(found, f"{digest}:{name}", head), settings, {}, params)


def _onnx(folder: Path, rows: Sequence[Labelled]) -> Trained:
    """An ONNX model; with `pooling` and no head, in its `scorer.json`, a head is fitted."""
    members = {name: _bytes(folder / name) for name in (onnx_scorer.MODEL, onnx_scorer.TOKENIZER)}
    settings: dict[str, Any] = {}
    if (folder / ONNX_SETTINGS).is_file():
        try:
            settings = json.loads(_bytes(folder / ONNX_SETTINGS))
        except ValueError as error:
            raise InputError(
                "not JSON", str(folder / ONNX_SETTINGS), error, "see stages/quality/onnx_scorer"
            ) from error
    if settings.get("pooling", "none") != "none" and not settings.get("head"):
        encoder = onnx_scorer.load(members, settings)
        settings["head"] = _head(lambda texts: np.nan_to_num(encoder.encode(texts)), rows)
    return _of_members("onnx", members, settings, {k: v for k, v in settings.items() if k != "head"})


def _head(encode: Any, rows: Sequence[Labelled]) -> dict[str, object]:
    windows = [(window, row.positive) for row in rows for window in row.document.windows]
    parts: list[Floats] = [
        encode([window for window, _ in windows[at : at + _ENCODED_WINDOWS]])
        for at in range(0, len(windows), _ENCODED_WINDOWS)
    ]
    return fit_head(np.concatenate(parts), np.array([float(positive) for _, positive in windows]))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError("cannot be read", str(path), error.strerror, "name a file that you may read") from error
