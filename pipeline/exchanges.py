"""Exchanges by name: those of the catalogue's stages, and the one that reading needs itself.

A payload is `stage`, `params`, and `part`: "" for a stage that is an exchange, `round 0`, `round 1`, ... for one of
several, `copies` and `keys` for one that finds similar records.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import GristmillError
from gristmill.pipeline.repeated_ids import RepeatedIds
from gristmill.stages import catalogue
from gristmill.stages.protocol import Exchange, Rounds, Similar

ROUND = "round "


def load_exchange(spec: Mapping[str, Any], base_dir: str) -> Exchange:
    """The exchange that a payload describes. Raises GristmillError when the stage has another shape."""
    if spec["stage"] == "repeated_ids":
        return RepeatedIds()
    return exchange_of(catalogue.load(spec["stage"], spec["params"], Path(base_dir)), spec.get("part", ""))


def exchange_of(stage: object, part: str) -> Exchange:
    """One of the exchanges of a stage. Raises GristmillError when it has no such part."""
    if isinstance(stage, Exchange) and not part:
        return stage
    if isinstance(stage, Rounds) and part.startswith(ROUND):
        return stage.rounds()[int(part.removeprefix(ROUND))]
    if isinstance(stage, Similar) and part in ("copies", "keys"):
        return stage.copies() if part == "copies" else stage.keys()
    raise GristmillError("not an exchange", value=f"{type(stage).__name__} {part}".strip())
