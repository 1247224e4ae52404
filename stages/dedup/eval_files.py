"""Evaluation files as items with texts: JSON lines (plain, gzip, zstd) and Parquet, told by their first bytes.

An item is a JSON object, a string, or a row of a table. Its texts are all strings in it, also those in lists and
objects inside ("choices.text"), or those of the `fields` that are named. It is called by file name and line (row) from
1 on, and by its own `id` where it has one. What cannot be read is an InputError with file and line before any work: an
evaluation set that is half read is one that is not looked for.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import orjson
import pyarrow as pa
import zstandard

from gristmill.manifests.errors import InputError, UsageError

ID_FIELDS = ("id", "task_id", "question_id", "problem_id", "example_id", "unique_id", "uid", "key", "name")
"""Columns that name an item, the first that it has; `task_id` is HumanEval's and MBPP's."""

_ID_CHARS = 80
_GZIP, _ZSTD, _PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK_BYTES = 1 << 20
_REMEDY = "give JSON lines, one object with its texts a line (plain, .gz, .zst), or Parquet"


class EvalText(NamedTuple):
    """One text of an item: the item's number among all, the field that it stands in ("" for a string), the text."""

    item: int
    field: str
    text: str


class EvalItems(NamedTuple):
    """The items of some files: a name for each, their texts in order of items; `files` of each item, by number."""

    names: list[str]
    texts: list[EvalText]
    files: list[int]


def read_items(paths: Sequence[str], fields: Sequence[str]) -> EvalItems:
    """All items of the files. Raises InputError on a file that cannot be read or holds no text, UsageError on a field
    that no item of any file has."""
    found = EvalItems([], [], [])
    labels, seen = file_labels(paths), set[str]()
    for number, path in enumerate(paths):
        before = len(found.texts)
        for place, item in _items(path):
            texts = list(_texts(item, fields))
            seen.update(cast(dict[str, Any], item) if isinstance(item, dict) else [])
            found.texts.extend(EvalText(len(found.names), field, text) for field, text in texts)
            found.names.append(_name(labels[number], place, item))
            found.files.append(number)
        if len(found.texts) == before:
            _refuse_empty(path, fields, seen)
    missing = [field for field in fields if field not in seen]
    if missing:
        raise UsageError("no evaluation item has this field", "stage decontaminate.fields", missing[0], _known(seen))
    return found


def file_labels(paths: Sequence[str]) -> list[str]:
    """File names without folders; the second file of a name is `name#2`."""
    names = [Path(path).name for path in paths]
    return [
        name if names[:i].count(name) == 0 else f"{name}#{names[:i].count(name) + 1}" for i, name in enumerate(names)
    ]


def _refuse_empty(path: str, fields: Sequence[str], seen: set[str]) -> None:
    if fields and seen:
        raise InputError(
            "no item of this evaluation file has text in the fields", path, ", ".join(fields), _known(seen)
        )
    raise InputError("an evaluation file without text", path, None, _REMEDY)


def _known(seen: set[str]) -> str:
    return f"the items have {', '.join(sorted(seen)[:20]) or 'no fields'}"


def _name(label: str, place: int, item: object) -> str:
    own = _own_id(cast(dict[str, Any], item)) if isinstance(item, dict) else ""
    return f"{label}:{place} ({own})" if own else f"{label}:{place}"


def _own_id(item: Mapping[str, Any]) -> str:
    for field in ID_FIELDS:
        value = item.get(field)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return " ".join(str(value).split())[:_ID_CHARS]
    return ""


def _texts(item: object, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(path of names, text) of each string in an item, in its order; without recursion: a line may be nested deeply."""
    stack = [("", item)]
    if fields and isinstance(item, dict):
        stack = [(field, cast(dict[str, Any], item)[field]) for field in reversed(fields) if field in item]
    while stack:
        field, value = stack.pop()
        if isinstance(value, str):
            if value.strip():
                yield field, value
        elif isinstance(value, dict):
            inside = [(_path(field, key), part) for key, part in cast(dict[str, Any], value).items()]
            stack.extend(reversed(inside))
        elif isinstance(value, list | tuple):
            stack.extend((field, part) for part in reversed(cast(Sequence[Any], value)))


def _path(field: str, key: str) -> str:
    return f"{field}.{key}" if field else key


def _items(path: str) -> Iterator[tuple[int, object]]:
    try:
        with open(path, "rb") as stream:
            head = stream.read(4)
            stream.seek(0)
            yield from _rows(path) if head == _PARQUET else _lines(path, _unpacked(stream, head))
    except (OSError, EOFError, ValueError, OverflowError, zlib.error, zstandard.ZstdError, pa.ArrowException) as error:
        raise InputError("an evaluation file cannot be read", path, str(error), _REMEDY) from error


def _unpacked(stream: BinaryIO, head: bytes) -> BinaryIO:
    if head.startswith(_GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
    if head == _ZSTD:
        return cast(BinaryIO, zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True))
    return stream


def _lines(path: str, stream: BinaryIO) -> Iterator[tuple[int, object]]:
    for number, given in enumerate(_split(stream), start=1):
        line = given.removeprefix(_BYTE_ORDER_MARK)
        if not line.strip():
            continue
        try:
            item = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InputError(f"not JSON ({error})", f"{path}, line {number}", ascii(line[:80]), _REMEDY) from error
        if not isinstance(item, dict | str):
            shown = ascii(line[:80])
            raise InputError("an item is a JSON object or a string", f"{path}, line {number}", shown, _REMEDY)
        yield number, item


def _split(stream: BinaryIO) -> Iterator[bytes]:
    """The lines; a long one is put together once, in linear time."""
    parts: list[bytes] = []
    while block := stream.read(_BLOCK_BYTES):
        first, *others = block.split(b"\n")
        parts.append(first)
        for line in others:
            yield b"".join(parts)
            parts = [line]
    yield b"".join(parts)


def _rows(path: str) -> Iterator[tuple[int, object]]:
    """The rows; of columns that hold neither text nor ids no more than the names."""
    import pyarrow.parquet as pq

    number = 0
    with pq.ParquetFile(path) as table:
        schema = table.schema_arrow
        wanted = list(dict.fromkeys(f.name for f in schema if _may_hold_text(f.type) or _may_be_id(f)))
        unread = dict.fromkeys(schema.names)
        for batch in table.iter_batches(batch_size=1024, columns=wanted):
            for row in batch.to_pylist():
                number += 1
                yield number, unread | row


def _may_be_id(field: pa.Field) -> bool:
    return field.name in ID_FIELDS and pa.types.is_integer(field.type)


def _may_hold_text(kind: Any) -> bool:
    while pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        kind = kind.value_type
    is_binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    return not (pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind) or is_binary)
