"""Cutting a dataset's ordered steps into phases: what can be fused into one pass over the rows.

A phase begins at the origin or at an exchange, applies the exchange's verdicts, and runs all row-local steps up
to the next exchange or plan in one pass. A plan (emit) is a phase of its own and must come last; a `synth` stands
directly in front of an emit of its context and belongs to its phase. An expander never
runs in the origin's pass: there ids may still change, where a key was repeated, and its rows' ids are made of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.resources import SMALL, Resources, enough_for
from gristmill.pipeline.synth_stage import Synth
from gristmill.stages import catalogue
from gristmill.stages.protocol import Corpus, Expander, Filter, Mapper

StepKind = Literal["row", "exchange", "plan"]


@dataclass(frozen=True)
class LoadedStep:
    """A step with its stage: `label` in the dataset, `name` and `params` as written, `kind` of stage."""

    label: str
    name: str
    params: Mapping[str, Any]
    stage: Any
    kind: StepKind
    where: str
    resources: Resources = SMALL

    def payload(self) -> dict[str, Any]:
        """How a worker loads it, and how it knows that it has loaded the same."""
        expected = catalogue.stage_fingerprint(self.stage)
        return {"step": self.label, "stage": self.name, "params": dict(self.params), "fingerprint": expected}

    def fingerprint(self) -> dict[str, Any]:
        """What enters keys: the label (it stands in ledgers) and all that decides the stage's output."""
        return {"step": self.label, "stage": catalogue.stage_fingerprint(self.stage)}


@dataclass(frozen=True)
class Phase:
    """`exchange` then `chain`, or `plan` alone, `synth` before it where sequences are made; all may be empty in the
    first phase."""

    exchange: LoadedStep | None = None
    chain: tuple[LoadedStep, ...] = ()
    plan: LoadedStep | None = None
    synth: LoadedStep | None = None

    def labels(self) -> list[str]:
        """The labels of its steps, in order."""
        return [s.label for s in self.steps()]

    def steps(self) -> list[LoadedStep]:
        """The steps of the phase in order."""
        return [s for s in (self.exchange, *self.chain, self.synth, self.plan) if s is not None]

    def resources(self) -> Resources:
        """What is enough for any of its steps."""
        return enough_for(step.resources for step in self.steps())


def kind_of(stage: object) -> StepKind:
    """The shape of a stage."""
    if isinstance(stage, Corpus):
        return "exchange"
    if isinstance(stage, Filter | Mapper | Expander):
        return "row"
    return "plan"


def compile_phases(steps: Sequence[LoadedStep]) -> list[Phase]:
    """Phases in order; the first has no exchange and may be empty. Raises RecipeError on a plan not last."""
    phases = [Phase()]
    for index, step in enumerate(steps):
        if len(phases) == 1 and isinstance(step.stage, Expander):
            phases.append(Phase(chain=(step,)))
        elif step.kind == "row":
            last = phases.pop()
            phases.append(Phase(last.exchange, (*last.chain, step)))
        elif step.kind == "exchange":
            phases.append(Phase(exchange=step))
        elif isinstance(step.stage, Synth):
            phases.append(Phase(synth=step, plan=_emit_behind(step, steps[index + 1 :])))
        elif phases[-1].synth is not None:
            continue  # its emit, and the last step: the phase has it
        elif index == len(steps) - 1:
            phases.append(Phase(plan=step))
        else:
            raise RecipeError(
                "a step that makes trainer rows must be the last of its dataset",
                where=step.where,
                value=step.label,
                remedy="move the steps behind it in front, or into the dataset that this one is made from",
            )
    return phases


def _emit_behind(synth: LoadedStep, behind: Sequence[LoadedStep]) -> LoadedStep:
    """The emit that writes a synth's sequences. RecipeError where the next and last step is none of its context."""
    context: int = synth.stage.context
    if len(behind) != 1 or behind[0].kind != "plan" or isinstance(behind[0].stage, Synth):
        raise RecipeError(
            "sequences are written by an emit directly behind, which ends the dataset",
            where=synth.where,
            value=f"{synth.label}, then {', '.join(s.label for s in behind) or 'nothing'}",
            remedy=f"write `- emit: {{context: {context}}}` as its next and last step",
        )
    emit = behind[0]
    if emit.stage.context != context:
        raise RecipeError(
            "the emit has another context than its synth",
            where=emit.where,
            value=f"{emit.stage.context}, not {context}",
            remedy=f"write `- emit: {{context: {context}}}`",
        )
    if emit.stage.max_segments is not None:
        raise RecipeError("sequences have as many segments as they need", emit.where, "max_segments", "leave it out")
    return emit
