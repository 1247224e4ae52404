"""The ledger: one row for every record that a step dropped or quarantined, and measures by record.

LEDGER (Parquet, role `ledger`): `id`, `dataset`, `step`, `verdict` (drop, quarantine), `reason` (a word of
the step's closed vocabulary), `measure`, `value`, `limit` (NaN where the decision has none), `keeper` (id of
the kept record, for duplicates), `source`, `file` (name relative to the source's glob), `offset` (bytes, or
rows in columnar files), `url`, `chars` (of the text that the step saw), `content_hash`, `detail`, and `row`:
the ordinal of the record in its split (-1-n for the n-th that never became a row), which ties a repeated
key's later renaming to its entries.

CUTS (role `cuts`): one row for every passage that a corpus-wide step took out of a record, one that it emptied (which
the ledger has, too) among them: `id`, `dataset`, `step`, `reason`, `start` and `stop` (bytes of the text as the step
saw it), `chars`, `keeper` (id of the record in which the passage stays; null where none does), `value` (how often it
stands in the corpus), `source`, `row`, and `text`, the first CUT_CHARS characters of the passage.

MEASURES (role `measures`): `id`, `source`, `step`, `measure`, `value`, `row` as above, and
`profile`: whose limits applied (a language, mostly), null for a stage without profiles.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import ID_BYTES

LEDGER = pa.schema(
    [
        ("id", pa.string()),
        ("dataset", pa.string()),
        ("step", pa.string()),
        ("verdict", pa.string()),
        ("reason", pa.string()),
        ("measure", pa.string()),
        ("value", pa.float64()),
        ("limit", pa.float64()),
        ("keeper", pa.string()),
        ("source", pa.string()),
        ("file", pa.string()),
        ("offset", pa.int64()),
        ("url", pa.string()),
        ("chars", pa.int64()),
        ("content_hash", pa.binary(ID_BYTES)),
        ("detail", pa.large_string()),
        ("row", pa.int64()),
    ]
)

MEASURES = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("step", pa.string()),
        ("measure", pa.string()),
        ("value", pa.float64()),
        ("row", pa.int64()),
        ("profile", pa.string()),
    ]
)

CUT_CHARS = 200

CUTS = pa.schema(
    [
        ("id", pa.string()),
        ("dataset", pa.string()),
        ("step", pa.string()),
        ("reason", pa.string()),
        ("start", pa.int64()),
        ("stop", pa.int64()),
        ("chars", pa.int64()),
        ("keeper", pa.string()),
        ("value", pa.float64()),
        ("source", pa.string()),
        ("row", pa.int64()),
        ("text", pa.large_string()),
    ]
)

NAN = float("nan")


def rows_to_batch(rows: list[dict[str, object]], schema: pa.Schema) -> pa.RecordBatch:
    """A batch of `schema` from rows; a missing column is null, an unknown one a KeyError."""
    unknown = {name for row in rows for name in row} - set(schema.names)
    if unknown:
        raise KeyError(f"not columns of this schema: {sorted(unknown)}")
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def columns_to_batch(columns: Mapping[str, Any], rows: int, schema: pa.Schema) -> pa.RecordBatch:
    """A batch of `schema` from columns (arrays, or what makes one) of so many rows; a missing one is null."""
    arrays = [_column(columns.get(field.name), rows, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(values: Any, rows: int, wanted: pa.DataType) -> pa.Array:
    if values is None:
        return pa.nulls(rows, wanted)
    return values.cast(wanted) if isinstance(values, pa.Array) else pa.array(values, wanted)
