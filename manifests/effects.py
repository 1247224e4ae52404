"""External effects: where a killable child fails by time, memory or death, recorded once and replayed from the record.

Such a failure depends on the machine and its load, and yet it decides about a record. So it stands among the facts of
the task's receipt (`effects`: key -> [kind, detail]; the key is BLAKE3-128 of the child's name and the payload), and

* of two attempts at one task that met different effects the first committed one holds (`commit`);
* a run that replays another output (`gristmill run --replay`) takes from the receipt of each task that stands there
  the failures, without asking the child, and all other answers at whatever time they take.

A child that refuses a record (`error`, `output_too_large`) does so everywhere: that is no external effect.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard, cast

from blake3 import blake3

from gristmill.manifests.child import ChildFailure, ChildLimits, FailureKind, Payload, shared_child
from gristmill.manifests.errors import VerifyError

EFFECTS = "effects"
"""The name among a receipt's facts; absent where there was none."""
EXTERNAL: tuple[FailureKind, ...] = ("timeout", "died", "memory")
PATIENCE = 20
"""Times the usual limit of time that a child gets where the record says that it answers."""
LEAST_PATIENT_S = 300.0
_KEY_BYTES = 16

Answer = bytes | ChildFailure
Call = Callable[[Sequence[Payload], int], list[Answer]]


@dataclass
class Effects:
    """Of one task: those of the record (None: there is no record), and those that were met or replayed."""

    recorded: Mapping[str, Sequence[str]] | None = None
    met: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def facts(self) -> dict[str, Any]:
        """What goes into the receipt."""
        return {EFFECTS: dict(sorted(self.met.items()))} if self.met else {}


_of_task: ContextVar[Effects | None] = ContextVar("effects_of_task", default=None)


@contextmanager
def effects_of_task(recorded: Mapping[str, Sequence[str]] | None) -> Generator[Effects]:
    """Collect, or replay, the effects of all that is done within."""
    effects = Effects(recorded)
    token = _of_task.set(effects)
    try:
        yield effects
    finally:
        _of_task.reset(token)


def facts_of_effects() -> dict[str, Any]:
    """What the task at hand has to say of its effects in its receipt."""
    effects = _of_task.get()
    return effects.facts() if effects is not None else {}


def has_effects(*facts: Mapping[str, Any]) -> bool:
    """Whether one of two attempts met external effects: they may differ then, and the first holds."""
    return any(EFFECTS in of_attempt for of_attempt in facts)


def ask_child(target: str, limits: ChildLimits, payloads: Sequence[Payload]) -> list[Answer]:
    """The answers of this process's shared child, in order, with the effects of the task at hand. As `settled`."""
    return settled(
        target,
        payloads,
        lambda asked, patience: shared_child(target, limits=patient(limits, patience)).call_many(asked),
    )


def patient(limits: ChildLimits, patience: int) -> ChildLimits:
    """The limits with so many times the time, and then at least LEAST_PATIENT_S."""
    if patience == 1:
        return limits
    return replace(limits, max_seconds_per_record=max(limits.max_seconds_per_record * patience, LEAST_PATIENT_S))


def settled(scope: str, payloads: Sequence[Payload], call: Call) -> list[Answer]:
    """Answers for payloads, in order, of a child that `scope` tells from others, with the effects of the task at hand.

    `call` asks the child, with so many times the usual time. Raises VerifyError where the record has an answer and here
    there is none, and what `call` raises.
    """
    effects = _of_task.get() or Effects()
    answers = call(payloads, 1) if effects.recorded is None else _replayed(effects.recorded, scope, payloads, call)
    for payload, answer in zip(payloads, answers, strict=True):
        if _is_external(answer):
            effects.met[_key(scope, payload)] = [answer.kind, answer.detail]
    return answers


def _replayed(
    recorded: Mapping[str, Sequence[str]], scope: str, payloads: Sequence[Payload], call: Call
) -> list[Answer]:
    keys = [_key(scope, payload) for payload in payloads] if recorded else [""] * len(payloads)
    answers = iter(call([p for p, key in zip(payloads, keys, strict=True) if key not in recorded], PATIENCE))
    return [
        _failure(recorded[key]) if key in recorded else _as_recorded(next(answers), scope, payload)
        for payload, key in zip(payloads, keys, strict=True)
    ]


def _failure(recorded: Sequence[str]) -> ChildFailure:
    kind, detail = recorded
    return ChildFailure(cast(FailureKind, kind), detail)


def _as_recorded(answer: Answer, scope: str, payload: Payload) -> Answer:
    if not _is_external(answer):
        return answer
    raise VerifyError(
        f"the replayed output has an answer, and here there is none ({answer.kind}, {answer.detail})",
        where=scope,
        value=_key(scope, payload),
        remedy="give the machine more memory, or run without --replay",
    )


def _is_external(answer: Answer) -> TypeGuard[ChildFailure]:
    return isinstance(answer, ChildFailure) and answer.kind in EXTERNAL


def _key(scope: str, payload: Payload) -> str:
    return blake3(scope.encode() + b"\0").update(payload).hexdigest(_KEY_BYTES)
