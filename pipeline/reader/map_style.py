"""`RowDataset`: the rows of a plan by global index, for trainers with a loader and a sampler of their own.

Item g is what `TokenStream` hands out at global index g, as a dict of arrays that torch's default collation takes:

    tokens, segment_ids, positions   int32[context]
    loss_mask                        float32[context]
    n_tokens                         int64
    index                            int64: g

Items of several stages have several lengths: a sampler of such a plan keeps to one stage a batch. A sampler that
shuffles undoes the exact mixture; torch's SequentialSampler keeps it.
"""

import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gristmill.pipeline.reader.batch import Batch
from gristmill.pipeline.reader.order import stage_of
from gristmill.pipeline.reader.plan import Plan
from gristmill.pipeline.reader.stream import ReadOptions, TokenStream

_BASE: Any = importlib.import_module("torch.utils.data").Dataset if find_spec("torch") is not None else object


class RowDataset(_BASE):
    """See the module; a torch Dataset where torch is installed. `plan` and `verify` as of TokenStream.

    Raises what `TokenStream` raises; items raise IndexError outside of the plan, CorruptRowError where damaged.
    """

    def __init__(self, plan: str | Path | Plan, verify: Literal["row", "off"] = "row") -> None:
        self.stream = TokenStream(plan, verify=verify, options=ReadOptions(torch=False))

    def __len__(self) -> int:
        return self.stream.plan.rows

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        """Items in the order asked for; torch's loaders ask for a batch at once."""
        rows = range(len(self))
        wanted = [rows[i] for i in indices]
        stages = [stage_of(self.stream.plan, g) for g in wanted]
        items: dict[int, dict[str, Any]] = {}
        for stage in sorted(set(stages)):
            at = [i for i, s in enumerate(stages) if s == stage]
            batch = self.stream.rows([wanted[i] for i in at])
            items |= {i: _item(batch, k) for k, i in enumerate(at)}
        return [items[i] for i in range(len(wanted))]


def _item(batch: Batch, row: int) -> dict[str, Any]:
    return {
        "tokens": batch.tokens[row],
        "segment_ids": batch.segment_ids[row],
        "positions": batch.positions[row],
        "loss_mask": batch.loss_mask[row],
        "n_tokens": np.int64(batch.n_tokens[row]),
        "index": np.int64(batch.indices[row]),
    }
