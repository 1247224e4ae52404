"""The `emit` step of a recipe: trainer rows of a fixed context, packed best-fit-decreasing.

A plan (design section 4): documents are tokenised shard by shard, one process packs their lengths, and rows are
made from the packed table. Each domain and range of lengths has rows of its own, so that a trainer can give it its
rate. It must be the last step of its dataset.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

from gristmill.manifests.errors import UsageError
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.trainer_schema import MAX_CONTEXT
from gristmill.pipeline.buckets import BY
from gristmill.stages.params import param
from gristmill.stages.protocol import Reason

MIN_CONTEXT = 8


@dataclass(frozen=True)
class Emit:
    """Trainer rows: tokenise, pack best-fit-decreasing to the context, write Arrow IPC shards."""

    name: ClassVar[str] = "emit"
    version: ClassVar[int] = 2

    context: int = param(8192, "tokens in a row")
    by: tuple[str, ...] = param(BY, "what keeps documents out of each other's rows: domain, length, both, or nothing")
    max_segments: int | None = param(
        None,
        "documents, or pieces of one, in a row; null: any number. Kernels for a fixed number of sequences need a limit "
        "(google/grain#1000)",
    )
    image: Mapping[str, int] | None = param(
        None, "what pictures cost: patch_px 14, merge 2, delimiters 2, max_tokens 4096, frames_per_group 2"
    )

    def __post_init__(self) -> None:
        self.cost()
        unknown = sorted(set(self.by) - set(BY))
        if unknown or len(set(self.by)) < len(self.by):
            raise UsageError("unknown or repeated", "emit.by", ", ".join(self.by), f"name each of {', '.join(BY)} once")
        if self.max_segments is not None and self.max_segments < 1:
            raise UsageError("out of range", "emit.max_segments", self.max_segments, "give 1 or more, or leave it out")
        if not MIN_CONTEXT <= self.context <= MAX_CONTEXT:
            raise UsageError(
                "context out of range", "emit", self.context, f"give {MIN_CONTEXT} to {MAX_CONTEXT} tokens"
            )

    def cost(self) -> ImageCost:
        """What pictures cost. Raises UsageError where `image` says what is none."""
        known = {f.name for f in fields(ImageCost)}
        given = dict(self.image or {})
        if unknown := sorted(given.keys() - known):
            raise UsageError("unknown key", "emit image", unknown[0], f"there are {', '.join(sorted(known))}")
        if wrong := [v for v in given.values() if type(v) is not int]:
            raise UsageError("must be a whole number", "emit image", wrong[0])
        return ImageCost(**given)

    def reasons(self) -> tuple[Reason, ...]:
        """Why a document is not placed."""
        return (
            Reason("holdout", "drop", "held out by content hash; kept as the dataset `holdout`"),
            Reason("no_tokens", "drop", "nothing is left to encode: an empty text, or media without bytes alone"),
            Reason("tokenizer_failed", "quarantine", "the tokenizer died or ran out of time or memory on it"),
            Reason("media_missing", "drop", "cut: the place of a medium that has no bytes, or no size"),
            Reason("medium_damaged", "quarantine", "the bytes of a medium do not have the sha256 beside them"),
            Reason("media_miscounted", "quarantine", "the text has another number of U+FFFC than there are media"),
            Reason("medium_exceeds_context", "drop", "a medium has more tokens than a row"),
        )
