"""External effects: where a killable child fails by time, memory or death, recorded once and replayed from the record.

Such a failure depends on the machine and its load, and yet it decides about a record. So it stands among the facts of
the task's receipt (`effects`: number of the question -> [key, kind, detail]). A task asks its children the same
questions in the same order wherever it runs, and they are numbered through: equal payloads of a task may well fare
differently. The key is BLAKE3-128 of the child's name and the payload.

* Of two attempts at one task that met different effects the first committed one holds (`commit`).
* A run that replays another output (`gristmill run --replay`) takes from the receipt of each task that stands there
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
    """Of one task: those of the record (None: there is no record), those that were met or replayed, and how many
    questions were asked."""

    recorded: Mapping[str, Sequence[str]] | None = None
    met: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    asked: int = 0

    def facts(self) -> dict[str, Any]:
        """What goes into the receipt."""
        return {EFFECTS: self.met} if self.met else {}


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


def differ_by_effects(facts: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether two attempts met different external effects: they may differ then, and the first holds."""
    return facts.get(EFFECTS) != others.get(EFFECTS)


def recorded_effects(facts: Mapping[str, Any], where: str) -> dict[str, list[str]]:
    """The effects of a receipt's facts. Raises VerifyError, naming the receipt, where they are none."""
    found: Any = facts.get(EFFECTS, {})
    if not (isinstance(found, dict) and all(_is_effect(effect) for effect in found.values())):
        raise VerifyError("its effects are no record", where, None, "see `gristmill verify`, or run without --replay")
    return found


def _is_effect(found: Any) -> bool:
    texts = isinstance(found, list) and len(found) == 3 and all(isinstance(text, str) for text in found)
    return texts and found[1] in EXTERNAL


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
    first = effects.asked
    effects.asked += len(payloads)
    if effects.recorded is None:
        answers = call(payloads, 1)
    else:
        answers = _replayed(effects.recorded, first, (scope, payloads), call)
    for number, (payload, answer) in enumerate(zip(payloads, answers, strict=True), first):
        if _is_external(answer):
            effects.met[str(number)] = [_key(scope, payload), answer.kind, answer.detail]
    return answers


def _replayed(
    recorded: Mapping[str, Sequence[str]], first: int, asked: tuple[str, Sequence[Payload]], call: Call
) -> list[Answer]:
    scope, payloads = asked
    failed = {i: recorded[str(first + i)] for i in range(len(payloads)) if str(first + i) in recorded}
    answers = iter(call([p for i, p in enumerate(payloads) if i not in failed], PATIENCE))
    return [
        _failure(failed[i], scope, payload) if i in failed else _as_recorded(next(answers), scope, payload)
        for i, payload in enumerate(payloads)
    ]


def _failure(recorded: Sequence[str], scope: str, payload: Payload) -> ChildFailure:
    key, kind, detail = recorded
    if key != _key(scope, payload):
        remedy = "replay an output of the same version, or run without --replay"
        raise VerifyError("the replayed record is of other questions", scope, key, remedy)
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
