"""The `synth` step of a recipe: long sequences, permuted and joined, with tasks that need all of them.

A plan (design section 4), directly in front of an `emit` of the same context, which says how rows are written. What it
makes and proves stands in `synth/` and docs/synthesis.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gristmill.manifests.errors import UsageError
from gristmill.manifests.image_tokens import ImageCost
from gristmill.stages.params import param
from gristmill.stages.protocol import Reason

if TYPE_CHECKING:
    from gristmill.synth.plan import SynthParams

ALL = "all"
QUARANTINED = ("tokenizer_failed", "medium_damaged", "media_miscounted")


@dataclass(frozen=True)
class Synth:
    """Long sequences: documents permuted and joined, with planted tasks whose answers need facts from all of it."""

    name: ClassVar[str] = "synth"
    version: ClassVar[int] = 1

    context: int = param(1 << 20, "tokens of a sequence, 8,192 or more; the emit behind it must have the same")
    sequences: int = param(4, "how many to plan; one whose proofs fail is discarded and counted")
    modes: Mapping[str, float] | None = param(
        None, "weights of concat, interleave, knot and task; null: all alike. Sequences of `task` hold the tasks"
    )
    families: str | tuple[str, ...] = param(
        ALL, "of tasks: `all` that find room and that the sources allow, or names, each of which must find room"
    )
    tasks_per_million: int = param(400, "questions in 2**20 tokens; records take at most 13 % of the tokens")
    embedded_frac: float = param(
        0.5, "of the records of families that allow it, how many stand beside a sentence of a document"
    )
    split: str = param("train", "which wording of tasks: train, or held_out, which shares no template with it")
    max_uses: int = param(4, "sequences that one document may stand in (reference: 4; 8 for documents of 1M tokens)")

    def __post_init__(self) -> None:
        self.synth_params(0)

    def synth_params(self, seed: int, cost: ImageCost | None = None) -> "SynthParams":
        """What `synth` takes; `cost` is that of the emit. Raises UsageError where a parameter is out of range."""
        from gristmill.synth.plan import DEFAULT_MODES, SynthParams

        named = (self.families,) if isinstance(self.families, str) else tuple(self.families)
        if self.split not in ("train", "held_out"):
            raise UsageError("no such split", "synth.split", self.split, "give train or held_out")
        return SynthParams(
            context=self.context,
            sequences=self.sequences,
            seed=seed,
            modes=DEFAULT_MODES if self.modes is None else dict(self.modes),
            families=named,
            tasks_per_million=self.tasks_per_million,
            split="held_out" if self.split == "held_out" else "train",
            max_uses=self.max_uses,
            embedded_frac=self.embedded_frac,
            image_cost=cost or ImageCost(),
        )

    def reasons(self) -> tuple[Reason, ...]:
        """Why a document stands in no sequence."""
        from gristmill.synth.atoms import REFUSED

        refused = (Reason(name, "quarantine" if name in QUARANTINED else "drop", doc) for name, doc in REFUSED.items())
        return (
            Reason("holdout", "drop", "held out by content hash; kept as the dataset `holdout`"),
            *refused,
            Reason("medium_exceeds_context", "drop", "a medium has more tokens than a sequence"),
            Reason("not_drawn", "drop", "no sequence has room for it, or drew it"),
            Reason("sequence_discarded", "drop", "it stands in no sequence but in those whose proofs failed"),
        )
