"""JSON Lines: one object a line; plain, .gz (many members) or .zst (many frames).

In: a file; fields as in `fields`. Out: rows of DOCUMENT in the order of the lines. Losses: `bad_utf8`, `bad_json`
(also NaN, lone surrogates, over 1,024 levels), `not_an_object`, `missing_text`, `bad_field`, `missing_key` for a line
alone; `too_large` for a line above `max_doc_bytes`; `truncated` and `corrupt` for a tail, or for what lies between a
damaged member and the next one. Offsets are those of the line in the uncompressed stream. Lines end at a line feed
and nothing else; blank ones are no records; a byte order mark before a line is passed over.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import orjson

from gristmill.pipeline.sources.batching import DocumentBuilder
from gristmill.pipeline.sources.columns import replace_medium_chars
from gristmill.pipeline.sources.fields import FIELD_OPTIONS, Fields, fault_of, take_columns
from gristmill.pipeline.sources.files import open_binary
from gristmill.pipeline.sources.kernel_use import kernels_pay
from gristmill.pipeline.sources.lines import Lines, read_lines
from gristmill.pipeline.sources.long_lines import split_text, unescape
from gristmill.pipeline.sources.losses import lose
from gristmill.pipeline.sources.protocol import InputFile, Loss, OptionValue, ReadBatch, ReadOptions
from gristmill.pipeline.sources.streams import read_pieces

NAME = "jsonl"
OPTIONS: dict[str, OptionValue] = FIELD_OPTIONS
SUFFIXES = tuple(name + end for name in (".jsonl", ".ndjson", ".jsonlines") for end in ("", ".gz", ".zst"))
_BOM = b"\xef\xbb\xbf"
# A line above this is read by `long_lines`, alone in its batch, so that its text is never held as a str.
LONG_LINE_BYTES = 8 << 20


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The rows and losses of one file. Raises InputError if it cannot be opened."""
    fields, builder = Fields.of(options), DocumentBuilder(options)
    with open_binary(file.url) as raw:
        for block in read_lines(read_pieces(raw, file.rel), options.max_doc_bytes):
            if isinstance(block, Loss):
                yield from builder.lose(block)
            elif len(block.lines) == 1 and len(block.lines[0]) > LONG_LINE_BYTES:
                yield from _read_long(block, fields, builder, options)
            else:
                yield from _read_block(block, fields, builder, options)
            del block  # a long line is let go before the next one is read
        yield from builder.finish()


def _read_block(block: Lines, fields: Fields, builder: DocumentBuilder, options: ReadOptions) -> Iterator[ReadBatch]:
    if _take_apart(block, fields, builder, options):
        return
    taken = None
    if max(map(len, block.lines)) <= options.max_doc_bytes:
        with suppress(orjson.JSONDecodeError):
            taken = take_columns(list(map(orjson.loads, block.lines)), fields)
    if taken is None:
        losses: list[Loss] = []
        taken = take_columns(list(_sound_docs(block, losses, fields, options.max_doc_bytes)), fields)
        assert taken is not None, "objects without a fault have columns"
        for loss in losses:
            yield from builder.lose(loss)
    yield from builder.add(*taken, sum(map(len, block.lines)))


def _take_apart(block: Lines, fields: Fields, builder: DocumentBuilder, options: ReadOptions) -> bool:
    """Whether the lines were added by the kernel that writes their texts straight into the batch; if not, nothing
    was. The batches are the same either way."""
    if block.data is None or not kernels_pay(size := sum(map(len, block.lines))):
        return False
    place = builder.place(len(block.lines), size)
    if place is None or size > options.max_doc_bytes:
        return False
    from gristmill.stages.kernels.json_text import split_lines
    from gristmill.stages.kernels.utf8 import NOT_UTF8, PLAIN, classify

    starts = np.array(block.starts, np.int64)
    ends = starts + np.array(list(map(len, block.lines)), np.int64)
    found = split_lines(np.frombuffer(block.data, np.uint8), starts, ends, fields.text.encode(), *place)
    if found is None:
        return False
    sizes, rest = found
    buffer, start = place
    end = start + int(sizes.sum())
    try:
        taken = take_columns(orjson.loads(rest), fields)
    except orjson.JSONDecodeError:
        return False
    if taken is None or len(taken[0]) != len(sizes) or (kind := classify(buffer, start, end)) == NOT_UTF8:
        return False
    if kind != PLAIN:
        replace_medium_chars(buffer[start:end])
    builder.wrote(sizes.tolist(), taken[1])
    return True


def _sound_docs(block: Lines, losses: list[Loss], fields: Fields, max_bytes: int) -> Iterator[Any]:
    """The objects that can become rows; each other line that is not blank becomes a loss."""
    offset, last = block.offset, len(block.lines) - 1
    for at, view in enumerate(block.lines):
        line = bytes(view) if isinstance(view, memoryview) else view
        if len(line) > max_bytes:
            losses.append(lose("too_large", line, offset, "line", len(line), max_bytes))
        else:
            doc, fault = _parse(line, block.unended and at == last)
            fault = fault or fault_of(doc, fields)
            if fault is None:
                yield doc
            elif line.strip() and not (block.unsure and at == 0 and not isinstance(doc, dict)):
                losses.append(lose(fault[0], line, offset, fault[1]))
        offset += len(line) + 1


def _parse(line: bytes | bytearray, unended: bool) -> tuple[Any, tuple[str, str] | None]:
    """What the line holds, or why it holds nothing."""
    try:
        return orjson.loads(line.removeprefix(_BOM)), None
    except orjson.JSONDecodeError as error:
        if unended:
            return None, ("truncated", f"the file ends inside a line: {error.msg}")
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as wrong:
            return None, ("bad_utf8", f"{wrong.reason} at byte {wrong.start} of the line")
        return None, ("bad_json", f"{error.msg} at character {error.pos} of the line")


def _read_long(block: Lines, fields: Fields, builder: DocumentBuilder, options: ReadOptions) -> Iterator[ReadBatch]:
    """One long line, of which only the text and the line itself are ever held."""
    line = block.lines[0]
    found = None if isinstance(line, memoryview) else split_text(line, fields.text)
    if found is None or isinstance(line, memoryview) or len(line) > options.max_doc_bytes:
        yield from _read_block(block, fields, builder, options)
        return
    doc, fault = _parse(found.rest, block.unended)
    fault = fault or fault_of(doc, fields)
    try:
        text = b"" if fault else unescape(line, found.start, found.end)
    except orjson.JSONDecodeError as error:
        text, fault = b"", ("bad_utf8" if "UTF-8" in error.msg else "bad_json", f"{fields.text}: {error.msg}")
    taken = take_columns([doc], fields) if fault is None else None
    if fault is not None:
        yield from builder.lose(lose(fault[0], line, block.offset, fault[1]))
    elif taken is not None:
        block.lines.clear()
        del line
        yield from builder.add_alone(text, taken[1])
