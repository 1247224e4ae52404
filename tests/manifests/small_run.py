"""One small run with every fate in it, made once; tests take copies of it.

Datasets: `a` (JSON lines: short documents dropped, a bad line quarantined, a key that comes twice), `b`, `corpus`
(both; exact duplicates dropped, then what is very long), `train` (rows of 128 tokens) and `holdout`.
"""

import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.manifests.canonical import digest_bytes
from gristmill.manifests.manifest import read_manifest, write_manifest
from gristmill.manifests.receipt import FileEntry
from gristmill.manifests.row_index import index_of_shard
from tests.laws.running import run_inline

LONG = "the longest text of all " * 60
RECIPE = """\
name: small
seed: 3
tokenizer: bytes
holdout: {frac: 0.1, seed: 5}
datasets:
  a:
    read: {jsonl: "a.jsonl", key: id}
    domain: web
    steps: ["./rules.py:short"]
  b:
    read: {jsonl: "b.jsonl", key: id}
    domain: code
  corpus:
    from: [a, b]
    steps: [exact_dedup, "./rules.py:long"]
  train:
    from: [corpus]
    steps:
      - emit: {context: 128}
"""
RULES = '''\
from gristmill.stages import doc_filter


@doc_filter(drop_below={"n_words": 8})
def short(text):
    """Short documents."""
    return {"n_words": len(text.split())}


@doc_filter(drop_above={"n_chars": 1000})
def long(text):
    """Long documents."""
    return {"n_chars": len(text)}
'''


def write_inputs(folder: Path) -> Path:
    """The inputs and the recipe; the recipe's path."""
    lines: list[str] = []
    for n in range(60):
        text = f"document number {n} " + "has words about the mill " * (n % 7)
        lines.append(json.dumps({"id": f"k{n}", "text": text, "url": f"https://example.org/{n}"}))
    for n in range(3, 9):
        text = json.loads(lines[n])["text"]
        lines.append(json.dumps({"id": f"d{n}", "text": text, "url": f"https://mirror.example.org/{n}"}))
    again = "the same key once more, with enough words to be kept"
    lines.append(json.dumps({"id": "k5", "text": again, "url": "https://example.org/5"}))
    lines.append(json.dumps({"id": "long", "text": LONG, "url": "https://example.org/long"}))
    (folder / "a.jsonl").write_text("\n".join([*lines, '{"id": "bad", "text": ']) + "\n")
    texts = [f"\u00fc\u00f1\u00ee \x1b[31m code {n} \u7edf\u8ba1 " * (n + 1) for n in range(12)]
    records = [json.dumps({"id": f"b{n}", "text": text}) for n, text in enumerate(texts)]
    (folder / "b.jsonl").write_text("\n".join(records) + "\n")
    (folder / "rules.py").write_text(RULES)
    recipe = folder / "recipe.yaml"
    recipe.write_text(RECIPE)
    return recipe


def make_run(folder: Path) -> Path:
    """Inputs and a finished run in a new folder; the output."""
    folder.mkdir(parents=True, exist_ok=True)
    run_inline(write_inputs(folder), folder / "out")
    return folder / "out"


def copy_run(out: Path, target: Path) -> Path:
    """A copy of an output in which hard links stay hard links."""
    subprocess.run(["cp", "-a", str(out), str(target)], check=True)
    return target


def forge_manifest(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """Change a manifest and seal it anew."""
    manifest = {k: v for k, v in read_manifest(folder).items() if k != "digest"}
    edit(manifest)
    write_manifest(folder, manifest)


def forge_table(folder: Path, file_list: str, edit: Callable[[pa.Table], pa.Table]) -> None:
    """Change the first file of one of a manifest's lists and its entry, as a faulty writer would have made them."""
    entry = FileEntry.from_json(read_manifest(folder)[file_list][0])
    path = folder / entry.path
    if path.suffix == ".parquet":
        table = edit(pq.read_table(path))
        path.unlink()
        pq.write_table(table, path, write_page_checksum=True)
    else:
        with pa.memory_map(str(path)) as source:
            table = edit(pa.ipc.open_file(source).read_all())
        data = pa.BufferOutputStream()
        with pa.ipc.new_file(data, table.schema) as writer:
            writer.write_table(table)
        path.unlink()
        path.write_bytes(data.getvalue())
    data_now = path.read_bytes()
    now = replace(entry, rows=table.num_rows, bytes=len(data_now), digest=digest_bytes(data_now))

    def enter(manifest: dict[str, Any]) -> None:
        manifest[file_list][0] = asdict(now)

    forge_manifest(folder, enter)
    if file_list == "shards" and path.suffix == ".arrow":
        with suppress(KeyError, ValueError, OSError):  # what is forged may have no index
            forge_index(folder, index_of_shard(path, now.digest))


def forge_index(folder: Path, data: bytes) -> None:
    """Change the index of the first shard of rows, and its entry."""
    entry = FileEntry.from_json(read_manifest(folder)["row_indexes"][0])
    path = folder / entry.path
    path.unlink()
    path.write_bytes(data)
    now = replace(entry, bytes=len(data), digest=digest_bytes(data))
    forge_manifest(folder, lambda manifest: manifest["row_indexes"].__setitem__(0, asdict(now)))


def set_column(table: pa.Table, name: str, values: object) -> pa.Table:
    """The table with another column of the same type."""
    index = table.schema.get_field_index(name)
    field = table.schema.field(index)
    return table.set_column(index, field, pa.array(values, field.type))
