"""A run of `minhash_dedup` over a corpus, as the command does it, and what became of each document."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from gristmill.manifests.manifest import read_manifest
from tests.stages.dedup.truth import twin
from tests.stages.dedup.truth.corpus import Doc

Row = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """Documents by their number: rows of those that were read, rows of those kept, ledger rows of those that went."""

    docs: Sequence[Doc]
    read: Mapping[int, Row]
    kept: Mapping[int, Row]
    gone: Mapping[int, Row]
    keeper: Mapping[int, int]
    """Of each document that went, the one that the ledger names."""

    def stays(self, kind: str) -> list[int]:
        """Documents of a kind that were kept."""
        return [i for i in self.kept if self.docs[i].kind == kind]

    def faults(
        self, threshold: float, similarity: Callable[..., float] = twin.jaccard, size: int = twin.SIZE
    ) -> list[str]:
        """What is wrong with a removal: its keeper is not kept, or is not as similar by the twin as was told."""
        found: list[str] = []
        for number, keeper in self.keeper.items():
            row, doc, other = self.gone[number], self.docs[number], self.docs[keeper]
            if keeper not in self.kept:
                found.append(f"{number}: its keeper {keeper} went, too")
            if row["reason"] == "exact_duplicate":
                found += [f"{number}: other text than {keeper}"] * (doc.text != other.text)
                continue
            share = similarity(*(twin.shingles(one.text, one.domain, size) for one in (doc, other)))
            if share < threshold or abs(share - row["value"]) > 1e-12:
                found.append(f"{number}: {share} to {keeper}, told {row['value']}, threshold {threshold}")
        return found


def write_recipe(
    folder: Path, docs: Sequence[Doc], order: Sequence[int], files: int = 1, params: Mapping[str, Any] | None = None
) -> Path:
    """A recipe that reads the documents by domain, in an order and so many files, and deduplicates them all."""
    folder.mkdir(parents=True, exist_ok=True)
    datasets: dict[str, Any] = {}
    for domain in sorted({doc.domain for doc in docs}):
        lines = [json.dumps({"key": str(i), "text": docs[i].text}) for i in order if docs[i].domain == domain]
        for part in range(files):
            content = "".join(f"{line}\n" for line in lines[part::files])
            (folder / f"{domain}-{part}.jsonl").write_text(content, encoding="utf-8")
        datasets[domain] = {"read": {"jsonl": f"{domain}-*.jsonl", "key": "key"}, "domain": domain}
    step = {"minhash_dedup": dict(params)} if params else "minhash_dedup"
    datasets["corpus"] = {"from": list(datasets), "steps": [step]}
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump({"name": "judged", "datasets": datasets}, sort_keys=False), encoding="utf-8")
    return path


def rows_of(out: Path, dataset: str, role: str) -> list[Row]:
    """All rows of a role's files."""
    files = read_manifest(out / dataset)[role]
    return [row for file in files for row in pq.read_table(out / dataset / file["path"]).to_pylist()]


def judged(docs: Sequence[Doc], out: Path) -> Judged:
    """What a run of such a recipe left."""
    number: dict[str, int] = {}
    read: dict[int, Row] = {}
    for domain in {doc.domain for doc in docs}:
        for row in rows_of(out, domain, "shards"):
            number[row["id"]] = found = int(json.loads(row["meta"])[domain]["key"])
            read[found] = row
    gone = {number[row["id"]]: row for row in rows_of(out, "corpus", "ledger")}
    return Judged(
        docs=docs,
        read=read,
        kept={number[row["id"]]: row for row in rows_of(out, "corpus", "shards")},
        gone=gone,
        keeper={i: number[row["keeper"]] for i, row in gone.items()},
    )
