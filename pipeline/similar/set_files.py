"""The shingle sets of a part's documents, where they lie: an index into spill files, read block by block.

Of each document some 80 bytes are held (address, rank, id, count, size, and where its hashes begin), never its set.
Pairs are compared in blocks whose sets are read into one buffer; files are read, not mapped, so that what was read is
not resident.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import VerifyError
from gristmill.pipeline.spill import hasher_of, schema_of
from gristmill.stages.columns import bytes_of

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

BLOCK_BYTES = 1 << 26
"""Of the sets that a block of pairs is compared on; twice the largest of them where that is more."""

_HASH_BYTES = 8
_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class SetFiles:
    """One value a document, ascending by `addr`: `orders` (n, width), `ids` (n, 16), `counts` of records, `sizes` in
    hashes, and the byte `starts` of `files` at which the hashes begin, in `paths[files]`."""

    paths: Sequence[Path]
    addr: Words
    orders: npt.NDArray[np.uint8]
    ids: npt.NDArray[np.uint8]
    counts: Ints
    sizes: Ints
    files: Ints
    starts: Ints

    def places(self, addr: Words) -> Ints:
        """Of documents by address. Raises VerifyError on one that is not here."""
        at = np.searchsorted(self.addr, addr)
        if len(addr) and (at.max() >= len(self.addr) or (self.addr[at] != addr).any()):
            raise VerifyError("a document of a pair has no set", "similar_verify", None, "run again")
        return at

    def read(self, places: Ints) -> tuple[Words, Ints]:
        """The sets of documents at ascending places, end to end, and where each begins and the last one ends."""
        sizes, files, starts = self.sizes[places], self.files[places], self.starts[places]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        values = np.empty(int(offsets[-1]), np.uint64)
        follows = (files[1:] == files[:-1]) & (starts[1:] == starts[:-1] + sizes[:-1] * _HASH_BYTES)
        first = np.concatenate([np.zeros(min(1, len(places)), np.int64), np.flatnonzero(~follows) + 1])
        stop = np.append(first[1:], len(places))
        open_path, handle = -1, -1
        try:
            for low, high in zip(first.tolist(), stop.tolist(), strict=True):
                if files[low] != open_path:
                    open_path, handle = int(files[low]), _reopened(handle, self.paths[int(files[low])])
                _fill(handle, values[offsets[low] : offsets[high]], int(starts[low]))
        finally:
            if handle >= 0:
                os.close(handle)
        return values, offsets


def _reopened(handle: int, path: Path) -> int:
    if handle >= 0:
        os.close(handle)
    return os.open(path, os.O_RDONLY)


def _fill(handle: int, values: Words, start: int) -> None:
    left = values.view(np.uint8).data
    while len(left):
        taken = os.preadv(handle, [left], start)
        if not taken:
            raise VerifyError("a spill file is damaged", "similar_verify", start, "run again")
        left, start = left[taken:], start + taken


def located(spills: Sequence[tuple[str, Sequence[Any], int]]) -> SetFiles:
    """The documents of `(path, part, base)`: parts of spill files of SETS, `base` what is added to their addresses.

    Raises VerifyError when the bytes of a part are not what they were.
    """
    columns: list[tuple[Any, ...]] = []
    for number, (path, part, base) in enumerate(spills):
        try:
            _refuse_damaged(Path(path), part)
            columns += [_located(batch, number, base, whole) for batch, whole in _mapped(path, part)]
        except (pa.ArrowException, OSError) as error:
            raise _damaged(Path(path), error) from error
    if not columns:
        raise VerifyError("no sets for the documents of a part", "similar_verify", None, "run again")
    joined = [np.concatenate(column) for column in zip(*columns, strict=True)]
    if (joined[0][1:] < joined[0][:-1]).any():
        order = np.argsort(joined[0], kind="stable")
        joined = [column[order] for column in joined]
    return SetFiles([Path(path) for path, _, _ in spills], *joined)


def _mapped(path: str, part: Sequence[Any]) -> Iterator[tuple[pa.RecordBatch, pa.Buffer]]:
    """The batches of a part, of which only what is looked at is read, and the file that they lie in."""
    first, batches = part[:2]
    with pa.memory_map(path) as source:
        whole = source.read_buffer()
        reader = pa.ipc.open_file(whole)
        for index in range(first, first + batches):
            yield reader.get_batch(index), whole


def _located(batch: pa.RecordBatch, file: int, base: int, whole: pa.Buffer) -> tuple[Any, ...]:
    lists = batch.column("hashes")
    offsets = lists.offsets.to_numpy()
    values = lists.values.buffers()[1]
    start = values.address - whole.address + lists.values.offset * _HASH_BYTES if len(lists.values) else 0
    assert 0 <= start <= whole.size
    return (
        batch.column("addr").to_numpy() + np.uint64(base),
        bytes_of(batch.column("order")).copy(),
        bytes_of(batch.column("id")).copy(),
        batch.column("count").to_numpy().copy(),
        np.diff(offsets),
        np.full(batch.num_rows, file, np.int64),
        start + offsets[:-1] * _HASH_BYTES,
    )


def _refuse_damaged(path: Path, part: Sequence[Any]) -> None:
    start, stop, digest = part[3:]
    hasher = hasher_of(schema_of(path))
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        while start < stop and (data := file.read(min(_READ_BYTES, stop - start))):
            hasher.update(data)
            start += len(data)
    found = hasher.hexdigest()[: len(digest)]
    if found != digest:
        raise _damaged(path, found)


def _damaged(path: Path, value: object) -> VerifyError:
    return VerifyError("a spill file is damaged", str(path), value, f"remove the folder {path.parent} and run again")


def shared_by_pair(sets: SetFiles, low: Ints, high: Ints, block_bytes: int = BLOCK_BYTES) -> Ints:
    """How many hashes both documents of each pair have, int64 (pairs); `low` and `high` are their places.

    Read are at most `block_bytes` of sets at a time, or twice the largest where that is more. Pairs are taken cluster
    by cluster, so that most sets are read once.
    """
    from gristmill.stages.kernels.components import components
    from gristmill.stages.kernels.radix import order_by

    shared = np.zeros(len(low), np.int64)
    if not len(low):
        return shared
    label = components(len(sets.addr), [(low, high)])[low]
    order = order_by(column.astype(np.uint64) for column in (label, low, high))
    low, high = low[order], high[order]
    for first, stop in pair_blocks(sets.sizes * _HASH_BYTES, low, high, block_bytes):
        shared[order[first:stop]] = _compared(sets, low[first:stop], high[first:stop])
    return shared


def _compared(sets: SetFiles, low: Ints, high: Ints) -> Ints:
    from gristmill.stages.kernels.set_pairs import count_shared

    places = np.unique(np.concatenate([low, high]))
    values, offsets = sets.read(places)
    return count_shared(values, offsets, np.searchsorted(places, low), np.searchsorted(places, high))


def pair_blocks(weight: Ints, low: Ints, high: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of pairs, each as long as the members of its pairs weigh at most `most`, or twice the heaviest of them.

    A member counts once a range. Twice the heaviest: so a pair fits whatever it weighs, and a heavy member of many
    pairs is not read anew for each.
    """
    ends = np.column_stack([low, high]).ravel()
    before = _earlier(ends)
    first, pairs = 0, len(low)
    span = min(pairs, 1 << 12)
    while first < pairs:
        stop = min(pairs, first + span)
        inside = slice(2 * first, 2 * stop)
        each = weight[ends[inside]]
        held = np.cumsum(np.where(before[inside] < 2 * first, each, 0))
        over = np.flatnonzero(held[1::2] > np.maximum(most, 2 * np.maximum.accumulate(each)[1::2]))
        if not len(over) and stop < pairs:
            span *= 2
            continue
        # The first pair is never over: it weighs at most twice its heavier one.
        stop = first + int(over[0]) if len(over) else stop
        yield first, stop
        first = stop


def _earlier(values: Ints) -> Ints:
    """Where each value stands the last time before; -1 where it does not."""
    from gristmill.stages.kernels.radix import argsort

    order = argsort(values.astype(np.uint64)).astype(np.int64)
    again = values[order[1:]] == values[order[:-1]]
    before = np.full(len(values), -1, np.int64)
    before[order[1:][again]] = order[:-1][again]
    return before
