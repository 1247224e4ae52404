"""ONNX models as scorers: sequence classification, regression, or embeddings under a linear head.

Members: `model.onnx` (weights inside) and `tokenizer.json` (Hugging Face tokenizers). Settings, all with defaults:

* `max_tokens` (512): texts are cut to this many tokens; windows of 4,096 bytes mostly have more, so that each window
  is seen by its start alone unless the model file's `windows` are smaller;
* `output` (the first): name of the output that is used;
* `pooling` ("none"): `mean` over tokens or `cls`, the first, where the output is [n, tokens, d];
* `head` (none): `{weights: d numbers, bias}`; then score = logistic(pooled . weights + bias);
* without a head `activation`: `softmax` (default) or `sigmoid` of the logits, of which `positive_index` (1; 0 where
  there is one logit) counts; or `range`, which maps a regressor's [low, high] in `range` to [0, 1].

onnxruntime runs on one thread, and texts one length at a time without padding, so that a text's score does not depend
on its batch. On another processor the last bits may differ; the stage rounds them away.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from blake3 import blake3

from gristmill.manifests.canonical import canonical_json
from gristmill.manifests.errors import InputError, UsageError
from gristmill.stages.protocol import Floats
from gristmill.stages.quality.calibration import logistic

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
DEFAULTS: Mapping[str, Any] = {
    "max_tokens": 512,
    "output": None,
    "pooling": "none",
    "head": None,
    "activation": "softmax",
    "positive_index": None,
    "range": [0.0, 1.0],
}

_MAX_BATCH_TOKENS = 8192
_EXTRA = "pip install 'gristmill[onnx]'"


class OnnxScorer:
    """A model and its tokenizer from their bytes; loaded at the first call."""

    def __init__(self, model: bytes, tokenizer: bytes, settings: Mapping[str, Any]) -> None:
        unknown = sorted(set(settings) - set(DEFAULTS))
        if unknown:
            raise UsageError("unknown setting", "ONNX scorer", unknown[0], f"known are {', '.join(DEFAULTS)}")
        self._bytes = model, tokenizer
        self._settings = {**DEFAULTS, **settings}
        parts = (model, tokenizer, canonical_json(self._settings))
        self.fingerprint = f"blake3:{blake3(b''.join(blake3(part).digest() for part in parts)).hexdigest()}"

    def score(self, texts: Sequence[str]) -> Floats:
        """float64[n]; a text without tokens scores 0."""
        vectors = self.encode(texts)
        if self._settings["head"] is not None:
            head = self._settings["head"]
            scores = logistic(vectors @ np.asarray(head["weights"]) + head["bias"])
        else:
            scores = self._activated(vectors)
        return np.where(np.isnan(vectors).any(axis=1), 0.0, np.clip(scores, 0.0, 1.0))

    def encode(self, texts: Sequence[str]) -> Floats:
        """What the model gives for each text, pooled: float64[n, d]; NaN for a text without tokens."""
        _, tokenizer = self._loaded
        ids = [coded.ids for coded in tokenizer.encode_batch([*texts])]
        vectors: dict[int, Floats] = {}
        for rows in _batches_of_one_length(ids):
            for row, vector in zip(rows, self._run([ids[row] for row in rows]), strict=True):
                vectors[row] = vector
        width = len(next(iter(vectors.values()))) if vectors else 1
        return np.array([vectors.get(row, np.full(width, np.nan)) for row in range(len(ids))]).reshape(-1, width)

    def _run(self, ids: list[list[int]]) -> Floats:
        session, _ = self._loaded
        tokens = np.array(ids, dtype=np.int64)
        known = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        names = [one.name for one in session.get_inputs()]
        if set(names) - set(known):
            raise InputError("unknown input of the model", "ONNX scorer", names, f"known are {', '.join(known)}")
        output = self._settings["output"] or session.get_outputs()[0].name
        found = np.asarray(session.run([output], {name: known[name] for name in names})[0], dtype=np.float64)
        if found.ndim == 3 and self._settings["pooling"] != "none":
            found = found[:, 0] if self._settings["pooling"] == "cls" else found.mean(axis=1)
        if found.ndim == 1:
            found = found[:, None]
        if found.ndim != 2 or len(found) != len(ids):
            raise InputError("output of an unexpected shape", "ONNX scorer", found.shape, "set pooling to mean or cls")
        return found

    def _activated(self, logits: Floats) -> Floats:
        index = self._settings["positive_index"]
        index = min(1, logits.shape[1] - 1) if index is None else index
        activation = self._settings["activation"]
        if activation == "softmax" and logits.shape[1] > 1:
            shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
            return shifted[:, index] / shifted.sum(axis=1)
        if activation == "range":
            low, high = self._settings["range"]
            return (logits[:, index] - low) / (high - low)
        return logistic(logits[:, index])

    @functools.cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return load_onnx(*self._bytes, self._settings["max_tokens"])


def load(members: Mapping[str, bytes], settings: Mapping[str, Any]) -> OnnxScorer:
    """The scorer of a model file. Raises InputError where a member is missing."""
    if MODEL not in members or TOKENIZER not in members:
        raise InputError(f"lacks {MODEL} or {TOKENIZER}", "quality model", sorted(members), "get the file again")
    return OnnxScorer(members[MODEL], members[TOKENIZER], settings)


def load_onnx(model: bytes, tokenizer: bytes, max_tokens: int) -> tuple[Any, Any]:
    """Session (one thread) and tokenizer. Raises UsageError without onnxruntime, InputError for a bad file."""
    try:
        import onnxruntime
    except ImportError as error:
        raise UsageError("onnxruntime is not installed", "ONNX scorer", remedy=_EXTRA) from error
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        made = Tokenizer.from_str(tokenizer.decode("utf-8"))
    except Exception as error:  # both libraries raise bare Exceptions of their own
        raise InputError("cannot be loaded", "ONNX scorer", error, "give model.onnx and tokenizer.json") from error
    made.no_padding()
    made.enable_truncation(max_tokens)
    return session, made


def _batches_of_one_length(ids: Sequence[Sequence[int]]) -> list[list[int]]:
    """Rows that have as many tokens, at most _MAX_BATCH_TOKENS together; rows without any are left out."""
    by_length: dict[int, list[int]] = {}
    for row, tokens in enumerate(ids):
        if tokens:
            by_length.setdefault(len(tokens), []).append(row)
    batches: list[list[int]] = []
    for length, rows in by_length.items():
        step = max(_MAX_BATCH_TOKENS // length, 1)
        batches += [rows[at : at + step] for at in range(0, len(rows), step)]
    return batches
