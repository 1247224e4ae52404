"""Whether the places of media in trainer rows are what their media cost.

Each medium of a row: one segment names it, of kind image or video, from its `token_start` on for `token_len` tokens,
which are as many as its size costs by the schema's `image_cost`; the ids there are the pad id, and a loss span of
weight 0 lies over them. A segment of such a kind names a medium, and no other does.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.file_faults import FileFaults
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.trainer_schema import TrainerFormat

KINDS = ("image", "video")

Row = dict[str, Any]


def media_places(batch: pa.RecordBatch, form: TrainerFormat, found: FileFaults) -> None:
    """Enter what is wrong with the media of a batch of rows without nulls."""
    kinds = np.isin(_kinds(batch.column("segments")), KINDS)
    has_media = batch.column("media").value_lengths().to_numpy(zero_copy_only=False) > 0
    looked_at = np.flatnonzero(has_media | _rows_with(batch.column("segments"), kinds))
    if not len(looked_at):
        return
    ids = batch.column("input_ids").flatten().to_numpy().reshape(batch.num_rows, form.context)
    rows = batch.select(["segments", "media", "loss_spans"]).take(pa.array(looked_at)).to_pylist()
    wrong: dict[str, npt.NDArray[np.bool_]] = {}
    for at, row in zip(looked_at.tolist(), rows, strict=True):
        for what in row_faults(row, ids[at], form):
            wrong.setdefault(what, np.zeros(batch.num_rows, np.bool_))[at] = True
    for what, of_rows in wrong.items():
        found.rows("media", of_rows, what)


def _kinds(segments: pa.ListArray) -> npt.NDArray[np.object_]:
    return np.array(segments.flatten().field("kind").to_pylist(), dtype=object)


def _rows_with(column: pa.ListArray, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    lengths = column.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    out = np.zeros(len(column), np.bool_)
    out[np.repeat(np.arange(len(column)), lengths)[chosen]] = True
    return out


def row_faults(row: Row, ids: npt.NDArray[np.uint32], form: TrainerFormat) -> set[str]:
    """What is wrong with the media of a row without nulls: `segments`, `media` and `loss_spans` as plain data."""
    faults: set[str] = set()
    named = [s for s in row["segments"] if s["media_idx"] is not None]
    if any((s["kind"] in KINDS) != (s["media_idx"] is not None) for s in row["segments"]):
        faults.add("a segment names a medium and is none, or is one and names none")
    if sorted(s["media_idx"] for s in named) != list(range(len(row["media"]))):
        return faults | {"a medium that is not named by one segment"}
    silent = {(s["start"], s["end"]) for s in row["loss_spans"] if s["weight"] == 0}
    for segment in named:
        medium = row["media"][segment["media_idx"]]
        start, end = medium["token_start"], medium["token_start"] + medium["token_len"]
        if (segment["start"], segment["end"]) != (start, end):
            faults.add("the places of a medium are not those of its segment")
        elif bool((ids[start:end] != form.tokenizer.pad_id).any()):
            faults.add("in the place of a medium stands another id than the pad id")
        if (start, end) not in silent:
            faults.add("the place of a medium has a target")
        if not _costs(medium, segment["kind"], form.image_cost):
            faults.add("a medium has another number of places than its size costs")
    return faults


def _costs(medium: Row, kind: str, cost: ImageCost | None) -> bool:
    frames = medium["frames"]
    if cost is None or (frames is not None) != (kind == "video"):
        return False
    try:
        return cost.tokens(medium["width"], medium["height"], frames) == medium["token_len"]
    except ValueError:
        return False
