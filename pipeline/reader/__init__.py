"""What a trainer reads: `TokenStream`, over the rows that `emit` made.

from gristmill.pipeline.reader import TokenStream

stream = TokenStream("out/train_8k", rank=0, world_size=1, global_batch=8)
for batch in stream:
    batch.tokens, batch.loss_mask, batch.cu_seqlens
"""

from gristmill.pipeline.reader.batch import Batch
from gristmill.pipeline.reader.map_style import RowDataset
from gristmill.pipeline.reader.plan import Plan, load_plan
from gristmill.pipeline.reader.stream import ReadOptions, TokenStream

__all__ = ["Batch", "Plan", "ReadOptions", "RowDataset", "TokenStream", "load_plan"]
