"""code_rules, secrets and pii on one core: CPU seconds over real sources, beside datatrove's PIIFormatter.

Input: the Python files of the demo's corpus where it has been gathered, else the standard library's; each in records of
one file. Medians of interleaved rounds, after one that is not counted. The syntax check runs in a child and is timed by
wall clock.
"""

import importlib.util
import os
import time
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from gristmill.manifests.schema import document_batch
from gristmill.stages.text.code_rules import CodeRules
from gristmill.stages.text.pii import Pii
from gristmill.stages.text.secrets import Secrets
from tests.bench.bench_stages import ROUNDS, cpu_seconds

REPO = Path(__file__).parents[2]
MAX_BYTES = 12_000_000
SYNTAX_FILES = 200


def sources() -> tuple[list[str], list[str]]:
    """Paths and texts of real source files."""
    root = REPO / "demo" / "input" / "code"
    root = root if root.is_dir() else Path(os.__file__).parent
    paths, texts, size = list[str](), list[str](), 0
    for path in sorted(p for p in root.rglob("*.py") if "site-packages" not in p.parts):
        text = path.read_text("utf-8", "replace")
        size += len(text)
        if size > MAX_BYTES:
            break
        paths.append(str(path.relative_to(root)))
        texts.append(text)
    return paths, texts


def _batch(paths: list[str], texts: list[str]) -> pa.RecordBatch:
    metas = [orjson.dumps({"code": {"path": path}}).decode() for path in paths]
    return document_batch({"text": pa.array(texts, pa.large_string()), "meta": pa.array(metas, pa.large_string())})


def rates() -> list[dict[str, Any]]:
    """Each stage in MB/s, pii beside datatrove's formatter (e-mail and IP addresses, the same there)."""
    paths, texts = sources()
    batch = _batch(paths, texts)
    megabytes = batch.column("text").nbytes / 1e6
    rules, secrets, pii, addresses = CodeRules(), Secrets(), Pii(), Pii(kinds=("email", "ip"))
    works: dict[str, Any] = {
        "code_rules": lambda: rules.measure(batch),
        "secrets": lambda: secrets.transform(batch),
        "pii": lambda: pii.transform(batch),
        "addresses": lambda: addresses.transform(batch),
    }
    peer = _peer()
    if peer is not None:
        works["peer"] = lambda: [peer.format(text) for text in texts]
    found = cpu_seconds(works)
    size = f"{ROUNDS} rounds of {len(texts)} files, {megabytes:.0f} MB"
    named = {"code_rules": "code_rules, all measures but syntax", "secrets": "secrets", "pii": "pii, default kinds"}
    rows: list[dict[str, Any]] = [
        {"what": what, "value": megabytes / found[name][0], "unit": "MB/s", "n": size, "spread": found[name][1]}
        for name, what in named.items()
    ]
    for row in rows[1:]:
        row["target"] = 100
    row = {"what": "pii, addresses", "value": megabytes / found["addresses"][0], "unit": "MB/s", "n": size}
    if "peer" in found:
        rate = megabytes / found["peer"][0]
        row |= {"peer": "datatrove PIIFormatter", "peer_value": rate, "ratio": row["value"] / rate}
    return [*rows, row]


def _peer() -> Any:
    try:
        return importlib.import_module("datatrove.pipeline.formatters").PIIFormatter()
    except ImportError:
        return None


def syntax() -> list[dict[str, Any]]:
    """The syntax check, where its parser is installed."""
    if importlib.util.find_spec("tree_sitter_language_pack") is None:
        return []
    paths, texts = sources()
    batch = _batch(paths[:SYNTAX_FILES], texts[:SYNTAX_FILES])
    rules = CodeRules(syntax="measure")
    rules.measure(batch.slice(0, 1))
    before = time.perf_counter()
    rules.measure(batch)
    rate = batch.column("text").nbytes / 1e6 / (time.perf_counter() - before)
    return [{"what": "code_rules with syntax, wall clock", "value": rate, "unit": "MB/s", "n": f"{SYNTAX_FILES} files"}]


def main() -> list[dict[str, Any]]:
    """All of the above."""
    return [*rates(), *syntax()]
