"""Kernels are compiled, and spaCy is loaded, outside the timed part of a test."""

import pyarrow as pa
import pytest

pytest.importorskip("spacy")
pytest.importorskip("datatrove")


@pytest.fixture(scope="session", autouse=True)
def prepared() -> None:
    from gristmill.stages.text.c4 import C4
    from gristmill.stages.text.compat import measures
    from tests.stages.text.compat.reference import spacy_words

    text = pa.array(["Some words."], pa.large_string())
    measures.compat_quality(text)
    measures.compat_repetition(text, (2,), (5,))
    measures.compat_fineweb(text, None, 30, False)
    C4(words="compat").prepare()
    spacy_words().word_tokenize("Some words.")
