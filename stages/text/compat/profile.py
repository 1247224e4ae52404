"""The parameter `words` of the four filters that datatrove has, too.

`fast` is our own segmentation with the faults of datatrove mended. `compat` gives datatrove 0.10.1's decision and first
reason: its words (spaCy's tokenizer for English), its arithmetic, its faults; all rows are English there, and limits by
language do not apply. It needs spaCy for the rules of its tokenizer.
"""

import importlib.util
from typing import Literal

from gristmill.manifests.errors import UsageError

Words = Literal["fast", "compat"]
WORDS_DOC = "fast: our words; compat: datatrove 0.10.1's decisions on English, faults included (needs the extra compat)"


def check_words(words: Words, stage: str) -> None:
    """Raises UsageError when `compat` is asked for and spaCy is not installed, and on any other word."""
    if words not in ("fast", "compat"):
        raise UsageError("fast or compat is wanted", f"stage {stage}.words", words)
    if words == "compat" and importlib.util.find_spec("spacy") is None:
        what, remedy = "datatrove's words need spaCy, which is not installed", "pip install 'gristmill[compat]'"
        raise UsageError(what, f"stage {stage}.words", words, remedy)
