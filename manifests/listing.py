"""What an output holds, from its manifests alone: datasets in the recipe's order, with the books of each step."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import VOLATILE
from gristmill.manifests.find import places
from gristmill.manifests.manifest import ALARMS, MANIFEST, RUN, Manifest, read_run

STEP_COUNTS = ("records_in", "kept", "dropped", "quarantined", "derived", "rows", "reasons")


def list_output(out: Path) -> dict[str, Any]:
    """`engine`, `recipe`, `sample`, `datasets`, `pending`, the datasets that are not made yet, and `stopped`,
    those that an alarm stopped when they were last worked on (see `OUT/alarms/<dataset>`).

    A dataset has `name`, `path` (relative to `out`), `digest`, `kind`, `records`, `tokens`, `rows`, `sample`, `until`
    (the step at which it was cut short), `alarms` (what was exceeded, where an alarm cut it short), `stale` (made by
    another version of the recipe than `run.json` holds, or from a dataset that was made anew since), `buckets` (of
    trainer rows: what is packed together, as in the manifest's `facts.packing`) and `steps`. `out` may be one dataset's
    folder, whose path is then `.`.
    Raises InputError when it is neither, VerifyError on damage.
    """
    found = places(out)
    if not (out / RUN).exists():
        alone = found[0].manifest
        return {
            "engine": alone[VOLATILE].get("engine"),
            "recipe": alone["recipe"]["name"],
            "sample": alone["sample"],
            "datasets": [_dataset(alone, ".", alone["recipe"]["digest"])],
            "pending": [],
            "stopped": [],
        }
    run = read_run(out)
    now = {p.name: p.manifest["digest"] for p in found}
    return {
        "engine": run[VOLATILE].get("engine"),
        "recipe": run["recipe"].get("name"),
        "sample": run["sample"],
        "datasets": [_dataset(p.manifest, p.name, run.get("recipe_digest"), now) for p in found],
        "pending": [name for name in run["datasets"] if not (out / name / MANIFEST).exists()],
        "stopped": [name for name in run["datasets"] if (out / ALARMS / name / MANIFEST).exists()],
    }


def _dataset(
    manifest: Manifest, path: str, recipe_digest: str | None, now: Mapping[str, str] | None = None
) -> dict[str, Any]:
    totals = manifest["totals"]
    upstream = manifest.get("upstream", [])
    rebuilt = any((now or {}).get(u["name"], u["digest"]) != u["digest"] for u in upstream)
    return {
        "name": manifest["name"],
        "path": path,
        "digest": manifest["digest"],
        "kind": manifest["kind"],
        "records": totals["records"],
        "tokens": totals["tokens"],
        "rows": totals["rows"],
        "sample": manifest["sample"],
        "until": manifest["until"],
        "alarms": manifest.get("alarms", []),
        "buckets": (manifest["facts"].get("packing") or {}).get("buckets", []),
        "stale": rebuilt or recipe_digest not in (None, manifest["recipe"]["digest"]),
        "steps": [_step(step, manifest["facts"].get(step["step"])) for step in manifest["steps"]],
    }


def _step(step: Mapping[str, Any], facts: object) -> dict[str, Any]:
    told = {"facts": facts} if isinstance(facts, Mapping) else {}
    return {"step": step["step"], **{name: step[name] for name in STEP_COUNTS}, **told}
