"""Sequences of 1,048,576 tokens: CPU time to plan, build (materialise, prove, make the row) and verify; medians.

Documents are prose and code in generated words, as the tests have them: 1.3M tokens of the default tokenizer, which
runs in this process, so that its CPU time is counted. Targets are those of issue 8: build in 2 s, verify in 4 s at 24
tasks and 20 ms for each further one; 10^9 tokens planned in a minute; 400 MB.
"""

import resource
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.manifests.trainer_schema import TrainerFormat
from gristmill.render.draws import Draws
from gristmill.synth.atoms import Prepared, prepare
from gristmill.synth.build import build, measure_costs
from gristmill.synth.plan import SynthParams, content_order, make_plans
from gristmill.synth.solvers.verify import verify_row
from tests.synth.corpus import code, prose, source

CONTEXT = 1 << 20
ROUNDS = 3
PLANNED = 1000


def corpus(tokenizer: Tokenizer) -> list[Prepared]:
    """Documents of 1.3M tokens in all, in content order."""
    draws = Draws("bench corpus")
    made: list[Prepared] = []
    while sum(doc.total for doc in made) < 1.25 * CONTEXT:
        number = len(made)
        text = code(draws, 400) if number % 3 == 2 else prose(draws, 400)
        made += prepare([source(text, number, "code" if number % 3 == 2 else "web")], tokenizer)[0]
    return content_order(made)


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and its result."""
    at = time.process_time()
    result = work()
    return time.process_time() - at, result


def rounds(tasks: int, documents: list[Prepared], tokenizer: Tokenizer) -> tuple[list[float], list[float]]:
    """CPU seconds to build and to verify each of ROUNDS sequences with so many tasks."""
    params = SynthParams(CONTEXT, ROUNDS, seed=1, modes={"task": 1}, tasks_per_million=tasks)
    form = TrainerFormat(CONTEXT, tokenizer.identity, "")
    building: list[float] = []
    verifying: list[float] = []
    for plan in make_plans(params, documents, measure_costs(tokenizer)):
        seconds, row = cpu_seconds(partial(build, plan, params, documents, tokenizer, form))
        building.append(seconds)
        verifying.append(cpu_seconds(partial(verify_row, row, tokenizer))[0])
    return building, verifying


def main() -> list[dict[str, Any]]:
    """Rows for `tests.bench.run`."""
    tokenizer = load_tokenizer(isolated=False)
    documents = corpus(tokenizer)
    found: list[dict[str, Any]] = []
    verified: dict[int, float] = {}
    for tasks in (24, 400):
        building, verifying = rounds(tasks, documents, tokenizer)
        verified[tasks] = median(verifying)
        found.append(_row(f"build 1M tokens, {tasks} tasks", building, "<= 2"))
        found.append(_row(f"verify 1M tokens, {tasks} tasks", verifying, "<= 4"))
    further = (verified[400] - verified[24]) / (400 - 24) * 1e3
    found.append({"what": "verify a further task", "value": further, "unit": "ms", "target": "<= 20", "n": ROUNDS})
    many = SynthParams(CONTEXT, PLANNED, seed=1, max_uses=PLANNED)
    seconds, _ = cpu_seconds(lambda: make_plans(many, documents, measure_costs(tokenizer)))
    found.append({"what": "plan 10^9 tokens", "value": seconds, "unit": "s of CPU", "target": "<= 60", "n": 1})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found.append({"what": "peak memory, documents and all", "value": peak, "unit": "MiB", "target": "<= 400", "n": 1})
    return found


def _row(what: str, seconds: list[float], target: str) -> dict[str, Any]:
    spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
    return {
        "what": what,
        "value": median(seconds),
        "unit": "s of CPU",
        "target": target,
        "n": len(seconds),
        "spread": spread,
    }
