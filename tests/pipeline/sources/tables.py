"""Tables for the tests of Parquet and Arrow, and the same rows as JSON Lines."""

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from hypothesis import strategies as st

from gristmill.pipeline.sources.protocol import ReadOptions
from tests.pipeline.sources.reading import Read, read

Row = dict[str, Any]

ROWS: list[Row] = [
    {
        "id": "one",
        "text": "first \u00e9\u4e2d\U0001f600",
        "url": "https://example.org/1",
        "lang": "en",
        "score": 0.5,
        "n": 1,
    },
    {"id": "two", "text": "", "url": "https://example.org/2", "license": "MIT", "score": 1.5, "n": 2},
    {"id": "three", "text": "third", "lang": "fr", "n": 3},
]
TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
KEYED_ROWS = st.lists(
    st.fixed_dictionaries(
        {"text": TEXT, "id": st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)},
        optional={"url": TEXT, "lang": TEXT, "note": TEXT, "n": st.integers(-(2**63), 2**63 - 1)},
    ),
    min_size=1,
    max_size=20,
)


def table(rows: list[Row]) -> pa.Table:
    """A table with every name that any row has."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def as_jsonl(folder: Path, rows: list[Row], options: ReadOptions) -> Read:
    """What the same rows are when read from JSON Lines."""
    path = folder / "same.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return read("jsonl", path, options)


def without_meta(found: Read) -> list[Row]:
    """Rows without `meta`."""
    return [{name: value for name, value in row.items() if name != "meta"} for row in found.rows]


def metas(found: Read) -> list[Any]:
    """What stands in the namespace of the dataset, of each row."""
    return [orjson.loads(row["meta"])["d"] if row["meta"] else {} for row in found.rows]
