"""Task `similar_merge`: one part of all candidate pairs, each once -> what to compare, and whose sets it takes.

Payload: `spills` (`[path, part, 0]`), `earlier` (paths of the `merged` files of this part in the rounds before: what
was compared there is left out). Leaves `merged`: rows of MERGED, each pair with the bands of all its rows, sorted by
both addresses; `demand`: the addresses in them, sorted.

Memory: some 100 bytes for each of PAIRS_AT_ONCE pairs, and 8 for each document in them, whatever the part holds.
"""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.exchange_job import SHARD_ADDR_BITS
from gristmill.pipeline.similar.tables import MERGED, mapped_batches
from gristmill.pipeline.spill import read_part, write_one
from gristmill.pipeline.task import Task

DEMAND = pa.schema([("addr", pa.uint64())])

Words = npt.NDArray[np.uint64]

PAIRS_AT_ONCE = 1 << 22
_SAMPLES_A_RANGE = 64

_SHARD = np.uint64(SHARD_ADDR_BITS)
_ROW = np.uint64((1 << SHARD_ADDR_BITS) - 1)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    found = [b for path, part, _ in task.payload["spills"] for b in read_part(Path(path), part)]
    old = [b for path in task.payload["earlier"] for b in mapped_batches(path)]
    demand: list[Words] = []
    merged = _merged(old, found, demand)
    first = next(merged, None)
    with store.begin(task.key, task.what) as writer:
        if first is not None:
            write_one(writer, "merged", MERGED, itertools.chain([first], merged))
            ends = pa.array(_distinct(_in_order(np.concatenate(demand))))
            write_one(writer, "demand", DEMAND, [pa.RecordBatch.from_arrays([ends], schema=DEMAND)])
        return writer.commit({})


def _merged(
    old: Sequence[pa.RecordBatch], found: Sequence[pa.RecordBatch], demand: list[Words]
) -> Iterator[pa.RecordBatch]:
    """What is left to compare, range by range of the lower address; its addresses are added to `demand`."""
    for low, stop in _ranges([*old, *found]) if found else ():
        some = [[_within(batch, low, stop) for batch in batches] for batches in (old, found)]
        pairs = _left(*some)
        if len(pairs[0]):
            demand.append(_distinct(_in_order(np.concatenate([_distinct(pairs[0]), pairs[1]]))))
            yield pa.RecordBatch.from_arrays([pa.array(column) for column in pairs], schema=MERGED)


def _ranges(batches: Sequence[pa.RecordBatch]) -> list[tuple[int, int | None]]:
    """Ranges [low, stop) of the lower address that hold some PAIRS_AT_ONCE pairs each, in order."""
    rows = sum(batch.num_rows for batch in batches)
    if rows <= PAIRS_AT_ONCE:
        return [(0, None)]
    every = max(1, PAIRS_AT_ONCE // _SAMPLES_A_RANGE)
    drawn = np.sort(np.concatenate([batch.column("addr").to_numpy()[::every] for batch in batches]))
    bounds: list[int] = np.unique(drawn[_SAMPLES_A_RANGE::_SAMPLES_A_RANGE]).tolist()
    stops: list[int | None] = [*bounds, None]
    return list(zip([0, *bounds], stops, strict=True))


def _within(batch: pa.RecordBatch, low: int, stop: int | None) -> pa.RecordBatch:
    if low == 0 and stop is None:
        return batch
    addr = batch.column("addr").to_numpy()
    inside = addr >= np.uint64(low)
    return batch.filter(pa.array(inside if stop is None else inside & (addr < np.uint64(stop))))


def _left(old: list[pa.RecordBatch], found: list[pa.RecordBatch]) -> tuple[Words, Words, Words]:
    """The pairs that were not compared before: addresses of both, and bands."""
    compared = sum(b.num_rows for b in old)
    low, high, bands = (
        np.concatenate([b.column(name).to_numpy() for b in (*old, *found)]) for name in ("addr", "higher_addr", "bands")
    )
    if not len(low):
        return low, high, bands
    # Equal ones keep their order: a pair follows the one that was compared before.
    low, high, order = _sorted(low, high)
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    first = np.flatnonzero(fresh)
    left = first[order[first] >= compared] if compared else first
    met = np.bitwise_or.reduceat(bands[order], first)
    return low[left], high[left], met[order[first] >= compared] if compared else met


def _sorted(low: Words, high: Words) -> tuple[Words, Words, npt.NDArray[np.uint32]]:
    """The pairs by both addresses, stably, and which each was. Where shards and rows are so few that both addresses fit
    in one word, as they do but for the largest corpora, one sort of that does it."""
    from gristmill.stages.kernels.radix import argsort, argsorted

    rows, shards = (max(_bits(n) for n in part) for part in zip(_halves(low), _halves(high), strict=True))
    if 2 * (rows + shards) > 64:
        order = argsort(high)
        order = order[argsort(low[order])]
        return low[order], high[order], order
    width, row_bits = np.uint64(rows + shards), np.uint64(rows)
    packed, order = argsorted(_packed(low, row_bits) << width | _packed(high, row_bits))
    low, high = packed >> width, packed & (np.uint64(1) << width) - np.uint64(1)
    return _unpacked(low, row_bits), _unpacked(high, row_bits), order


def _halves(addr: Words) -> tuple[Words, Words]:
    return addr & _ROW, addr >> _SHARD


def _bits(numbers: Words) -> int:
    return int(numbers.max()).bit_length()


def _packed(addr: Words, row_bits: np.uint64) -> Words:
    return addr >> _SHARD << row_bits | addr & _ROW


def _unpacked(packed: Words, row_bits: np.uint64) -> Words:
    return packed >> row_bits << _SHARD | packed & (np.uint64(1) << row_bits) - np.uint64(1)


def _in_order(addr: Words) -> Words:
    from gristmill.stages.kernels.radix import sort_words

    return sort_words(addr)


def _distinct(ordered: Words) -> Words:
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]
