"""T26, log correlation: a request makes calls under names of their own, and each call takes its time. Class A.

Slots of a record: one, other: a request and "a call to" a name, or that name and milliseconds. The query names the
request; its milliseconds, modulo M, are found by two steps. The milliseconds alone are shares.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "for {one} the trace shows {other}",
        "under {one} the monitor noted {other}",
        "{one} came with {other} in the dump",
        "the line of {one} ends in {other}",
        "next to {one} you can see {other}",
        "the collector put {other} down for {one}",
        "{other} is what was measured for {one}",
        "somebody matched {other} with {one}",
        "{one} accounts for {other}, if you look closely",
        "i found {other} filed under {one}",
        "the graph of {one} has {other} in it",
        "the agent tied {other} to {one}",
        "{one} spent itself on {other}",
        "the sampler saw {other} while {one} was running",
        "the record of {one} mentions {other}",
        "{other} goes on the bill of {one}",
    ),
    fields=(
        "id={one} event=({other})",
        "span {one}: {other}",
        "{one} ... {other}",
        "trace[{one}] += {other}",
        "{one} | {other} | sampled",
        "who: {one}; what: {other}",
        "event {other} belongs to {one}",
        '<span id="{one}" note="{other}"/>',
    ),
    asks=(
        "request {request} made {hops} calls. How many milliseconds did they take together, modulo {modulus}",
        "add the times of all {hops} calls that {request} caused. What is left modulo {modulus}",
        "{request} waited for {hops} calls under other names. What was the sum of their milliseconds modulo {modulus}",
        "correlate the logs: what do the {hops} calls made for {request} cost in milliseconds, modulo {modulus}",
        "which total, modulo {modulus}, do you get for {request} if each of its {hops} calls is looked up",
        "find the {hops} calls of {request} first, then their times. What is the remainder by {modulus} of the sum",
        "how long did {request} take over its {hops} calls, in milliseconds, counted modulo {modulus}",
        "the latency of {request} is that of its {hops} calls put together. Give it modulo {modulus}",
    ),
)


def names_needed(size: Size) -> int:
    """Requests, and a name for each call."""
    return size.chains * (1 + size.hops // 2)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` requests of `size.hops // 2` calls each, with two records a call."""
    calls = size.hops // 2
    requests, callees = names[: size.chains], iter(names[size.chains :])
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain, request in enumerate(requests):
        first, own = len(facts), [next(callees) for _ in range(calls)]
        times = [draws.integer(0, size.modulus) for _ in own]
        facts += [Fact({"one": request, "other": f"a call to {name}"}, chain, hop) for hop, name in enumerate(own)]
        facts += [
            Fact({"one": name, "other": f"{time} ms"}, chain, calls + hop)
            for hop, (name, time) in enumerate(zip(own, times, strict=True))
        ]
        evidence = tuple(range(first, first + size.hops))
        slots = {"request": request, "hops": str(calls), "modulus": str(size.modulus)}
        questions.append(Question(slots, evidence, str(sum(times) % size.modulus), evidence[calls:]))
    return Bank(tuple(facts), tuple(questions), shares.candidates(size), shares.params(size))


FAMILY = Family(
    name="log_correlation",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=3, chains=7, hops=8, asked=6, modulus=100),
        Size(tier=2, chains=4, hops=6, asked=3, modulus=100),
        Size(tier=2, chains=4, hops=4, asked=3, modulus=50),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
