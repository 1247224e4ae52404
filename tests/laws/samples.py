"""Parameters for stages that cannot be made without any, so that the laws hold for them as well."""

from collections.abc import Mapping
from pathlib import Path

from gristmill.stages import catalogue
from gristmill.stages.protocol import Stage

TINY_MODEL = Path(__file__).parents[1] / "data" / "tiny.gmq"
"""A model that knows the prose of `corpora` from lists of links; made by tests.stages.quality.tiny_model."""

EVAL_SET = Path(__file__).parents[1] / "data" / "eval.jsonl"
"""Two items that quote `corpora`: prose, and Chinese."""

TINY_EMBEDDINGS = Path(__file__).parents[1] / "data" / "embeddings.parquet"
"""Vectors of documents of the laws; made by tests.stages.dedup.tiny_embeddings."""

SAMPLE_PARAMS: Mapping[str, Mapping[str, object]] = {
    "quality": {"model": str(TINY_MODEL), "mode": "sample", "alpha": 1.0},
    "decontaminate": {"against": str(EVAL_SET), "action": "cut", "margin_chars": 20, "min_piece_chars": 10},
    "repeated_sections": {"min_words": 5, "min_doc_chars": 0},
    "semantic_dedup": {"embeddings": str(TINY_EMBEDDINGS)},
    "datatrove": {"C4ParagraphFilter": {}},
}


def sample_stage(name: str) -> Stage:
    """The stage with its defaults, and with what it requires."""
    return catalogue.load(name, SAMPLE_PARAMS.get(name, {}), Path())
