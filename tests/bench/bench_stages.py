"""The stages on one core: Gopher's filters, the chain of four web filters beside datatrove's, language, extract_html
beside bare resiliparse, and the child's own cost.

CPU seconds, medians of interleaved rounds, after one round that is not counted. Input: the pages of the real inputs
where they are there, else pages made of the standard library's sources; documents are the pages' text. The start
of kernels in a fresh process is measured apart, with a warm cache and with an empty one. datatrove sees each distinct
document once, in the chain's order, so that its filters share the words of a document as they do in its pipelines; on
both sides what a filter drops goes no further.
"""

import html
import importlib.util
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
from gristmill.stages import shared
from gristmill.stages.catalogue import load
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Filter, Mapper
from gristmill.stages.text.extract_html import ExtractHtml
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.gopher_repetition import GopherRepetition
from gristmill.stages.text.html_child import extract
from gristmill.stages.text.language import Language

REPO = Path(__file__).parents[2]
PAGES = 120
DOCUMENTS = 2000
DOC_CHARS = 8000
ROUNDS = 5
CHILD_RECORDS = 100_000
WEB_CHAIN = ("gopher_quality", "gopher_repetition", "c4", "fineweb")


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


def _documents() -> list[str]:
    return [extract(page.encode()).decode()[:DOC_CHARS] for page in pages()]


def rates() -> list[dict[str, Any]]:
    """Gopher's filters and the chain of web filters in MB/s, language in documents/s."""
    texts = _documents()
    batch = _batch((texts * (DOCUMENTS // len(texts) + 1))[:DOCUMENTS])
    megabytes = batch.column("text").nbytes / 1e6
    quality, repetition, language = GopherQuality(), GopherRepetition(), Language()
    chain = [_row_stage(name) for name in WEB_CHAIN]

    def both() -> None:
        quality.measure(batch)
        repetition.measure(batch)
        shared.forget()

    found = cpu_seconds(
        {
            "gopher_quality, all measures": lambda: (quality.measure(batch), shared.forget()),
            "gopher_repetition, all measures": lambda: (repetition.measure(batch), shared.forget()),
            "gopher_quality and gopher_repetition, all measures of all documents": both,
            "chain of " + ", ".join(WEB_CHAIN): lambda: run_chain(chain, batch),
            "language": lambda: language.transform(batch),
        }
    )
    size = f"{ROUNDS} rounds of {DOCUMENTS} documents, {megabytes:.0f} MB"
    spent, spread = found.pop("language")
    what = "language, 2,000 characters of each document"
    rows: list[dict[str, Any]] = [
        {
            "what": what,
            "value": DOCUMENTS / spent,
            "unit": "documents/s",
            "target": ">= 2500",
            "n": size,
            "spread": spread,
        }
    ]
    for what, (seconds, spread) in found.items():
        rows.append({"what": what, "value": megabytes / seconds, "unit": "MB/s", "n": size, "spread": spread})
    rows[3]["target"] = ">= 25"
    return [*rows[:4], rows[4] | _beside_datatrove(texts, rows[4]["value"])]


def _row_stage(name: str) -> Filter | Mapper:
    stage = load(name, {}, Path())
    assert isinstance(stage, Filter | Mapper)
    return stage


def _beside_datatrove(texts: list[str], ours: float) -> dict[str, Any]:
    """datatrove's four filters over the distinct documents, in CPU seconds of one pass; nothing where it is absent."""
    if importlib.util.find_spec("datatrove") is None or importlib.util.find_spec("spacy") is None:
        return {}
    from datatrove.data import Document
    from datatrove.pipeline.filters.c4_filters import C4QualityFilter
    from datatrove.pipeline.filters.fineweb_quality_filter import FineWebQualityFilter
    from datatrove.pipeline.filters.gopher_quality_filter import GopherQualityFilter
    from datatrove.pipeline.filters.gopher_repetition_filter import GopherRepetitionFilter

    filters: list[Any] = [GopherQualityFilter(), GopherRepetitionFilter(), C4QualityFilter(), FineWebQualityFilter()]
    for one in filters:
        one.filter(Document(text="Words to load what is loaded once.", id="0"))
    distinct = list(dict.fromkeys(texts))
    before = time.process_time()
    for text in distinct:
        document = Document(text=text, id="0")
        all(one.filter(document) is True for one in filters)
    rate = sum(len(text.encode()) for text in distinct) / 1e6 / (time.process_time() - before)
    peer = f"datatrove's four filters, one pass of {len(distinct)} documents"
    return {"peer": peer, "peer_value": rate, "ratio": ours / rate, "target": ">= 40"}


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
    """A fresh process up to kernels that have run: all those of the web chain; numba's import apart."""
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/numba", "PYTHONPYCACHEPREFIX": f"{folder}/pyc"}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        start = "import pathlib; from gristmill.stages.catalogue import load"
        chain = f"{start}; [load(name, {{}}, pathlib.Path()).prepare() for name in {WEB_CHAIN}]"
        compiled = _fresh(chain, env)
        _fresh(chain, env)
        warm = [_fresh(chain, env) for _ in range(3)]
        bare = [_fresh(start, env) for _ in range(3)]
        numba = [_fresh("import gristmill.stages.kernels.jit", env) for _ in range(3)]
    return [
        {"what": "kernels of the web chain, empty caches (compiles)", "value": compiled, "unit": "CPU s"},
        {
            "what": "kernels of the web chain, fresh process, warm caches",
            "value": median(warm),
            "unit": "CPU s",
            "target": "below 2",
            "n": 3,
        },
        {"what": "of that, Python and the catalogue of stages", "value": median(bare), "unit": "CPU s", "n": 3},
        {"what": "importing numba and its compiler alone", "value": median(numba), "unit": "CPU s", "n": 3},
    ]


def _fresh(statement: str, env: Mapping[str, str]) -> float:
    code = f"import time; {statement}; print(time.process_time())"
    return float(subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, check=True).stdout)


def main() -> list[dict[str, Any]]:
    """All of the above."""
    return [*rates(), *extraction(), *child_cost(), *kernel_start()]
