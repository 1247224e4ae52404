"""Exchanges by name: those of the catalogue, and the one that reading needs itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import GristmillError
from gristmill.pipeline.repeated_ids import RepeatedIds
from gristmill.stages import catalogue
from gristmill.stages.protocol import Exchange


def load_exchange(spec: Mapping[str, Any], base_dir: str) -> Exchange:
    """The exchange that a payload describes. Raises GristmillError when the stage has another shape."""
    if spec["stage"] == "repeated_ids":
        return RepeatedIds()
    stage = catalogue.load(spec["stage"], spec["params"], Path(base_dir))
    if not isinstance(stage, Exchange):
        raise GristmillError("not an exchange", value=spec["stage"])
    return stage
