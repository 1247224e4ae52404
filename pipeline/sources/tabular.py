"""From batches of any Arrow schema (Parquet, Arrow IPC) to documents and losses.

In: the text column (option `text`) is a string or binary column; the key column (`key`, else `id`, else `key`) one of
strings or integers; `url`, `lang` (else `language`) and `license` are taken where they are strings. All other columns
go into `meta` as JSON (binary as base64). Out: as `fields`; losses have the row's number in the file as their offset.

A file that Gristmill wrote (its schema metadata says so, or its columns are those of DOCUMENT) keeps `id` (where it is
one), `media`, `parents`, `derivation` and `meta` as they are. Nothing of it is believed: hashes are made anew.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import InputError
from gristmill.manifests.schema import DOCUMENT
from gristmill.pipeline.sources.columns import Columns, empty_batch, finished_batch, identity
from gristmill.pipeline.sources.fields import DEFAULT_KEYS, Fields, meta_of, with_urls
from gristmill.pipeline.sources.losses import lose
from gristmill.pipeline.sources.own_documents import miscounted_media, own_batch, own_column, with_sha256
from gristmill.pipeline.sources.protocol import InputFile, Loss, ReadBatch, ReadOptions

_KNOWN = (("url",), ("lang", "language"), ("license",))
OWN_METADATA = b"gristmill"
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TablePlan:
    """Which column is what; `keys` in order of preference, `meta` the names of the rest."""

    text: str
    keys: tuple[str, ...]
    url: str | None
    lang: str | None
    license: str | None
    meta: tuple[str, ...]
    own: bool
    fields: Fields


def plan_table(schema: pa.Schema, file: InputFile, options: ReadOptions) -> TablePlan:
    """What the columns of a file are. Raises InputError where it has no text, or a text or key of a wrong type."""
    fields = Fields.of(options)
    strings = {field.name for field in schema if _is_text(field.type)}
    _check_column(fields.text, "text", schema, file, _is_bytes)
    keys = (fields.key,) if fields.key else tuple(name for name in DEFAULT_KEYS if name in schema.names)
    for key in keys:
        _check_column(key, "key", schema, file, _is_key)
    own = OWN_METADATA in (schema.metadata or {}) or schema.names == DOCUMENT.names
    url, lang, license = (next((name for name in names if name in strings), None) for names in _KNOWN)
    taken = {fields.text, url, lang, license}
    meta = tuple(name for name in dict.fromkeys(schema.names) if name not in taken)
    return TablePlan(fields.text, keys, url, lang, license, meta, own and schema.names == DOCUMENT.names, fields)


def touch_names(fields: Iterable[pa.Field]) -> None:
    """Raises UnicodeDecodeError now if a column's name, at any depth, is not UTF-8."""
    for field in fields:
        _ = field.name
        touch_names(field.type.field(number) for number in range(field.type.num_fields))


def _check_column(
    name: str, option: str, schema: pa.Schema, file: InputFile, fits: Callable[[pa.DataType], bool]
) -> None:
    found = schema.get_all_field_indices(name)
    if len(found) != 1:
        what = f"has {len(found)} columns `{name}`" if found else f"has no column `{name}`"
        shown = ", ".join(schema.names)
        raise InputError(what, where=file.url, remedy=f"name the column by `{option}:`; there are {shown}")
    kind = schema.field(found[0]).type
    if not fits(kind):
        wanted = "strings" if option == "text" else "strings or integers"
        raise InputError(f"column `{name}` holds {kind}", where=file.url, remedy=f"it must hold {wanted}")


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_bytes(kind: pa.DataType) -> bool:
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    return _is_text(kind) or binary or pa.types.is_null(kind)


def _is_key(kind: pa.DataType) -> bool:
    return _is_text(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)


def read_table_batch(
    batch: pa.RecordBatch, first_row: int, plan: TablePlan, options: ReadOptions
) -> Iterator[ReadBatch]:
    """The rows and losses of one batch whose first row has the number `first_row` in its file."""
    text = batch.schema.names.index(plan.text)
    # All columns count: a dictionary may hold one large value for every row.
    sizes = sum(map(byte_sizes, batch.columns), start=np.zeros(batch.num_rows, np.int64))
    for start, stop in _cuts(sizes, options):
        part = batch.slice(start, stop - start)
        texts = part.column(text).cast(pa.large_binary())
        yield _read_rows(_Rows(part, texts, byte_sizes(texts), {}), first_row + start, plan, options)


def byte_sizes(column: pa.Array) -> npt.NDArray[np.int64]:
    """Bytes of each value of a string or binary column, a dictionary's too; 0 for nulls and other types."""
    if pa.types.is_dictionary(column.type):
        sizes = pa.array(byte_sizes(column.dictionary)).take(column.indices)
    elif pa.types.is_binary_view(column.type) or pa.types.is_string_view(column.type):
        sizes = pc.binary_length(column.cast(pa.large_binary()))
    elif _is_bytes(column.type) and not pa.types.is_null(column.type):
        sizes = pc.binary_length(column)
    else:
        return np.zeros(len(column), np.int64)
    return np.asarray(pc.fill_null(sizes, 0), np.int64)


@dataclass(frozen=True)
class _Rows:
    """Rows within the bounds of a batch: all columns, the text as large_binary, its sizes, and row -> fault
    (reason, detail)."""

    batch: pa.RecordBatch
    text: pa.Array
    sizes: npt.NDArray[np.int64]
    faults: dict[int, tuple[str, str]]

    def column(self, name: str) -> pa.Array:
        """The first column of a name."""
        return self.batch.column(self.batch.schema.names.index(name))


def _cuts(sizes: npt.NDArray[np.int64], options: ReadOptions) -> Iterator[tuple[int, int]]:
    """Rows in runs within the bounds of a batch; a larger row is alone."""
    ends, start = np.cumsum(sizes), 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        fit = int(np.searchsorted(ends, before + options.batch_bytes, "right"))
        stop = min(max(fit, start + 1), start + options.batch_rows)
        yield start, stop
        start = stop


def _read_rows(rows: _Rows, first_row: int, plan: TablePlan, options: ReadOptions) -> ReadBatch:
    _check_texts(rows, options.max_doc_bytes)
    keys = _keys(rows, plan)
    metas = [None] * len(rows.text) if plan.own else _metas(rows, plan)
    if plan.own:
        rows = _with_own_media(rows)
    sound = np.ones(len(rows.text), np.bool_)
    sound[list(rows.faults)] = False
    losses = tuple(_lost(rows, row, first_row, options) for row in sorted(rows.faults))
    if not sound.any():
        return ReadBatch(empty_batch(), losses)
    whole = not rows.faults and rows.text.offset == 0 and _bounds(rows.text)[0] == 0
    text = (rows.text if whole else rows.text.filter(pa.array(sound))).cast(pa.large_string())
    if plan.own:
        return ReadBatch(own_batch(rows.batch.filter(pa.array(sound)), text, _chosen(keys, sound), options), losses)
    urls = _chosen(_strings(rows, plan.url), sound)
    columns = Columns(
        with_urls([_key_text(key, plan) for key in _chosen(keys, sound)], urls),
        urls,
        _chosen(_strings(rows, plan.lang), sound),
        _chosen(_strings(rows, plan.license), sound),
        _chosen(metas, sound),
    )
    return ReadBatch(finished_batch(text, columns, options), losses)


def _with_own_media(rows: _Rows) -> _Rows:
    media, damaged = with_sha256(own_column(rows.column("media"), "media"))
    for row in miscounted_media(rows.text, media):
        rows.faults.setdefault(row, ("bad_field", "media"))
    for row in damaged:
        rows.faults.setdefault(row, ("bad_field", "sha256 of a medium"))
    batch = rows.batch.set_column(rows.batch.schema.names.index("media"), "media", media)
    return replace(rows, batch=batch)


def _check_texts(rows: _Rows, max_bytes: int) -> None:
    for row in np.flatnonzero(np.asarray(rows.text.is_null())).tolist():
        rows.faults[row] = ("missing_text", "")
    for row in np.flatnonzero(rows.sizes > max_bytes).tolist():
        rows.faults[row] = ("too_large", "text")
    for row in not_utf8(rows.text):
        rows.faults.setdefault(row, ("bad_utf8", ""))


def not_utf8(text: pa.Array) -> list[int]:
    """Rows of a large_binary array that are not UTF-8, found by halving."""
    try:
        text.cast(pa.large_string())
    except pa.ArrowInvalid:
        if len(text) == 1:
            return [0]
        half = len(text) // 2
        return not_utf8(text.slice(0, half)) + [half + row for row in not_utf8(text.slice(half))]
    return []


def _keys(rows: _Rows, plan: TablePlan) -> list[str | int | None]:
    """The key of each row, None where it has none."""
    keys: list[str | int | None] = [None] * len(rows.text)
    for name in plan.keys:
        values = _values(rows, name)
        keys = [value if key is None and value != "" else key for key, value in zip(keys, values, strict=True)]
    if plan.fields.key:
        for row, key in enumerate(keys):
            if key is None:
                rows.faults.setdefault(row, ("missing_key", plan.fields.key))
    return keys


def _key_text(key: str | int | None, plan: TablePlan) -> str | None:
    return None if key is None else identity("key", plan.fields.dataset, str(key))


def _metas(rows: _Rows, plan: TablePlan) -> list[bytes | None]:
    columns = {name: _values(rows, name) for name in plan.meta}
    metas: list[bytes | None] = []
    for row in range(len(rows.text)):
        doc = {name: values[row] for name, values in columns.items() if values[row] is not None}
        try:
            metas.append(meta_of(doc, plan.fields, _plain))
        except TypeError as error:
            metas.append(None)
            rows.faults.setdefault(row, ("bad_field", str(error)))
    return metas


def _plain(value: object) -> str:
    """What orjson knows no form of."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def _values(rows: _Rows, name: str) -> list[Any]:
    """The values of a column; a row in which one is not UTF-8 is at fault."""
    column = rows.column(name)
    shown = _shown_type(column.type)
    if shown != column.type:
        column = column.cast(shown)
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        return [_value(rows, row, name, scalar) for row, scalar in enumerate(column)]


def _shown_type(kind: pa.DataType) -> pa.DataType:
    """The type with strings for times, at any depth: Python has none with nanoseconds."""
    if pa.types.is_temporal(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_shown_type(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_shown_type(kind.key_type), _shown_type(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        make = pa.list_ if pa.types.is_list(kind) else pa.large_list
        return make(kind.value_field.with_type(_shown_type(kind.value_type)))
    return kind


def _value(rows: _Rows, row: int, name: str, scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        rows.faults.setdefault(row, ("bad_utf8", f"column {name}"))
        return None


def _strings(rows: _Rows, name: str | None) -> list[str | None]:
    return [None] * len(rows.text) if name is None else _values(rows, name)


def _chosen(values: Sequence[Any], sound: Mask) -> list[Any]:
    return [value for value, good in zip(values, sound.tolist(), strict=True) if good]


def _lost(rows: _Rows, row: int, first_row: int, options: ReadOptions) -> Loss:
    reason, detail = rows.faults[row]
    raw = rows.text.slice(row, 1)
    data = b"" if raw.null_count else memoryview(raw.buffers()[2] or b"")[slice(*_bounds(raw))]
    if reason == "too_large":
        return lose(reason, data, first_row + row, detail, len(data), options.max_doc_bytes)
    return lose(reason, data, first_row + row, detail)


def _bounds(one: pa.Array) -> tuple[int, int]:
    offsets = np.frombuffer(one.buffers()[1], np.int64)
    return int(offsets[one.offset]), int(offsets[one.offset + 1])
