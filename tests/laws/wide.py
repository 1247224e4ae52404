"""One recipe of every corpus-wide stage, each over the same hostile documents, for the laws of engines."""

from typing import Any

import yaml

from tests.laws.samples import SAMPLE_PARAMS
from tests.laws.test_corpus_wide import CORPUS_WIDE, PARAMS, write_layout

__all__ = ["wide_recipe", "write_layout"]


def wide_recipe(folder: str) -> str:
    """A dataset for each stage; the documents are those that `write_layout` wrote into a folder beside the recipe."""
    read = {"jsonl": f"{folder}/*.jsonl", "key": "key"}
    datasets = {
        f"of_{name}": {"read": dict(read), "domain": "web", "steps": [_step(name, folder)]} for name in CORPUS_WIDE
    }
    return yaml.safe_dump({"name": "wide", "datasets": datasets})


def _step(name: str, folder: str) -> Any:
    params = dict(PARAMS.get(name, SAMPLE_PARAMS.get(name, {})))
    if "embeddings" in params:
        params["embeddings"] = f"{folder}/{params['embeddings']}"
    return {name: params} if params else name
