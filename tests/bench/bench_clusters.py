"""Clustering: 10^7 documents from band keys to verdicts; edges decided from spill files, and settled; union-find.

Each measurement runs in a process of its own, whose peak resident size it tells. Documents are synthetic
(`synthetic_search`): 30 % stand in planted clusters; `skewed` is the same where 30 % share one key of one band, too.

`clustered` is a run of `pipeline.similar.job.run_similar` with its tasks, on an engine that stands in for what reads
text: the band rows are made from nothing, no document is a copy, and a pair counts as verified when both are of one
cluster. All else is the product's: sorting and spilling rows, merging partitions, groups (`max_bucket` 32, `pivots` 8),
pairs once, demands, edges, verdicts. CPU seconds, all but for making the rows.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.pipeline.context import Context
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.pipeline.phases import LoadedStep
from gristmill.pipeline.recipe import Recipe
from gristmill.pipeline.similar import job
from gristmill.pipeline.similar.settle import Shards, decide
from gristmill.pipeline.similar.tables import mapped_batches
from gristmill.pipeline.spill import SpillWriter
from gristmill.stages import catalogue
from gristmill.stages.columns import column_of
from gristmill.stages.dedup.stars import fresh_status, kept, settle
from gristmill.stages.kernels.components import fresh_parents, labels, union_edges
from gristmill.stages.protocol import DROP
from tests.bench.synthetic_search import (
    DOCUMENTS_A_SHARD,
    Clock,
    SyntheticEngine,
    documents_at,
    edge_rows,
    places_among,
    planted,
    ranks,
    shards_of,
)

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

REPO = Path(__file__).parents[2]
PEER = REPO / ".venv-peers" / "bin" / "python"

DOCUMENTS = 10_000_000

SKEWED = 0.3

SPILLED_EDGES, EDGE_FILES = 20_000_000, 64
EDGE_NODES, EDGES_A_NODE, EDGES_A_BLOCK = 10_000_000, 10, 4_000_000
UNION_NODES = 10_000_000


def silent(event: EngineEvent) -> None:
    """Nobody watches."""


def skewed() -> dict[str, Any]:
    """The same with a band in which SKEWED of all rows are one group."""
    return clustered(skew=SKEWED)


def clustered(documents: int = DOCUMENTS, skew: float = 0.0) -> dict[str, Any]:
    """Documents from band keys to verdicts."""
    cluster = planted(documents)
    stage: Any = catalogue.load("minhash_dedup", {}, Path("."))
    stage.prepare()
    with tempfile.TemporaryDirectory(dir=REPO / "build") as folder:
        engine = SyntheticEngine(ObjectStore(Path(folder)), cluster, skew)
        recipe = cast(Recipe, SimpleNamespace(base_dir=Path(".")))
        step = LoadedStep("minhash_dedup", "minhash_dedup", {}, stage, "exchange", "")
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        context = Context(ObjectStore(Path(folder)), engine, recipe, silent)
        found = job.run_similar(context, "d", step, shards_of(documents))
        wall_s, cpu_s = (
            time.perf_counter() - wall_s - engine.making_s,
            time.process_time() - cpu_s - engine.making_cpu_s,
        )
        settled = {path: None for drops in found.drops for path, _, _ in drops.ranges}
        dropped = checked(engine.edges, list(settled), documents)
    seconds = {part: s for part, s in engine.clock.seconds.items() if s >= 0.05}
    seconds["driver"] = cpu_s - sum(engine.clock.seconds.values())
    return {"seconds": seconds, "cpu_s": cpu_s, "wall_s": wall_s, "dropped": dropped, **found.facts}


def checked(edges: Sequence[Path], verdicts: Sequence[str], documents: int) -> int:
    """How many go. Raises where two neighbours stay, or one goes that has no neighbour."""
    places = places_among(documents)
    stays, touched = np.ones(documents, np.bool_), np.zeros(documents, np.bool_)
    for batch in (b for path in verdicts for b in mapped_batches(path)):
        goes = batch.column("kind").to_numpy(zero_copy_only=False) == DROP
        stays[documents_at(batch.column("addr").to_numpy()[goes], places)] = False
    for batch in (b for path in edges for b in mapped_batches(path)):
        low, high = (documents_at(batch.column(name).to_numpy(), places) for name in ("addr", "higher_addr"))
        touched[low] = True
        if (stays[low] & stays[high]).any():
            raise RuntimeError("two neighbours stay")
    if (~stays & ~touched).any():
        raise RuntimeError("one goes that has no neighbour of better rank")
    return int((~stays).sum())


def spilled_edges(root: Path) -> list[str]:
    """Files of edges between EDGE_NODES documents, each over all ranks: as a keeper's policy makes them."""
    rng = np.random.default_rng(4)
    place = rng.permutation(EDGE_NODES).astype(np.uint64)
    addr = ((place // DOCUMENTS_A_SHARD) << np.uint64(32)) | place % DOCUMENTS_A_SHARD
    paths: list[str] = []
    for number in range(EDGE_FILES):
        low = rng.integers(1, EDGE_NODES, SPILLED_EDGES // EDGE_FILES)
        high = (rng.random(len(low)) * low).astype(np.int64)
        ends = [column_of(ranks(n.astype(np.uint64) << np.uint64(32))) for n in (low, high)]
        rows = edge_rows([*ends, pa.array(addr[low]), pa.array(addr[high])], pa.array(np.ones(len(low), np.uint64)))
        writer = ObjectStore(root).begin(f"{number:032x}", {})
        spill = SpillWriter(writer, rows.schema)
        spill.part(sort_rows(rows).to_batches())
        spill.close("edges")
        receipt = writer.commit({})
        paths.append(str(ObjectStore(root).path(receipt.key, receipt.files[0])))
    return paths


class Anonymous:
    """The most MiB of memory of its own, without mapped files, that this process has while it is watched."""

    def __enter__(self) -> "Anonymous":
        self.most_mib, self._ends = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._ends.wait(0.05):
            told = Path("/proc/self/status").read_text().partition("RssAnon:")[2].split()[0]
            self.most_mib = max(self.most_mib, int(told) / 1024)

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()


def decided() -> dict[str, Any]:
    """SPILLED_EDGES from mapped files to verdicts."""
    sizes = [s.entry.rows for s in shards_of(EDGE_NODES)]
    with tempfile.TemporaryDirectory(dir=REPO / "build") as folder:
        paths = spilled_edges(Path(folder))
        # Kernels are loaded before it is timed.
        decide(paths[:0], [], Shards([1], 1, [0]), 0.7)
        pa.default_memory_pool().release_unused()
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        with Anonymous() as memory:
            table = decide(paths, [], Shards(sizes, len(sizes), range(len(sizes))), 0.7)
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        file_bytes = sum(Path(path).stat().st_size for path in paths)
    dropped = int((table.column("kind").to_numpy() == DROP).sum())
    more = {"file_bytes": file_bytes, "dropped": dropped, "anon_mib": memory.most_mib}
    return {"wall_s": wall_s, "cpu_s": cpu_s, **more}


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
    peer: dict[str, Any] = found.get("peer") or {}
    if peer and peer["components"] != count:
        raise RuntimeError(f"scipy finds {peer['components']} components, not {count}")
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


def told(found: dict[str, Any]) -> str:
    """What a search took, part by part, and found."""
    seconds = ", ".join(f"{part} {seconds:.1f}" for part, seconds in found["seconds"].items())
    millions = ", ".join(f"{found[name] / 1e6:.1f} M {name}" for name in ("compared", "similar", "dropped"))
    groups = f"largest group {found['largest_group']}, {found['rounds']} rounds"
    return f"CPU s ({seconds}; wall {found['wall_s']:.0f}); {millions}; {groups}"


def main() -> list[dict[str, Any]]:
    """Seconds and peak memory of each."""
    whole, skew, spilled, edges, union = (apart(n) for n in ("clustered", "skewed", "decided", "settled", "united"))
    peer = union.get("peer") or {}
    rate = UNION_NODES / 1e6 / union["seconds"]
    files = f"CPU s; wall {spilled['wall_s']:.0f}; {spilled['file_bytes'] / SPILLED_EDGES:.0f} B an edge on disk"
    a_document = f"MiB without mapped files, {spilled['anon_mib'] * 2**20 / EDGE_NODES:.0f} B a document"
    rows: list[dict[str, Any]] = [
        {"what": "10^7 documents clustered", "value": whole["cpu_s"], "unit": told(whole), "target": "< 60"},
        {"what": "its peak", "value": whole["peak_mib"] / 1024, "unit": "GiB", "target": "< 4"},
        {"what": "the same, 30 % in one group of a band", "value": skew["cpu_s"], "unit": told(skew)},
        {"what": "its peak", "value": skew["peak_mib"] / 1024, "unit": "GiB", "target": "< 4"},
        {"what": "2 x 10^7 spilled edges of 10^7 documents decided", "value": spilled["cpu_s"], "unit": files},
        {"what": "its peak", "value": spilled["anon_mib"], "unit": f"{a_document}; {spilled['dropped']} go"},
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
