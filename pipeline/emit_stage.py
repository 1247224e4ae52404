"""The `emit` step of a recipe: trainer rows of a fixed context, packed best-fit-decreasing.

A plan (design section 4): documents are tokenised shard by shard, one process packs their lengths, and rows are
made from the packed table. It must be the last step of its dataset.
"""

from dataclasses import dataclass
from typing import ClassVar

from gristmill.manifests.errors import UsageError
from gristmill.manifests.row_index import CODECS
from gristmill.manifests.trainer_schema import MAX_CONTEXT
from gristmill.stages.params import param
from gristmill.stages.protocol import Reason

MIN_CONTEXT = 8


@dataclass(frozen=True)
class Emit:
    """Trainer rows: tokenise, pack best-fit-decreasing to the context, write Arrow IPC shards."""

    name: ClassVar[str] = "emit"
    version: ClassVar[int] = 1

    context: int = param(8192, "tokens in a row")
    compression: str = param("none", "of the shards: none, or zstd for cold storage, a quarter to a third of the size")

    def __post_init__(self) -> None:
        if self.compression not in CODECS:
            raise UsageError("no such compression", "emit", self.compression, "give none or zstd")
        if not MIN_CONTEXT <= self.context <= MAX_CONTEXT:
            raise UsageError(
                "context out of range", "emit", self.context, f"give {MIN_CONTEXT} to {MAX_CONTEXT} tokens"
            )

    def reasons(self) -> tuple[Reason, ...]:
        """Why a document is not placed."""
        return (
            Reason("holdout", "drop", "held out by content hash; kept as the dataset `holdout`"),
            Reason("no_tokens", "drop", "nothing is left to encode: an empty text, or media without bytes alone"),
            Reason("tokenizer_failed", "quarantine", "the tokenizer died or ran out of time or memory on it"),
            Reason("media_missing", "drop", "cut: the place of a medium that is not part of the row"),
        )
