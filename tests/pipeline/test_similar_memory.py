"""Comparing candidates takes memory by the block and the largest document, not by what a part or a shard holds."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.schema import DOCUMENT
from gristmill.manifests.shard import ParquetShards
from gristmill.pipeline.similar.set_files import SetFiles, located, pair_blocks, shared_by_pair
from gristmill.pipeline.similar.tables import MERGED, sets_schema
from gristmill.pipeline.spill import SpillWriter
from gristmill.pipeline.task import make_task
from gristmill.pipeline.tasks.similar_verify import verified

REPO = Path(__file__).parents[2]
SETS = sets_schema(17)
MIB = 1 << 20
HASHES_A_MIB = MIB // 8

_PEAK = """
import json, sys
from pathlib import Path
from gristmill.manifests.commit import ObjectStore
from gristmill.pipeline.task import make_task, run_task
from gristmill.stages import catalogue

def status(name):
    return int(Path("/proc/self/status").read_text().partition(name)[2].split()[0])

out, kind, payload = Path(sys.argv[1]), sys.argv[2], json.loads(Path(sys.argv[3]).read_text())
catalogue.load("minhash_dedup", {}, Path(".")).prepare()
run_task(ObjectStore(out / "small"), make_task(kind, {}, payload["small"], ""))
before = status("VmRSS:")
Path("/proc/self/clear_refs").write_text("5")
receipt = run_task(ObjectStore(out / "large"), make_task(kind, {}, payload["large"], ""))
print(json.dumps({"grown": (status("VmHWM:") - before) / 1024, "facts": receipt.facts}))
"""


def growth(folder: Path, kind: str, small: dict[str, Any], large: dict[str, Any]) -> dict[str, Any]:
    """MiB that a task on `large` adds, at its peak, to what a process resides in after one on `small`; its facts."""
    payloads = folder / "payloads.json"
    payloads.write_text(json.dumps({"small": small, "large": large}))
    words = [sys.executable, "-c", _PEAK, str(folder), kind, str(payloads)]
    done = subprocess.run(words, cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def hashes(rng: np.random.Generator, count: int) -> np.ndarray:
    """So many, ascending, at least two apart."""
    return np.cumsum(rng.integers(2, 1 << 40, count, np.uint64), dtype=np.uint64)


def near(values: np.ndarray, step: int) -> np.ndarray:
    """The set with every so manieth hash replaced."""
    changed = values.copy()
    changed[::step] += np.uint64(1)
    return changed


def sets_batch(rows: list[int], sets: list[np.ndarray]) -> pa.RecordBatch:
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sets])])
    lists = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.array(np.concatenate(sets), pa.uint64()))
    ids = pa.array([row.to_bytes(16, "big") for row in rows], SETS.field("id").type)
    orders = pa.array([row.to_bytes(17, "big") for row in rows], SETS.field("order").type)
    columns = [pa.array(rows, pa.uint64()), orders, ids, pa.array(rows, pa.int64()), lists]
    return pa.RecordBatch.from_arrays(columns, schema=SETS)


def spilled(root: Path, name: str, batches: Callable[[], Any]) -> tuple[str, list[Any], int]:
    """`[path, part, base]` of a spill file whose second part, of three, holds the batches."""
    writer = ObjectStore(root).begin(name * 32, {})
    spill = SpillWriter(writer, SETS)
    for part in ([], batches(), []):
        spill.part(part)
    spill.close("sets")
    receipt = writer.commit({})
    return str(ObjectStore(root).path(receipt.key, receipt.files[0])), spill.parts[1], 0


def merged(root: Path, pairs: list[tuple[int, int]]) -> str:
    """A file of pairs of addresses."""
    low, high = zip(*pairs, strict=True)
    arrays = [pa.array(c, pa.uint64()) for c in (low, high, [1] * len(pairs))]
    writer = ObjectStore(root).begin("f" * 32, {})
    spill = SpillWriter(writer, MERGED)
    spill.part([pa.RecordBatch.from_arrays(arrays, schema=MERGED)])
    spill.close("merged")
    receipt = writer.commit({})
    return str(ObjectStore(root).path(receipt.key, receipt.files[0]))


def verify_payload(root: Path, documents: int, hashes_each: int) -> dict[str, Any]:
    """Documents in three files, each of which is like the next one."""
    rng = np.random.default_rng(1)

    def batches(first: int, stop: int) -> Any:
        for row in range(first, stop, 2):
            own = hashes(rng, hashes_each)
            yield sets_batch([row, row + 1], [own, near(own, 20)])

    bounds = [2 * (i * documents // 6) for i in range(4)]
    sets = [
        spilled(root, "abc"[i], lambda i=i: batches(bounds[i], bounds[i + 1]))
        for i in range(3)
        if bounds[i + 1] > bounds[i]
    ]
    pairs = [(row + 1, row) for row in range(0, documents, 2)]
    # And each second one with another cluster: not similar, and nothing that blocks could be cut by.
    pairs += [(row, row - 2) for row in range(2, documents, 4)]
    stage = {"stage": "minhash_dedup", "params": {}, "base_dir": "."}
    return {**stage, "merged": [merged(root, pairs)], "sets": sets}


@pytest.mark.parametrize(
    ("documents", "mib_each", "most"),
    [(300, 1, 100), (2, 110, 2 * 110 + 30)],
    ids=["many long sets", "one pair of 100 MB documents"],
)
def test_a_part_is_compared_in_memory_of_a_block(documents: int, mib_each: int, most: int, tmp_path: Path) -> None:
    """305 MiB of sets took another 935 MiB: all were put end to end, and sorted."""
    small = verify_payload(tmp_path / "s", 6, 1000)
    large = verify_payload(tmp_path / "l", documents, mib_each * HASHES_A_MIB)
    found = growth(tmp_path, "similar_verify", small, large)
    assert found["facts"]["similar"] == documents // 2
    assert found["grown"] < most


def shard_payload(root: Path, documents: int, chars: int) -> dict[str, Any]:
    """A shard of which all documents are wanted, by both of two parts."""
    rng = np.random.default_rng(1)
    store = ObjectStore(root)
    writer = store.begin("a" * 32, {})
    shards = ParquetShards(writer, "data", DOCUMENT)
    for row in range(documents):
        text = rng.integers(97, 123, chars, np.uint8).tobytes().decode()
        values = {"id": f"{row:032x}", "content_hash": bytes(16), "text": text, "domain": "web", "dup_count": None}
        shards.write(pa.RecordBatch.from_pylist([{f.name: values.get(f.name) for f in DOCUMENT}], schema=DOCUMENT))
    shards.close()
    shard = store.path("a" * 32, writer.commit({}).files[0])
    demand = root / "demand.arrow"
    addr = pa.record_batch([pa.array(range(documents), pa.uint64())], names=["addr"])
    with pa.ipc.new_file(str(demand), addr.schema) as file:
        file.write_batch(addr)
    stage = {"stage": "minhash_dedup", "params": {"unit": "char", "shingle": 20}, "base_dir": ".", "key": "0" * 16}
    demands = [[[str(demand), 0, documents]], [], [[str(demand), 0, documents]]]
    return {**stage, "shard": str(shard), "number": 0, "indexed": False, "base": 0, "demands": demands}


def test_the_sets_of_a_shard_are_written_as_they_are_made(tmp_path: Path) -> None:
    """40 MiB of text with a shingle a letter make 320 MiB of sets, which were held, and copied, at once.

    What is left is HELD_BYTES, and what a row group of 8 MiB takes to make sets of.
    """
    small, large = shard_payload(tmp_path / "s", 2, 1000), shard_payload(tmp_path / "l", 160, MIB // 4)
    found = growth(tmp_path, "similar_sets", small, large)
    assert found["facts"]["documents"] == 160
    assert found["grown"] < 400
    store = ObjectStore(tmp_path / "large")
    receipt = store.find(make_task("similar_sets", {}, large, "").key)
    assert receipt is not None and len(receipt.role("sets")) > 1
    for part in (0, 2):
        spills = [(str(store.path(receipt.key, f)), f.extra["parts"][part], 0) for f in receipt.role("sets")]
        assert located(spills).addr.tolist() == list(range(160))
    assert all(f.extra["parts"][1][2] == 0 for f in receipt.role("sets"))


def drawn(seed: int) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Sets, some empty, and pairs of them."""
    rng = random.Random(seed)
    sets = [sorted(rng.sample(range(60), rng.choice([0, 1, 5, 30]))) for _ in range(rng.randrange(2, 30))]
    pairs = {tuple(rng.sample(range(len(sets)), 2)) for _ in range(rng.randrange(1, 60))}
    return sets, sorted(pairs)  # type: ignore[arg-type]


def files_of(root: Path, sets: list[list[int]], batch_rows: int) -> SetFiles:
    """Those of even rows in one file with a base of 0, those of odd ones in another that is told first."""
    told: list[tuple[str, list[Any], int]] = []
    for name, first in (("b", 1), ("a", 0)):
        rows = list(range(first, len(sets), 2))

        def batches(rows: list[int] = rows) -> Any:
            for at in range(0, len(rows), batch_rows):
                some = rows[at : at + batch_rows]
                yield sets_batch(some, [np.array(sets[row], np.uint64) for row in some])

        told.append(spilled(root, name, batches))
    return located(told)


@pytest.mark.parametrize("block_bytes", [0, 100, 1000, 1 << 20])
@pytest.mark.parametrize("batch_rows", [1, 3, 100])
def test_shared_hashes_are_those_of_python_sets(block_bytes: int, batch_rows: int, tmp_path: Path) -> None:
    for seed in range(5):
        sets, pairs = drawn(seed)
        files = files_of(tmp_path / str(seed), sets, batch_rows)
        assert files.addr.tolist() == list(range(len(sets)))
        assert files.counts.tolist() == list(range(len(sets)))
        assert [int.from_bytes(i.tobytes(), "big") for i in files.ids] == list(range(len(sets)))
        low, high = np.array(pairs, np.int64).T
        expected = [len(set(sets[a]) & set(sets[b])) for a, b in pairs]
        assert shared_by_pair(files, low, high, block_bytes).tolist() == expected


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=60),
    st.integers(0, 200),
)
def test_blocks_are_as_long_as_they_may_be(weight: list[int], pairs: list[tuple[int, int]], most: int) -> None:
    pairs = [(a % len(weight), b % len(weight)) for a, b in pairs]
    low, high = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))

    def fits(some: list[tuple[int, int]]) -> bool:
        members = {end for pair in some for end in pair}
        return sum(weight[m] for m in members) <= max(most, 2 * max(weight[m] for m in members))

    at = 0
    for first, stop in pair_blocks(np.array(weight, np.int64), low, high, most):
        assert first == at < stop
        assert fits(pairs[first:stop])
        assert stop == len(pairs) or not fits(pairs[first : stop + 1])
        at = stop
    assert at == len(pairs)


def test_long_blocks_are_found_whatever_the_span() -> None:
    pairs = np.arange(20_000, dtype=np.int64)
    blocks = list(pair_blocks(np.ones(20_001, np.int64), pairs, pairs + 1, 10_000))
    assert blocks == [(0, 9_999), (9_999, 19_998), (19_998, 20_000)]


def test_sets_that_cannot_be_similar_are_not_read(tmp_path: Path) -> None:
    """The smaller of a pair has too little to share for the threshold."""
    files = files_of(tmp_path, [list(range(10)), list(range(100)), list(range(7)), list(range(10))], 10)
    pairs = pa.ipc.open_file(merged(tmp_path, [(1, 0), (2, 0), (3, 0)])).read_all()
    stage = SimpleNamespace(threshold=0.7, similarities=lambda shared, a, b: shared / np.maximum(a + b - shared, 1))
    asked: list[int] = []
    reading = SetFiles.read

    def read(sets: SetFiles, places: np.ndarray) -> Any:
        asked.extend(places.tolist())
        return reading(sets, places)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SetFiles, "read", read)
        edges = verified(stage, pairs, files)
    assert edges.column("addr").to_pylist() == [2, 3]
    assert edges.column("value").to_pylist() == [0.7, 1.0]
    assert asked == [0, 2, 3]


def test_a_set_that_is_absent_or_damaged_is_told(tmp_path: Path) -> None:
    files = files_of(tmp_path, [[1], [2]], 10)
    with pytest.raises(VerifyError, match="no set"):
        files.places(np.array([0, 2], np.uint64))
    told = spilled(tmp_path / "more", "a", lambda: [sets_batch([0], [np.arange(9, dtype=np.uint64)])])
    raw = bytearray(Path(told[0]).read_bytes())
    raw[told[1][4] - 1] ^= 1
    Path(told[0]).write_bytes(raw)
    with pytest.raises(VerifyError, match="damaged"):
        located([told])
    Path(told[0]).write_bytes(raw[: told[1][4] - 8])
    with pytest.raises(VerifyError, match="damaged"):
        located([told])
    Path(told[0]).unlink()
    with pytest.raises(VerifyError, match="damaged"):
        located([told])
