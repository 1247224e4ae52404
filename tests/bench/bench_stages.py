"""The stages on one core: gopher_quality, language, extract_html beside bare resiliparse, and the child's own cost.

CPU seconds, medians of interleaved rounds, after one round that is not counted. Input: the pages of the real inputs
where they are there, else pages made of the standard library's sources; documents are the pages' text. The start
of a kernel in a fresh process is measured apart, with a warm cache and with an empty one.
"""

import html
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from gristmill.manifests.child import KillableChild
from gristmill.manifests.schema import document_batch
from gristmill.stages.text.extract_html import ExtractHtml
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.html_child import extract
from gristmill.stages.text.language import Language

REPO = Path(__file__).parents[2]
PAGES = 120
DOCUMENTS = 2000
DOC_CHARS = 8000
ROUNDS = 5
CHILD_RECORDS = 100_000


def pages() -> list[str]:
    """HTML pages."""
    shared = Path(os.environ.get("GRISTMILL_SHARED") or REPO.parent / "shared" / "data")
    found = [p.read_text() for p in sorted((shared / "web" / "python_doc").glob("*.html"))]
    if not found:
        sources = sorted(Path(os.__file__).parent.glob("*.py"))[:PAGES]
        found = [_page(path.read_text("utf-8", "replace")) for path in sources]
    return (found * (PAGES // len(found) + 1))[:PAGES]


def _page(source: str) -> str:
    paragraphs = "".join(f"<p>{html.escape(part)}</p>" for part in source.split("\n\n"))
    return f"<!doctype html><html><body><nav><a href='/'>menu</a></nav><main>{paragraphs}</main></body></html>"


def _batch(texts: list[str]) -> pa.RecordBatch:
    return document_batch({"text": pa.array(texts, pa.large_string())})


def cpu_seconds(works: Mapping[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Median CPU seconds of each, children included, and (max - min) / median."""
    spent: dict[str, list[float]] = {name: [] for name in works}
    for number in range(ROUNDS + 1):
        for name, work in works.items():
            before = time.process_time()
            work()
            if number:
                spent[name].append(time.process_time() - before)
    return {name: (median(s), (max(s) - min(s)) / median(s)) for name, s in spent.items()}


def rates() -> list[dict[str, Any]]:
    """gopher_quality in MB/s and language in documents/s."""
    texts = [extract(page.encode()).decode()[:DOC_CHARS] for page in pages()]
    batch = _batch((texts * (DOCUMENTS // len(texts) + 1))[:DOCUMENTS])
    megabytes = batch.column("text").nbytes / 1e6
    gopher, language = GopherQuality(), Language()
    found = cpu_seconds({"gopher": lambda: gopher.measure(batch), "language": lambda: language.transform(batch)})
    size = f"{DOCUMENTS} documents, {megabytes:.0f} MB"
    return [
        {
            "what": "gopher_quality, all measures",
            "value": megabytes / found["gopher"][0],
            "unit": "MB/s",
            "n": f"{ROUNDS} rounds of {size}",
            "spread": found["gopher"][1],
        },
        {
            "what": "language, 2,000 characters of each document",
            "value": DOCUMENTS / found["language"][0],
            "unit": "documents/s",
            "target": 2500,
            "n": f"{ROUNDS} rounds of {size}",
            "spread": found["language"][1],
        },
    ]


def extraction() -> list[dict[str, Any]]:
    """extract_html by wall clock (the work is the child's) beside resiliparse in this process."""
    batch, raw = _batch(pages()), [page.encode() for page in pages()]
    megabytes = sum(map(len, raw)) / 1e6
    stage, walls, bare = ExtractHtml(), list[float](), list[float]()
    for number in range(ROUNDS + 1):
        for spent, work in ((walls, lambda: stage.transform(batch)), (bare, lambda: [extract(page) for page in raw])):
            before = time.perf_counter()
            work()
            if number:
                spent.append(time.perf_counter() - before)
    return [
        {
            "what": "extract_html in the child, wall clock",
            "value": megabytes / median(walls),
            "unit": "MB/s of HTML",
            "peer": "bare resiliparse, same options",
            "peer_value": megabytes / median(bare),
            "ratio": median(bare) / median(walls),
            "n": f"{ROUNDS} rounds of {PAGES} pages, {megabytes:.1f} MB",
            "spread": (max(walls) - min(walls)) / median(walls),
        }
    ]


def child_cost() -> list[dict[str, Any]]:
    """What a small record costs on its way through the child and back."""
    with KillableChild("tests.manifests.child_targets:echo", env={"PYTHONPATH": str(REPO)}) as child:
        started = time.perf_counter()
        child.call(b"")
        start = time.perf_counter() - started
        payloads = [b"0123456789"] * CHILD_RECORDS
        before = time.perf_counter()
        child.call_many(payloads)
        each = (time.perf_counter() - before) / CHILD_RECORDS
    return [
        {"what": "killable child, a 10-byte record there and back", "value": each * 1e6, "unit": "us", "target": 30},
        {"what": "killable child, start to first answer", "value": start, "unit": "s"},
    ]


def kernel_start() -> list[dict[str, Any]]:
    """A fresh process up to a kernel that can run: numba's import and the kernel's load apart."""
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/numba", "PYTHONPYCACHEPREFIX": f"{folder}/pyc"}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        load = "from gristmill.stages.kernels import words"
        compiled = _fresh(load, env)
        _fresh(load, env)
        warm = [_fresh(load, env) for _ in range(3)]
        numba = [_fresh("import gristmill.stages.kernels.jit", env) for _ in range(3)]
    return [
        {"what": "kernel start, empty caches (compiles)", "value": compiled, "unit": "CPU s"},
        {"what": "kernel start, warm caches", "value": median(warm), "unit": "CPU s", "target": 2.0, "n": 3},
        {"what": "of that, importing numba", "value": median(numba), "unit": "CPU s", "n": 3},
    ]


def _fresh(statement: str, env: Mapping[str, str]) -> float:
    code = f"import time; {statement}; print(time.process_time())"
    return float(subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, check=True).stdout)


def main() -> list[dict[str, Any]]:
    """All of the above."""
    return [*rates(), *extraction(), *child_cost(), *kernel_start()]
