"""The state of a stream: where the next batch begins, with what that index counts in.

    v          1
    next       global index that the next batch begins at or behind
    plan       digest of the plan: seed, stages, rates and datasets
    manifests  digest of each dataset's manifest, by name
    skipped    half-open ranges of global indices that are left out

Under 1 KB for a plan of a few datasets, JSON, and the same on every rank.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.reader.batches import merged
from gristmill.pipeline.reader.plan import Plan

STATE_VERSION = 1

_WHERE = "load_state_dict"


def state_of(plan: Plan, following: int, skipped: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """See the module; `following` is `next`."""
    return {
        "v": STATE_VERSION,
        "next": following,
        "plan": plan.digest,
        "manifests": {name: dataset.digest for name, dataset in plan.datasets.items()},
        "skipped": [list(r) for r in skipped],
    }


def read_state(state: Mapping[str, Any], plan: Plan) -> tuple[int, list[tuple[int, int]]]:
    """`next` and `skipped` of a state. Raises UsageError where it is none, or of another plan or other data."""
    following, skipped = state.get("next"), state.get("skipped")
    ranges = _ranges(skipped)
    if state.get("v") != STATE_VERSION or type(following) is not int or ranges is None:
        raise UsageError("no state of a TokenStream", _WHERE, sorted(state), "give what state_dict gave")
    own = state_of(plan, 0, [])
    for key in ("plan", "manifests"):
        if state.get(key) != own[key]:
            remedy = "go on with the plan and the datasets that the state is of"
            raise UsageError(f"the state is of another plan ({key})", _WHERE, state.get(key), remedy)
    if not 0 <= following <= plan.rows:
        raise UsageError("the state is outside of the plan", _WHERE, following, "use its own plan")
    return following, merged(ranges)


def _ranges(value: Any) -> list[tuple[int, int]] | None:
    """Pairs of integers, or None where they are none."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    pairs = [tuple(pair) for pair in value if isinstance(pair, Sequence)]
    if len(pairs) != len(value) or any(len(p) != 2 or {type(n) for n in p} != {int} for p in pairs):
        return None
    return [(p[0], p[1]) for p in pairs]
