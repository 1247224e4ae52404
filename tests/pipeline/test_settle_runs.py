"""Files of edges are merged as few runs, whatever ranges of rank they cover, and verdicts are those of all edges."""

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import VerifyError
from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.pipeline.similar import settle
from gristmill.pipeline.similar.settle import Shards, decide
from gristmill.pipeline.similar.tables import edges_schema
from gristmill.pipeline.spill import SpillWriter
from gristmill.stages.protocol import DROP

Edge = tuple[int, int]


def written(root: Path, files: list[list[Edge]]) -> list[str]:
    """Files of edges (lower, higher) between documents that are numbered by rank."""
    schema = edges_schema(17)
    paths: list[str] = []
    for number, edges in enumerate(files):
        rows = [
            {
                "key": low.to_bytes(17, "big"),
                "order": high.to_bytes(17, "big"),
                "addr": low,
                "higher_addr": high,
                "keeper": high.to_bytes(16, "big"),
                "value": 0.9,
                "bands": 1,
                "count": 1,
                "higher_count": 1,
            }
            for low, high in edges
        ]
        writer = ObjectStore(root).begin(f"{number:032x}", {})
        spill = SpillWriter(writer, schema)
        spill.part(sort_rows(pa.Table.from_pylist(rows, schema=schema)).to_batches())
        spill.close("edges")
        receipt = writer.commit({})
        paths.append(str(ObjectStore(root).path(receipt.key, receipt.files[0])))
    return paths


def dropped(paths: list[str], documents: int) -> list[int]:
    table = decide(paths, [], Shards([documents], 1, [0]), 0.7)
    return table.column("addr").to_numpy()[table.column("kind").to_numpy() == DROP].tolist()


def expected(edges: list[Edge], documents: int) -> list[int]:
    gone: set[int] = set()
    for low in range(documents):
        if any(a == low and b not in gone for a, b in edges):
            gone.add(low)
    return sorted(gone)


@pytest.mark.parametrize("cut", ["by rank", "any", "two rounds"])
def test_verdicts_do_not_depend_on_how_edges_lie_in_files(cut: str, tmp_path: Path) -> None:
    rng = random.Random(3)
    edges = sorted({(low, rng.randrange(low)) for low in rng.choices(range(1, 300), k=600)})
    by_rank = [[e for e in edges if e[0] // 20 == part] for part in range(15)]
    files = {
        "by rank": by_rank,
        "any": [edges[i::15] for i in range(15)],
        "two rounds": [some for part in by_rank for some in (part[::2], part[1::2])],
    }[cut]
    rng.shuffle(files)
    paths = written(tmp_path, [f for f in files if f])
    assert len(settle._runs(paths)) == {"by rank": 1, "any": 15, "two rounds": 2}[cut]  # pyright: ignore[reportPrivateUsage]
    assert dropped(paths, 300) == expected(edges, 300)


def test_files_that_meet_at_one_document_are_not_one_run(tmp_path: Path) -> None:
    paths = written(tmp_path, [[(5, 1), (9, 4)], [(9, 2), (12, 3)]])
    assert len(settle._runs(paths)) == 2  # pyright: ignore[reportPrivateUsage]
    assert dropped(paths, 20) == [5, 9, 12]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    paths = written(tmp_path, [[(5, 1)], [(9, 2)]])
    raw = Path(paths[1]).read_bytes()
    Path(paths[1]).write_bytes(raw[: len(raw) // 2])
    with pytest.raises(VerifyError, match="damaged"):
        dropped(paths, 20)
    assert np.array_equal(dropped(paths[:1], 20), [5])
