"""fastText as a scorer: the probability of one label, on lines normalised as in training.

Member: `model.ftz` (or an unquantised model under the same name). Settings: `label` (with its prefix), `features`
(FEATURES_VERSION of the training; 0 for a model that was trained elsewhere, whose texts only lose their line breaks).
A line without tokens scores 0. fastText answers each line by itself, on one thread, so that batches decide nothing.
"""

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.stages.protocol import Floats
from gristmill.stages.quality.features import FEATURES_VERSION, normalised

MEMBER = "model.ftz"
FOREIGN_FEATURES = 0

_LABELS_SHOWN = 8
_END_OF_LINE_WORD = "</s>"


class FastTextScorer:
    """A fastText model from its bytes; loaded at the first call."""

    def __init__(self, model: bytes, label: str, features: int) -> None:
        if features not in (FEATURES_VERSION, FOREIGN_FEATURES):
            remedy = f"train it anew: this version makes features {FEATURES_VERSION}"
            raise InputError("trained on other features", "quality model", features, remedy)
        self._model = model
        self._label = label
        self._lines = normalised if features else _bare_lines
        self.fingerprint = f"blake3:{blake3(model).hexdigest()}:{label}:{features}"

    def score(self, texts: Sequence[str]) -> Floats:
        """The label's probability, float64[n]."""
        lines = self._lines(texts)
        asked = [row for row, line in enumerate(lines) if line and not line.isspace()]
        scores = np.zeros(len(lines), dtype=np.float64)
        if asked:
            labels, probabilities = self._loaded.predict([lines[row] for row in asked], k=-1)
            for row, names, values in zip(asked, labels, probabilities, strict=True):
                at = names.index(self._label) if self._label in names else -1
                scores[row] = values[at] if at >= 0 else 0.0
        return np.clip(scores, 0.0, 1.0)

    @functools.cached_property
    def _loaded(self) -> Any:
        loaded = load_fasttext(self._model)
        if self._label not in loaded.labels:
            known = ", ".join(loaded.labels[:_LABELS_SHOWN])
            raise InputError("the model has no such label", "quality model", self._label, f"it has {known}")
        return loaded


def load(members: Mapping[str, bytes], settings: Mapping[str, Any]) -> FastTextScorer:
    """The scorer of a model file. Raises InputError where something of it is missing."""
    if MEMBER not in members or not isinstance(settings.get("label"), str) or "features" not in settings:
        remedy = "make it with `gristmill classifier train`"
        raise InputError(f"lacks {MEMBER}, label or features", "quality model", sorted(members), remedy)
    return FastTextScorer(members[MEMBER], settings["label"], settings["features"])


def load_fasttext(model: bytes) -> Any:
    """A fastText model from its bytes. Raises InputError when it is none."""
    from fasttext.FastText import load_model

    # fastText reads paths alone; a file in memory leaves nothing behind, however the process ends.
    handle = os.memfd_create("gristmill-fasttext")
    try:
        with os.fdopen(os.dup(handle), "wb") as stream:
            stream.write(model)
        return load_model(f"/proc/self/fd/{handle}")
    except (ValueError, MemoryError) as error:  # a damaged file asks for any amount
        raise InputError("not a fastText model", "quality model", error, "name a .bin or .ftz of fastText") from error
    finally:
        os.close(handle)


def _bare_lines(texts: Sequence[str]) -> list[str]:
    return [" ".join(text.replace(_END_OF_LINE_WORD, " ").split()) for text in texts]
