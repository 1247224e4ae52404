"""Stage `render_split`: render pairs of some splits, so that what a model is measured on is in nothing that trains it.

Columns in: `meta`, whose `render.split` is train, validation or test (`render.record`: of the template family, so none
stands on two sides). Nothing is changed. A form derived from a pair has the pair's split in its meta, and so goes with
it, wherever the step stands. A pair whose meta names no split goes, too, since nobody can say on which side it is. What
is no render pair stays.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.params import param
from gristmill.stages.protocol import Mapped, Reason, RowVerdict
from gristmill.stages.vision.scene import META, render_meta

SplitName = Literal["train", "validation", "test"]
SPLITS: tuple[SplitName, ...] = get_args(SplitName)


@dataclass(frozen=True)
class RenderSplit:
    """Keep render pairs of some splits, and forms made of them (experimental)."""

    keep: tuple[SplitName, ...] = param(("train",), "which of train, validation and test stay")

    name: ClassVar[str] = "render_split"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not self.keep or len(set(self.keep)) != len(self.keep):
            raise UsageError("none, or one twice", "stage render_split.keep", list(self.keep), f"of {list(SPLITS)}")

    def reasons(self) -> tuple[Reason, ...]:
        """Why a pair goes."""
        return (
            Reason("other_split", "drop", "a render pair of a split that is not kept; detail names it"),
            Reason("no_split", "drop", "a render pair whose meta names none of train, validation and test"),
        )

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch as it is, with verdicts on pairs of other splits."""
        verdicts: list[RowVerdict] = []
        metas: list[Any] = batch.column("meta").to_pylist()
        for row, meta in enumerate(metas):
            known = render_meta(meta) if meta and f'"{META}"' in meta else None
            split = known.get("split") if known is not None else None
            if known is None or split in self.keep:
                continue
            if split in SPLITS:
                verdicts.append(RowVerdict(row, "drop", "other_split", detail=split))
            else:
                verdicts.append(RowVerdict(row, "drop", "no_split"))
        return Mapped(batch, tuple(verdicts))
