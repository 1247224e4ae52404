"""Documents with planted near-duplicates, and runs of minhash_dedup over them, for the tests of the search."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from gristmill.manifests.manifest import read_manifest
from tests.laws.running import run_inline, write_recipe

Doc = tuple[str, str]


def prose(seed: int, words: int) -> list[str]:
    """Words of no document but this one."""
    rng = random.Random(seed)
    return [f"w{rng.randrange(10**6)}" for _ in range(words)]


def edited(words: Sequence[str], seed: int, edits: int) -> list[str]:
    """The words with one block of new ones."""
    at = random.Random(seed).randrange(len(words) - edits)
    return [*words[:at], *prose(seed + 10**6, edits), *words[at + edits :]]


def corpus() -> list[Doc]:
    """200 documents: 120 of their own, 40 exact copies, 40 near copies of one block."""
    base = [prose(i, 80 + 7 * i % 300) for i in range(120)]
    copies = [("copy", base[i]) for i in range(40)]
    near = [("near", edited(base[i], i, 4)) for i in range(20, 60)]
    docs = [("base", b) for b in base] + copies + near
    return [(f"{kind}{i}", " ".join(words)) for i, (kind, words) in enumerate(docs)]


def write_docs(folder: Path, files: Mapping[str, Sequence[Doc]]) -> None:
    """JSONL files with `key` and `text`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, docs in files.items():
        lines = [json.dumps({"key": key, "text": text}) for key, text in docs]
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def recipe_of(folder: Path, params: Mapping[str, Any] | None = None, glob: str = "*.jsonl", name: str = "r") -> Path:
    """A recipe that deduplicates one dataset, `docs`."""
    step = {"minhash_dedup": dict(params)} if params else "minhash_dedup"
    docs = {"read": {"jsonl": glob, "key": "key"}, "domain": "web", "steps": [step]}
    return write_recipe(folder, yaml.safe_dump({"name": name, "datasets": {"docs": docs}}), f"{name}.yaml")


def table(out: Path, role: str, dataset: str = "docs") -> list[dict[str, Any]]:
    """Rows of a role's files."""
    files = read_manifest(out / dataset)[role]
    return [row for f in files for row in pq.read_table(out / dataset / f["path"]).to_pylist()]


def kept_keys(out: Path) -> list[str]:
    """Keys of the documents that stayed, sorted."""
    return sorted(json.loads(r["meta"])["key"] if r["meta"] else r["id"] for r in table(out, "shards"))


def kept_texts(out: Path) -> list[str]:
    """Texts that stayed, sorted."""
    return sorted(r["text"] for r in table(out, "shards"))


def deduplicated(
    tmp_path: Path, docs: Sequence[Doc], params: Mapping[str, Any] | None = None, name: str = "one"
) -> Path:
    """The output of a run over one file of documents."""
    folder = tmp_path / name
    write_docs(folder, {"docs.jsonl": docs})
    run_inline(recipe_of(folder, params), folder / "out")
    return folder / "out"


def neighbours(count: int) -> list[Doc]:
    """Documents that are all near one another, each with a word of its own."""
    words = prose(5, 300)
    return [(f"k{i}", " ".join([*words[: i % 290], f"own{i}", *words[i % 290 + 1 :]])) for i in range(count)]
