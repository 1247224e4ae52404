"""Band rows that are made in order are those that are sorted."""

import numpy as np
import pyarrow as pa
import pytest

from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.stages import catalogue
from gristmill.stages.dedup.minhash_rows import BandRows, band_rows, sorted_rows
from gristmill.stages.protocol import EmitsSorted, emitted_schema
from tests.stages.dedup.exchanges import documents


@pytest.mark.parametrize("documents", [0, 1, 3, 5000])
@pytest.mark.parametrize("bands", [1, 14, 256])
def test_rows_made_in_order_are_those_sorted(documents: int, bands: int) -> None:
    """Keys of few values, in several bands alike; ranks that tie, so that addresses decide."""
    rng = np.random.default_rng(documents + bands)
    keys = rng.choice(np.array([0, 1, 1 << 63, (1 << 64) - 1, 77 << 56], np.uint64), (documents, bands))
    keys[: documents // 2] = rng.integers(0, 1 << 63, (documents // 2, bands), dtype=np.uint64)
    order = rng.integers(0, 2, (documents, 17), dtype=np.uint8)
    addr = rng.permutation(documents).astype(np.uint64)
    expected = sort_rows(pa.Table.from_batches([band_rows(keys, order, addr)]))
    assert pa.Table.from_batches([sorted_rows(keys, order, addr)]).equals(expected)


def test_a_shard_is_emitted_in_order() -> None:
    stage = catalogue.load("minhash_dedup", {"keep": ["longest"]}, None).keys()  # type: ignore[arg-type]
    assert isinstance(stage, BandRows) and isinstance(stage, EmitsSorted)
    texts = ["", "too short", *(" ".join(f"w{i % 7}{j}" for j in range(40)) for i in range(30))]
    batches = [documents([{"text": text} for text in some]) for some in (texts[:10], [], texts[10:])]
    addr = [np.arange(10, dtype=np.uint64), np.zeros(0, np.uint64), np.arange(10, 32, dtype=np.uint64)]
    schema = emitted_schema(stage.key_bytes, stage.order_bytes)
    emitted = pa.Table.from_batches([stage.emit(b, a) for b, a in zip(batches, addr, strict=True)], schema=schema)
    assert emitted.num_rows == 30 * stage.rows_each
    made = stage.emit_sorted(zip(batches, addr, strict=True))
    assert pa.Table.from_batches([made]).equals(sort_rows(emitted))
    assert stage.emit_sorted(iter(())).num_rows == 0
