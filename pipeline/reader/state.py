"""The state of a stream: where the next batch begins, with what that index counts in.

    v          1
    next       global index that the next batch begins at or behind
    plan       digest of the plan: seed, stages, rates and datasets
    manifests  digest of each dataset's manifest, by name; also of those that earlier plans of the run read
    seed       of the plan's order: a plan to come that has another would read rows again
    skipped    half-open ranges of global indices that are left out
    drawn      rows that were drawn of each source, over all: for a plan to come that goes on from them (`rebase`)
    base       those of them that were drawn before this plan, also of sources that it does not name; absent without
    dropped    rows of stages' ends that filled no batch and were left out
    seal       hash of all of this: a state that was edited, or is cut short, is refused

JSON, and the same on every rank: under 1 KB for a plan of some ten sources, and some 40 bytes for each further one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gristmill.manifests.canonical import key_of
from gristmill.manifests.errors import UsageError
from gristmill.pipeline.reader.batches import merged
from gristmill.pipeline.reader.ledger import drawn_until
from gristmill.pipeline.reader.plan import Plan
from gristmill.pipeline.reader.rebase import rebased

STATE_VERSION = 1
_SEAL = "seal"

_WHERE = "load_state_dict"


@dataclass(frozen=True)
class Position:
    """Where a stream is: in `plan`, which is the written one, rebased by `base`."""

    plan: Plan
    next: int = 0
    skipped: Sequence[tuple[int, int]] = ()
    base: Mapping[str, int] = field(default_factory=dict[str, int])
    dropped: int = 0
    manifests: Mapping[str, str] = field(default_factory=dict[str, str])


def state_of(at: Position) -> dict[str, Any]:
    """See the module."""
    drawn = drawn_until(at.plan, at.next)
    for name, rows in at.base.items():
        drawn[name] = drawn.get(name, 0) + rows
    state = {
        "v": STATE_VERSION,
        "next": at.next,
        "plan": at.plan.digest,
        "seed": at.plan.seed,
        "manifests": {**at.manifests, **_manifests(at.plan)},
        "skipped": [list(r) for r in at.skipped],
        "drawn": drawn,
        "dropped": at.dropped,
    }
    return sealed_state(state | ({"base": dict(at.base)} if at.base else {}))


def sealed_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state with the seal that belongs to it."""
    bare = {name: value for name, value in state.items() if name != _SEAL}
    return {**bare, _SEAL: key_of(bare)}


def position_of(state: Mapping[str, Any], written: Plan, rebase: bool) -> Position:
    """Where a state was, in the plan as it is written; with `rebase` the beginning of that plan, its sources going on
    from where the state had come to, where the state is of another plan or other data.

    Raises UsageError where it is no state, or of another plan; RecipeError as `rebased`.
    """
    if not isinstance(state, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # it comes from a file
        raise UsageError("no state of a TokenStream", _WHERE, type(state).__name__, "give what state_dict gave")
    _check_seal(state)
    following: Any = state.get("next")
    skipped, base, drawn = _ranges(state.get("skipped")), _counts(state.get("base", {})), _counts(state.get("drawn"))
    known = state.get("v") == STATE_VERSION and type(following) is int
    if not known or skipped is None or base is None or drawn is None:
        raise UsageError("no state of a TokenStream", _WHERE, sorted(map(str, state)), "give what state_dict gave")
    plan = rebased(written, base)
    said = state.get("manifests")
    said = {str(name): str(digest) for name, digest in said.items()} if isinstance(said, Mapping) else {}
    mine = {name: said.get(name) for name in plan.datasets}
    same = {"plan": state.get("plan") == plan.digest, "manifests": mine == _manifests(plan)}
    differing = [name for name, equal in same.items() if not equal]
    if differing and rebase and state.get("seed") != written.seed:
        remedy = "give the plan the seed of the run: with another, rows come again before an epoch is over"
        raise UsageError("the state is of another order", _WHERE, state.get("seed"), remedy)
    if differing and rebase:
        return _begun_anew(written, drawn, said)
    if differing:
        remedy = "go on with the plan and the datasets that the state is of, or say rebase=True"
        raise UsageError(f"the state is of another plan ({differing[0]})", _WHERE, state.get(differing[0]), remedy)
    if not 0 <= following <= plan.rows:
        raise UsageError("the state is outside of the plan", _WHERE, following, "use its own plan")
    dropped = state.get("dropped", 0)
    return Position(plan, following, merged(skipped), base, dropped if type(dropped) is int else 0, said)


def _check_seal(state: Mapping[str, Any]) -> None:
    if state.get("v") != STATE_VERSION:
        raise UsageError("no state of a TokenStream", _WHERE, sorted(map(str, state)), "give what state_dict gave")
    try:
        whole = state.get(_SEAL) == sealed_state(state)[_SEAL]
    except (TypeError, ValueError, RecursionError):  # what is no JSON
        whole = False
    if not whole:
        remedy = "give what state_dict gave; to begin elsewhere, use skip() or another plan"
        raise UsageError("the state was changed after it was made", _WHERE, state.get("next"), remedy)


def _begun_anew(written: Plan, drawn: Mapping[str, int], said: Mapping[str, str]) -> Position:
    own = {name: source.dataset_name for name, source in written.sources.items()}
    base = {
        name: rows
        for name, rows in drawn.items()
        if name not in own or said.get(own[name]) == written.datasets[own[name]].digest
    }
    if drawn and not set(base) & set(own):
        remedy = "begin without a state"
        raise UsageError("none of the state's sources is one of this plan", _WHERE, sorted(drawn), remedy)
    return Position(rebased(written, base), base=base, manifests=said)


def _manifests(plan: Plan) -> dict[str, str]:
    return {name: dataset.digest for name, dataset in plan.datasets.items()}


def _counts(value: Any) -> dict[str, int] | None:
    """Rows by source, or None where it is none."""
    if not isinstance(value, Mapping) or any(type(rows) is not int or rows < 0 for rows in value.values()):
        return None
    return {str(name): rows for name, rows in value.items()}


def _ranges(value: Any) -> list[tuple[int, int]] | None:
    """Pairs of integers, or None where they are none."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    pairs = [tuple(pair) for pair in value if isinstance(pair, Sequence)]
    if len(pairs) != len(value) or any(len(p) != 2 or {type(n) for n in p} != {int} for p in pairs):
        return None
    return [(p[0], p[1]) for p in pairs]
