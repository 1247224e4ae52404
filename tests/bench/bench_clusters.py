"""Clustering: 10^7 documents from band keys to clusters, 10^8 edges settled, union-find beside scipy.

Each measurement runs in a process of its own, whose peak resident size it tells. Documents are synthetic: CLUSTERED of
them stand in planted near-duplicate clusters of geometric sizes, whose members share each band with probability
SHARED; and in one band every document of a share SKEWED has the same key (a template). Rows, spill files, merging,
groups, pairs and settling are those of a run; what is synthetic besides is that a pair counts as verified when both are
of one cluster. CPU seconds; making the documents is not timed. Addresses are ranks here, so that nodes need no table.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.pipeline.exchange_rows import fixed_bytes, merge_runs, part_of, partitions_for, sort_rows
from gristmill.pipeline.spill import SpillWriter, read_part
from gristmill.stages.dedup.stars import fresh_status, kept, ranked_edges, settle
from gristmill.stages.kernels.components import fresh_parents, labels, union_edges
from gristmill.stages.kernels.groups import group_starts, oversize, pair_blocks
from gristmill.stages.kernels.radix import sort_words
from gristmill.stages.protocol import emitted_schema

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

REPO = Path(__file__).parents[2]
PEER = REPO / ".venv-peers" / "bin" / "python"

DOCUMENTS = 10_000_000
BANDS = 14
DOCUMENTS_A_SHARD = 100_000
KEY_BYTES, ORDER_BYTES = 9, 16
CLUSTERED, SHARED, SKEWED = 0.3, 0.4, 0.3
MEAN_MEMBERS = 4
CAP, PIVOTS = 256, 3

EDGE_NODES, EDGES_A_NODE, EDGES_A_BLOCK = 10_000_000, 10, 4_000_000
UNION_NODES = 10_000_000


def mixed(values: Words, salt: int) -> Words:
    """splitmix64 of each value."""
    z = values + np.uint64((salt * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & 0xFFFFFFFFFFFFFFFF)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def chance(values: Words, salt: int) -> npt.NDArray[np.float64]:
    """A number in [0, 1) for each value."""
    return (mixed(values, salt) >> np.uint64(11)) * 2.0**-53


def planted(documents: int) -> npt.NDArray[np.uint32]:
    """The cluster of each document, uint32; one of its own for those that stand alone."""
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(documents).astype(np.uint32)
    sizes = rng.geometric(1 / (MEAN_MEMBERS - 1), documents // MEAN_MEMBERS) + 1
    sizes = sizes[np.cumsum(sizes) <= documents * CLUSTERED]
    cluster = np.arange(documents, dtype=np.uint32)
    cluster[shuffled[: sizes.sum()]] = np.repeat(shuffled[np.cumsum(sizes) - 1], sizes)
    return cluster


def band_rows(cluster: npt.NDArray[np.uint32], first: int, stop: int) -> pa.Table:
    """The rows that a shard of documents emits."""
    document = np.arange(first, stop, dtype=np.uint64)
    key = np.empty((BANDS, stop - first, KEY_BYTES), np.uint8)
    for band in range(BANDS):
        of = np.where(chance(document, band) < SHARED, cluster[first:stop], document)
        word = mixed(of.astype(np.uint64), 100 + band)
        if band == 0:
            word[chance(document, 99) < SKEWED] = np.uint64(7)
        key[band, :, :8] = word.astype(">u8").view(np.uint8).reshape(-1, 8)
        key[band, :, 8] = band
    order = np.zeros((stop - first, ORDER_BYTES), np.uint8)
    order[:, :8] = document.astype(">u8").view(np.uint8).reshape(-1, 8)
    order[:, 8:] = mixed(document, 98).view(np.uint8).reshape(-1, 8)
    rows = [
        _binary(key.reshape(-1, KEY_BYTES)),
        _binary(np.tile(order, (BANDS, 1))),
        pa.array(np.tile(document, BANDS)),
    ]
    return pa.Table.from_arrays(rows, schema=emitted_schema(KEY_BYTES, ORDER_BYTES))


def _binary(raw: npt.NDArray[np.uint8]) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(raw.shape[1]), len(raw), [None, pa.py_buffer(raw)])


class Clock:
    """CPU seconds of each part by name, and wall seconds of all; what is not in one is not timed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.wall_s = 0.0
        self._since = self._cpu_since = 0.0

    def start(self) -> None:
        self._since, self._cpu_since = time.perf_counter(), time.process_time()

    def stop(self, part: str) -> None:
        self.seconds[part] = self.seconds.get(part, 0.0) + time.process_time() - self._cpu_since
        self.wall_s += time.perf_counter() - self._since


def spilled(
    cluster: npt.NDArray[np.uint32], root: Path, parts: int, clock: Clock
) -> list[tuple[Path, list[list[int]]]]:
    """One spill file a shard, as the task `emit_keys` leaves it, and its parts."""
    files: list[tuple[Path, list[list[int]]]] = []
    for number, first in enumerate(range(0, len(cluster), DOCUMENTS_A_SHARD)):
        rows = band_rows(cluster, first, min(first + DOCUMENTS_A_SHARD, len(cluster)))
        clock.start()
        writer = ObjectStore(root).begin(f"{number:032x}", {})
        ordered = sort_rows(rows)
        bounds = np.searchsorted(part_of(ordered.column("key"), parts), np.arange(parts + 1))
        spill = SpillWriter(writer, rows.schema)
        for p in range(parts):
            spill.part(ordered.slice(int(bounds[p]), int(bounds[p + 1] - bounds[p])).to_batches())
        spill.close("spill")
        path = root / "objects" / f"{number:032x}" / writer.commit({}).files[0].path
        clock.stop("sort and spill")
        files.append((path, spill.parts))
    return files


def pairs_of(batches: Iterator[pa.RecordBatch], clock: Clock) -> tuple[list[Words], int]:
    """Candidate pairs of a partition, packed (worse, better); and its groups over the cap.

    All rows of the partition at once; a reducer that must not, carries a group's pivots from batch to batch.
    """
    clock.start()
    rows = pa.Table.from_batches(list(batches)).combine_chunks()
    clock.stop("merge")
    clock.start()
    starts = group_starts(fixed_bytes(rows.column("key")))
    node = rows.column("addr").to_numpy()
    found = [(node[right] << np.uint64(32)) | node[left] for left, right in pair_blocks(starts, CAP, PIVOTS)]
    clock.stop("groups and pairs")
    return found, len(oversize(starts, CAP))


def once(packed: list[Words]) -> Words:
    """Each pair once, sorted."""
    held = sort_words(np.concatenate(packed))
    first = np.ones(len(held), np.bool_)
    first[1:] = held[1:] != held[:-1]
    return held[first]


def clustered(documents: int = DOCUMENTS) -> dict[str, Any]:
    """Documents from band keys to clusters and those that go."""
    cluster, clock = planted(documents), Clock()
    parts = partitions_for(documents * BANDS)
    with tempfile.TemporaryDirectory(dir=REPO / "build") as folder:
        files = spilled(cluster, Path(folder), parts, clock)
        found: list[Words] = []
        over = 0
        for p in range(parts):
            more, large = pairs_of(merge_runs([read_part(path, part[p]) for path, part in files]), clock)
            found += more
            over += large
    clock.start()
    packed = once(found)
    lower, higher = (packed >> np.uint64(32)).astype(np.uint32), packed.astype(np.uint32)
    clock.stop("pairs once")
    candidates = len(packed)
    verified = cluster[lower] == cluster[higher]
    lower, higher = lower[verified], higher[verified]
    del packed, found, verified
    clock.start()
    low, high = ranked_edges(lower, higher)
    status = fresh_status(documents)
    settle(low, high, status)
    clock.stop("settle")
    clock.start()
    parent = fresh_parents(documents)
    union_edges(parent, low, high)
    label = labels(parent)
    clock.stop("components")
    stay = kept(status)
    assert not (stay[low] & stay[high]).any()
    assert (cluster[label] == cluster).all()
    return {
        "seconds": clock.seconds,
        "wall_s": clock.wall_s,
        "pairs": candidates,
        "edges": len(low),
        "over_cap": over,
        "dropped": int((~stay).sum()),
        "clusters_joined": int((label != np.arange(documents)).sum()),
    }


def edge_blocks(nodes: int) -> Iterator[tuple[Ints, Ints]]:
    """Sorted edges of a random graph, EDGES_A_NODE to better nodes from each, block by block."""
    rng = np.random.default_rng(2)
    for first in range(1, nodes, EDGES_A_BLOCK // EDGES_A_NODE):
        node = np.arange(first, min(nodes, first + EDGES_A_BLOCK // EDGES_A_NODE), dtype=np.int64)
        higher = (rng.random((len(node), EDGES_A_NODE)) * node[:, None]).astype(np.int64)
        higher.sort(axis=1)
        yield np.repeat(node, EDGES_A_NODE), higher.ravel()


def settled(nodes: int = EDGE_NODES) -> dict[str, Any]:
    """10^8 edges settled and their components found, block by block."""
    clock, status, parent, edges = Clock(), fresh_status(nodes), fresh_parents(nodes), 0
    for lower, higher in edge_blocks(nodes):
        clock.start()
        settle(lower, higher, status)
        clock.stop("settle")
        clock.start()
        union_edges(parent, lower, higher)
        clock.stop("components")
        edges += len(lower)
    return {"seconds": clock.seconds, "edges": edges, "kept": int(kept(status).sum())}


_SCIPY = """
import sys, time, json
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
nodes, file, rounds = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
a, b = np.load(file)
seconds = []
for _ in range(rounds):
    start = time.process_time()
    graph = coo_matrix((np.ones(len(a), np.int8), (a, b)), shape=(nodes, nodes)).tocsr()
    count, label = connected_components(graph, directed=False)
    seconds.append(time.process_time() - start)
print(json.dumps({"seconds": min(seconds), "components": int(count)}))
"""


def united(nodes: int = UNION_NODES, rounds: int = 3) -> dict[str, Any]:
    """Union-find over as many random edges as nodes, beside scipy from the same arrays (coo to csr to labels)."""
    edges = np.random.default_rng(3).integers(0, nodes, (2, nodes), dtype=np.int32)
    seconds: list[float] = []
    count = 0
    for _ in range(rounds):
        start = time.process_time()
        parent = fresh_parents(nodes)
        union_edges(parent, edges[0], edges[1])
        label = labels(parent)
        seconds.append(time.process_time() - start)
        count = int((label == np.arange(nodes)).sum())
    found: dict[str, Any] = {"seconds": min(seconds), "components": count}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "edges.npy"
        np.save(file, edges)
        words = [str(PEER), "-c", _SCIPY, str(nodes), str(file), str(rounds)]
        if PEER.exists():
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            found["peer"] = json.loads(done.stdout) if done.returncode == 0 else None
    if found.get("peer") and found["peer"]["components"] != count:
        raise RuntimeError(f"scipy finds {found['peer']['components']} components, not {count}")
    return found


_APART = """
import json, resource, sys
from tests.bench import bench_clusters
found = getattr(bench_clusters, sys.argv[1])()
found["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""


def apart(name: str) -> dict[str, Any]:
    """What a function of this module finds in a process of its own, with the peak of that."""
    words = [sys.executable, "-c", _APART, name]
    done = subprocess.run(words, cwd=REPO, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def main() -> list[dict[str, Any]]:
    """Seconds and peak memory of each."""
    whole, edges, union = apart("clustered"), apart("settled"), apart("united")
    spent = sum(whole["seconds"].values())
    detail = ", ".join(f"{part} {seconds:.1f}" for part, seconds in whole["seconds"].items())
    detail += f"; wall {whole['wall_s']:.1f}"
    millions = {name: f"{whole[name] / 1e6:.1f} M {name}" for name in ("pairs", "edges", "dropped")}
    told = ", ".join([*millions.values(), f"{whole['over_cap']} groups over the cap"])
    peer = union.get("peer") or {}
    rate = UNION_NODES / 1e6 / union["seconds"]
    rows: list[dict[str, Any]] = [
        {"what": "10^7 documents clustered", "value": spent, "unit": f"CPU s ({detail})", "target": "< 60", "n": 1},
        {"what": "its peak", "value": whole["peak_mib"], "unit": f"MiB ({told})", "target": "< 4096", "n": 1},
        {
            "what": "10^8 edges settled",
            "value": edges["seconds"]["settle"],
            "unit": f"CPU s; peak {edges['peak_mib']:.0f} MiB",
            "n": 1,
        },
        {"what": "10^8 edges united", "value": edges["seconds"]["components"], "unit": "CPU s", "n": 1},
        {
            "what": "union-find, 10^7 nodes and edges",
            "value": rate,
            "unit": "M edges/s",
            "target": ">= 2",
            "n": 3,
            "peer": "scipy connected_components" if peer else "scipy: not in .venv-peers",
        },
    ]
    if peer:
        rows[-1] |= {"peer_value": UNION_NODES / 1e6 / peer["seconds"], "ratio": peer["seconds"] / union["seconds"]}
    return rows
