"""What gives a text a score, whatever it is made of.

A `Scorer` turns texts into raw scores in [0, 1]; calibration, windows and decisions are not its affair. Built-in kinds
are loaded by name from a model file (`model_file`): `fasttext`, `onnx`, and `python`, which is a user's own object
(`adapters`). Scores must not depend on what other texts are scored in the same call.
"""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from gristmill.manifests.errors import InputError
from gristmill.stages.protocol import Floats


@runtime_checkable
class Scorer(Protocol):
    """Scores of texts. May load what it needs at the first call, and only reads it from then on."""

    @property
    def fingerprint(self) -> str:
        """What decides the scores, "blake3:<hex>" or the like; empty where nothing is known."""
        ...

    def score(self, texts: Sequence[str]) -> Floats:
        """float64[n] in [0, 1], one for each text, "" included."""
        ...


_KINDS: Mapping[str, str] = {
    "fasttext": "gristmill.stages.quality.fasttext_scorer",
    "onnx": "gristmill.stages.quality.onnx_scorer",
}
"""Kind -> module with `load(members, settings) -> Scorer`; members are the model file's, settings its JSON."""


def load_scorer(kind: str, members: Mapping[str, bytes], settings: Mapping[str, Any], where: str) -> Scorer:
    """The scorer of a built-in kind. Raises InputError for an unknown one, or one that cannot be loaded."""
    if kind not in _KINDS:
        raise InputError("unknown kind of scorer", where, kind, f"known are {', '.join(_KINDS)}, python")
    return importlib.import_module(_KINDS[kind]).load(members, settings)
