"""What is near one another is held out together, also where the one that joins two kept documents went."""

from pathlib import Path

import yaml

from tests.laws.running import run_inline, write_recipe
from tests.pipeline.similar_docs import prose, table, write_docs

CLUSTERS = 24


def test_kept_members_of_a_cluster_are_on_one_side(tmp_path: Path) -> None:
    """Of three documents, each shifted against the one before, the first and the last are not similar: where the one
    between them goes, both stay, in one cluster."""
    docs: list[tuple[str, str]] = []
    for cluster in range(CLUSTERS):
        words = prose(cluster, 140)
        docs += [(f"c{cluster}m{m}", " ".join(words[20 * m : 20 * m + 100])) for m in range(3)]
    write_docs(tmp_path, {"docs.jsonl": docs})
    step = {"minhash_dedup": {"bands": 60, "rows": 2, "threshold": 0.6}}
    read = {"jsonl": "docs.jsonl", "key": "key"}
    recipe = {
        "name": "r",
        "tokenizer": "bytes",
        "holdout": {"frac": 0.5, "seed": 1},
        "datasets": {
            "docs": {"read": read, "domain": "web", "steps": [step]},
            "rows": {"from": ["docs"], "steps": [{"emit": {"context": 1024}}]},
        },
    }
    run_inline(write_recipe(tmp_path, yaml.safe_dump(recipe)), tmp_path / "out")
    kept = table(tmp_path / "out", "shards")
    held = {row["id"] for row in table(tmp_path / "out", "shards", "holdout")}
    by_cluster: dict[bytes, list[bool]] = {}
    for row in kept:
        by_cluster.setdefault(row["dup_cluster"] or row["content_hash"], []).append(row["id"] in held)
    pairs = [sides for sides in by_cluster.values() if len(sides) == 2]
    assert len(pairs) >= 4, "the middle one went in too few clusters for a test"
    assert all(sides[0] == sides[1] for sides in pairs)
    assert {sides[0] for sides in by_cluster.values()} == {True, False}
