"""Ratios of the compat profile lie in [0, 1], where datatrove's own exceed 1, too; measures are total."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.schema import document_batch
from gristmill.stages.text.fineweb import FineWeb
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.gopher_repetition import GopherRepetition

PIECES = (
    "a",
    "la ",
    "# ",
    "...",
    "\u2026",
    "\n",
    "\n\n",
    "\r\n",
    "- ",
    "\u2022",
    ". ",
    " ",
    "\u4e2d",
    "\ufffc",
    "\0",
    "12 ",
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=30)
STAGES: Any = {kind.name: kind(words="compat") for kind in (GopherQuality, GopherRepetition, FineWeb)}


@pytest.mark.parametrize("name", STAGES)
@given(texts=st.lists(TEXTS | st.none(), max_size=5))
@settings(max_examples=60, deadline=None)
def test_ratios_are_ratios(name: str, texts: list[str | None]) -> None:
    measures = STAGES[name].measure(document_batch({"text": pa.array(texts, pa.large_string())}))
    assert {rule.measure for rule in STAGES[name].rules()} <= set(measures)
    for measure, values in measures.items():
        assert len(values) == len(texts)
        if measure.endswith("_frac"):
            assert ((values >= 0) & (values <= 1) | np.isnan(values)).all(), measure


@pytest.mark.parametrize(
    ("text", "name", "measure"),
    [
        ("la " * 50, "gopher_repetition", "top_2_gram_frac"),
        ("...\u2026" * 9, "gopher_quality", "ellipsis_frac"),
        ("a" + "\n" * 50, "fineweb", "new_line_frac"),
    ],
)
def test_what_exceeds_1_there_is_1(text: str, name: str, measure: str) -> None:
    assert STAGES[name].measure(document_batch({"text": pa.array([text], pa.large_string())}))[measure][0] == 1
