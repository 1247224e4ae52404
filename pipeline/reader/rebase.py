"""Another plan that goes on where a run was: each of its sources from the row that the run had come to.

A run that changes its rates, budgets or stages half way is a new plan over the same sources. `rebased` shifts the
counters of its stages by what was drawn before (`base`, rows by source), so that no row comes again before its epoch is
over, and caps on epochs count what was read before. Stages with `carry: restart` begin anew, and so do sources behind
them. A source of the same name whose dataset was made anew has no counter: its rows are others. A source that the new
plan does not name keeps its counter for a plan to come, but does not count for caps: which documents its dataset holds
is known where a plan opens it only.
"""

from collections.abc import Mapping
from dataclasses import replace

from gristmill.manifests.canonical import key_of
from gristmill.pipeline.reader.epochs import Draw, check_epochs
from gristmill.pipeline.reader.plan import Plan, Stage


def rebased(plan: Plan, base: Mapping[str, int]) -> Plan:
    """The plan with its sources that many rows on; itself where that is none. Raises RecipeError where documents would
    come more often over all than they may."""
    base = {name: rows for name, rows in base.items() if rows and name in plan.sources}
    if not base:
        return plan
    stages: list[Stage] = []
    restarted: set[str] = set()
    for stage in plan.stages:
        if stage.restart:
            restarted |= set(stage.mixture.names)
        shifted = {n: d if n in restarted else d + base.get(n, 0) for n, d in stage.drawn.items()}
        stages.append(replace(stage, drawn=shifted))
    _check(plan, base)
    return replace(plan, stages=stages, digest=key_of({"plan": plan.digest, "base": base}))


def _check(plan: Plan, base: Mapping[str, int]) -> None:
    draws = [Draw(0, plan.sources[name], rows) for name, rows in base.items()]
    for number, stage in enumerate(plan.stages):
        draws += [Draw(number, plan.sources[name], rows) for name, rows in stage.mixture.counts(stage.rows)]
    pools = plan.pools or {name: name for name in plan.datasets}
    check_epochs(draws, pools, plan.limits, [f"stage {n}, with what was read before" for n in range(len(plan.stages))])
