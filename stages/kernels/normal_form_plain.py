"""The twin of `normal_form`, one character after another, by what Python says of Unicode.

Agrees with it under Unicode 14.0.0 (Python 3.11) where no more than MAX_MARKS marks follow one another.
"""

import unicodedata

from blake3 import blake3

from gristmill.stages.kernels.normal_form import PROSE

_DIGEST_BYTES = 16


def normal_form(text: str, kind: int) -> str:
    """The normal form of a text."""
    if kind == PROSE:
        shown = "".join(char for char in text if unicodedata.category(char) != "Cf")
        text = unicodedata.normalize("NFD", unicodedata.normalize("NFD", shown).casefold())
    return " ".join(text.split())


def form_digest(text: str, kind: int) -> bytes:
    """BLAKE3-128 of it."""
    return blake3(normal_form(text, kind).encode()).digest(_DIGEST_BYTES)
