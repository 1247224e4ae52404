"""Parts of spill files: read alone, and refused when a byte of them, or of the schema they are read by, changed."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import VerifyError
from gristmill.pipeline.spill import SpillWriter, read_part
from gristmill.stages.columns import column_of
from gristmill.stages.protocol import emitted_schema

SCHEMA = emitted_schema(9, 17)


def rows(count: int, seed: int) -> list[pa.RecordBatch]:
    rng = np.random.default_rng(seed)
    key, order = (column_of(rng.integers(0, 256, (count, width), dtype=np.uint8)) for width in (9, 17))
    return [pa.RecordBatch.from_arrays([key, order, pa.array(np.arange(count, dtype=np.uint64))], schema=SCHEMA)]


@pytest.fixture
def spilled(tmp_path: Path) -> tuple[Path, list[list[Any]], list[list[pa.RecordBatch]]]:
    given = [[], rows(3, 1), [], rows(70_000, 2), rows(1, 3), []]
    writer = ObjectStore(tmp_path).begin("0" * 32, {})
    spill = SpillWriter(writer, SCHEMA)
    for part in given:
        spill.part(part)
    spill.close("spill")
    receipt = writer.commit({})
    return ObjectStore(tmp_path).path(receipt.key, receipt.files[0]), spill.parts, given


def test_parts_are_read_alone(spilled: tuple[Path, list[list[Any]], list[list[pa.RecordBatch]]]) -> None:
    path, parts, given = spilled
    for part, batches in zip(parts, given, strict=True):
        whole = pa.Table.from_batches(batches, schema=SCHEMA)
        assert pa.Table.from_batches(list(read_part(path, part)), schema=SCHEMA).equals(whole)


def test_a_flipped_bit_is_never_read_over(
    spilled: tuple[Path, list[list[Any]], list[list[pa.RecordBatch]]],
) -> None:
    """Also in the schema, which stands in the first part: a key of eight bytes for one of nine shifted all rows."""
    path, parts, given = spilled
    raw = path.read_bytes()
    head = parts[1][4] - 3 * (9 + 17 + 8) - 200
    for at in [*range(8, head), parts[4][3] + 1, parts[4][4] - 1]:
        path.write_bytes(raw[:at] + bytes([raw[at] ^ (1 << at % 8)]) + raw[at + 1 :])
        try:
            found = list(read_part(path, parts[4]))
        except VerifyError:
            continue
        assert found[0].equals(given[4][0]) and found[0].schema.equals(SCHEMA)
