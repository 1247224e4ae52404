"""The children that hold the engines: one draws, one judges; each dies alone and costs one record.

That it ran out of time or memory, or died, is an external effect (`manifests.effects`): it stands in the task's
receipt, and a replay decides the same.
"""

import functools
import os

from gristmill.manifests.child import ChildFailure, ChildLimits, KillableChild
from gristmill.manifests.effects import patient, settled
from gristmill.render.protocol import Rejected
from gristmill.render.svg.wire import Message, pack, unpack

LIMITS = ChildLimits(max_seconds_per_record=10.0, max_rss_bytes=1 << 30, max_output_bytes=64 << 20)
DRAW = "gristmill.render.svg.draw_child:serve"
JUDGE = "gristmill.render.svg.judge_child:serve"
# Pictures of a megabyte are taken and given back some dozen times a record: glibc would map and clear each anew.
_ENV = {"MALLOC_MMAP_THRESHOLD_": str(64 << 20), "MALLOC_TRIM_THRESHOLD_": str(256 << 20)}
_REASONS = {"timeout": "engine_timeout", "memory": "engine_memory", "died": "engine_died", "error": "engine_error"}


def ask(target: str, request: Message, limits: ChildLimits = LIMITS) -> Message:
    """A child's answer, with the effects of the task at hand.

    Raises Rejected for what it refuses and for what costs it its life or its time, VerifyError where a replayed record
    has an answer and here there is none.
    """
    answer = settled(
        target, [pack(request)], lambda asked, patience: child(target, patient(limits, patience)).call_many(asked)
    )[0]
    if isinstance(answer, ChildFailure):
        reason = _REASONS.get(answer.kind, "engine_error")
        raise Rejected(reason, f"{target.partition(':')[0].rpartition('.')[2]}: {answer.detail}"[:200], "quarantine")
    message = unpack(answer)
    if "refused" in message.head:
        reason, detail = message.head["refused"]
        raise Rejected(reason, detail)
    return message


def child(target: str, limits: ChildLimits = LIMITS) -> KillableChild:
    """This process's child for a target."""
    return _child(target, limits, os.getpid())


@functools.lru_cache(maxsize=8)
def _child(target: str, limits: ChildLimits, pid: int) -> KillableChild:
    return KillableChild(target, b"", limits, _ENV)
