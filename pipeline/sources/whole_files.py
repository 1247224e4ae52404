"""What the sources share that make one record of one file: reading it whole, and its row.

`id` is hashed from dataset and path (`rel`), so that it stays when the content changes; `meta` holds `path`. An
overhead of some 100 microseconds a file, mostly Arrow's.
"""

from collections.abc import Mapping
from typing import BinaryIO

import orjson

from gristmill.manifests.errors import InputError
from gristmill.pipeline.sources.columns import Columns, empty_batch, identity, one_row
from gristmill.pipeline.sources.files import open_binary
from gristmill.pipeline.sources.losses import LostBytes, lose
from gristmill.pipeline.sources.pieces import PIECE_BYTES, read_fully
from gristmill.pipeline.sources.protocol import InputFile, Loss, ReadBatch, ReadOptions


def read_whole(file: InputFile, options: ReadOptions) -> bytes | Loss:
    """The bytes of a file, or its loss if they are too many. Raises InputError if it cannot be read."""
    max_bytes = options.max_doc_bytes
    try:
        with open_binary(file.url) as stream:
            if file.bytes <= max_bytes:
                data = _read_up_to(stream, file.bytes, max_bytes)
                if len(data) <= max_bytes:
                    return data
                stream.seek(0)
            lost = LostBytes()
            while data := stream.read(PIECE_BYTES):
                lost.add(data)
    except OSError as error:
        remedy = "check that it may be read and that its disk is sound"
        raise InputError("cannot be read", file.url, str(error), remedy) from error
    return lose("too_large", lost, 0, "file", lost.size, max_bytes)


def _read_up_to(stream: BinaryIO, listed_bytes: int, max_bytes: int) -> bytes:
    """All of a stream, or little more than `max_bytes`. The listed size is a hint: some remote ones are unknown."""
    # Never `max_bytes` at once: a stream makes room for all that it is asked for (60 us a file, for 1 GiB).
    pieces = [read_fully(stream, listed_bytes + 1)]
    size = len(pieces[0])
    while listed_bytes < size <= max_bytes and (more := stream.read(PIECE_BYTES)):
        pieces.append(more)
        size += len(more)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def one_document(
    text: bytes, file: InputFile, options: ReadOptions, meta: Mapping[str, object] | None = None
) -> ReadBatch:
    """The batch of a file whose text is `text`, UTF-8; `meta` stands beside its path."""
    key = identity("path", options.dataset, file.rel)
    described = orjson.dumps({options.dataset: {"path": file.rel, **(meta or {})}})
    return ReadBatch(one_row(text, Columns([key], [None], [None], [None], [described]), options))


def one_record(
    text: bytes, data: bytes, file: InputFile, options: ReadOptions, meta: Mapping[str, object] | None = None
) -> ReadBatch:
    """The batch of a file `data` whose text is `text`; its loss if the text is too large, though the file is not."""
    if len(text) > options.max_doc_bytes:
        return one_loss(lose("too_large", data, 0, "file, as UTF-8", len(text), options.max_doc_bytes))
    return one_document(text, file, options, meta)


def one_loss(loss: Loss) -> ReadBatch:
    """The batch of a file that did not become a row."""
    return ReadBatch(empty_batch(), (loss,))
