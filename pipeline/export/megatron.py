"""Megatron-LM and Megatron-Core: `tokens-00000.bin` and `.idx` (MMapIndexedDataset), a pair a shard.

The .bin holds the ids of all sequences, one behind the other. The .idx, little endian: magic "MMIDIDX\\0\\0", u64
version 1, u8 code of the type of the ids, u64 sequences, u64 documents + 1, then int32 length of each sequence, int64
byte offset of each in the .bin, int64 sequence at which each document begins and the number of sequences. Each sequence
is a document here. Ids are uint16 (code 8) where vocab_size is below 65,500, as Megatron's own `optimal_dtype` chooses,
else int32 (code 4).

A sequence is a tokenised document with eos behind it, as `preprocess_data.py --append-eod` writes (unit `document`), or
a packed row with its padding (unit `row`): all of `context` ids, so that samples of that length begin where rows do.
The format has no room for anything else: `tokens-00000.jsonl` says of each sequence, a line each, what `samples` says.
"""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.commit import HashingFile
from gristmill.manifests.errors import UsageError
from gristmill.manifests.receipt import FileEntry
from gristmill.pipeline.export.samples import described, ids_of, json_of
from gristmill.pipeline.export.shape import Format, Shard, Source, Written

MAGIC = b"MMIDIDX\x00\x00"
CODES = {np.dtype(np.uint16): 8, np.dtype(np.int32): 4}
UINT16_BELOW = 65500
"""`DType.optimal_dtype` of megatron.core.datasets.indexed_dataset."""
MAX_SEQUENCE = (1 << 31) - 1

Ints = npt.NDArray[np.int64]


def dtype_of(vocab_size: int) -> np.dtype[Any]:
    """The type of the ids."""
    return np.dtype(np.uint16) if vocab_size < UINT16_BELOW else np.dtype(np.int32)


def index_parts(lengths: Ints, dtype: np.dtype[Any]) -> Iterator[bytes]:
    """The .idx of sequences of so many ids. Raises ValueError where one is longer than int32 holds."""
    if len(lengths) and int(lengths.max()) > MAX_SEQUENCE:
        raise ValueError(f"a sequence of {int(lengths.max())} ids")
    count = len(lengths)
    yield MAGIC + struct.pack("<QBQQ", 1, CODES[dtype], count, count + 1)
    yield lengths.astype("<i4").tobytes()
    pointers = np.zeros(count, dtype="<i8")
    np.cumsum(lengths[:-1] * dtype.itemsize, out=pointers[1:])
    yield pointers.tobytes()
    yield np.arange(count + 1, dtype="<i8").tobytes()


def write(shard: Shard, batches: Iterator[pa.RecordBatch]) -> Written:
    """See the module. Raises UsageError of a document that is too long."""
    tokenizer = shard.source.tokenizer
    assert tokenizer is not None
    stem = f"tokens-{shard.number:05d}"
    dtype = dtype_of(tokenizer.vocab_size)
    ends = [tokenizer.eos_id] if shard.source.unit == "document" else []
    tail = np.array(ends, dtype=dtype).tobytes()
    lengths: list[int] = []
    tokens = 0
    ids_file, said_file = HashingFile(shard.folder / f"{stem}.bin"), HashingFile(shard.folder / f"{stem}.jsonl")
    for batch in batches:
        sequences, said = ids_of(batch), described(batch)
        ids_file.write(b"".join(ids.astype(dtype).tobytes() + tail for ids in sequences))
        said_file.write(b"".join(json_of(sample) + b"\n" for sample in said))
        lengths += [len(ids) + len(ends) for ids in sequences]
        tokens += sum(sample["n_tokens"] for sample in said)
    index_file = HashingFile(shard.folder / f"{stem}.idx")
    for part in _index(lengths, dtype, shard):
        index_file.write(part)
    named = (("ids", "bin", ids_file), ("index", "idx", index_file), ("samples", "jsonl", said_file))
    files = [FileEntry(f"{stem}.{end}", role, len(lengths), f.bytes, f.finish()) for role, end, f in named]
    return Written(files, len(lengths), tokens)


def _index(lengths: list[int], dtype: np.dtype[Any], shard: Shard) -> list[bytes]:
    try:
        return list(index_parts(np.array(lengths, dtype=np.int64), dtype))
    except ValueError as error:
        remedy = "emit rows and use --unit row"
        raise UsageError("Megatron holds sequences below 2^31 ids", str(shard.folder), error, remedy) from None


def finish(folder: Path, source: Source, shards: Sequence[Written]) -> list[FileEntry]:
    """Nothing ties the pairs together: a trainer is given their names without suffix."""
    del folder, source, shards
    return []


FORMAT = Format(
    name="megatron",
    title="Megatron-Core indexed dataset",
    version=1,
    units=("document", "row"),
    shard_bytes=16 << 30,
    write=write,
    finish=finish,
    reader='IndexedDataset("DIR/tokens-00000")  # megatron.core.datasets.indexed_dataset; --data-path DIR/tokens-00000',
)
