"""Exact repeated runs of text, across documents and inside one: each run of `min_tokens` tokens is kept once.

Columns in: `text`, `id`, `content_hash`, and those of the keeper's policy. A token goes where it stands in a window of
`min_tokens` tokens that stands in a document of better rank, or earlier in its own without overlap; rank is the
keeper's policy, then content hash, then id, so no layout or order enters. Every token that goes is kept somewhere:
follow keepers until one keeps it. The length is that of Lee et al. 2022 (arXiv 2107.06499, section 4.2), whose tool
cuts every copy; here one stays. Tokens are the recipe's; texts that they do not spell byte for byte are compared by
words (`dedup.token_spans`), with each other.

Bytes that go are whole characters, and whole words: edges move inwards to where no word goes on, so a part of a word
may stay at either end. Nothing goes over a document's end. The keeper of a passage is the document of the first
window; of a passage that its own document repeats, the first of the corpus that has the begin of it. `value` of a cut
is how often the passage stands in the corpus, as far as windows tell: of one that a document repeats, its begin counts.

Three exchanges of fixed-width rows; no text moves. Anchors (`kernels.winnow`): a row with a key of 8 bytes for each, at
most two of one kind a document; those that occur twice are found. Windows: for each window with such an anchor its
strong hash, rank, place; all but the first of a hash are found. Passages: these windows joined, a row for each. Only
documents in which something was found are read again.
"""

from dataclasses import dataclass
from typing import ClassVar

from gristmill.manifests.errors import UsageError
from gristmill.stages.dedup import keeper
from gristmill.stages.params import param, tokenizer_param
from gristmill.stages.protocol import EMPTIED, Exchange, Reason

REASONS = (Reason("repeated_passage", "drop", "stands in the keeper, or earlier in the same text"), EMPTIED)

MIN_TOKENS, MAX_TOKENS = 8, 1 << 16


@dataclass(frozen=True)
class SubstringDedup:
    """Cut passages that stand in another document, or earlier in the same one, token for token."""

    name: ClassVar[str] = "substring_dedup"
    version: ClassVar[int] = 1

    min_tokens: int = param(50, "shortest run that is cut, in tokens (Lee et al. 2022, section 4.2)")
    keep: tuple[str, ...] = param(
        (), "which document keeps a passage, as in `exact_dedup`; then the content hash decides"
    )
    tokenizer: str = tokenizer_param("vocabulary; the recipe's where none is named")

    def __post_init__(self) -> None:
        if not MIN_TOKENS <= self.min_tokens <= MAX_TOKENS:
            where = "stage substring_dedup.min_tokens"
            raise UsageError(f"a number from {MIN_TOKENS} to {MAX_TOKENS} is wanted", where, self.min_tokens)
        keeper.check(self.keep, "stage substring_dedup.keep")

    def reasons(self) -> tuple[Reason, ...]:
        """Of cuts, and of documents of which nothing is left."""
        return REASONS

    def prepare(self) -> None:
        """Load the vocabulary and compile the kernels, once on the driver. Raises InputError on a file that is none."""
        from gristmill.stages.dedup.token_spans import spelling_of

        spelling_of(self.tokenizer)

    def rounds(self) -> tuple[Exchange, ...]:
        """Anchors, windows, passages."""
        from gristmill.stages.dedup.substring_rounds import AnchorRound, PassageRound, WindowRound

        return (
            AnchorRound(self.min_tokens, self.tokenizer),
            WindowRound(self.min_tokens, self.tokenizer, self.keep),
            PassageRound(),
        )
