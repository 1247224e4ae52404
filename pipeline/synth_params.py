"""Parameters of sequences as data of tasks, and what of this version decides their bytes."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from gristmill.manifests.image_tokens import ImageCost
from gristmill.synth.plan import PLAN_VERSION, SynthParams


def params_to_data(params: SynthParams) -> dict[str, Any]:
    """Plain JSON data."""
    return {**asdict(params), "modes": dict(params.modes), "families": list(params.families)}


def params_of(data: Mapping[str, Any]) -> SynthParams:
    """Inverse of `params_to_data`."""
    cost = ImageCost(**data["image_cost"])
    fields: dict[str, Any] = {**data, "families": tuple(data["families"]), "image_cost": cost}
    return SynthParams(**fields)


def versions() -> dict[str, Any]:
    """Of everything in `synth` that decides what a sequence holds, or whether it is kept."""
    from gristmill.synth.families.catalogue import FAMILIES
    from gristmill.synth.materialise import MATERIAL_VERSION
    from gristmill.synth.solvers.prove import VERIFIER_VERSION

    families = {name: family.version for name, family in sorted(FAMILIES.items())}
    return {"plan": PLAN_VERSION, "material": MATERIAL_VERSION, "verifier": VERIFIER_VERSION, "families": families}
