"""The rules over lines on one core: c4, fineweb, refinedweb_lines, boilerplate by CPU time, url_lists by URL.

CPU seconds, medians of interleaved rounds after one that is not counted. Documents: the real manuals where they are
there, else the standard library's help topics. fineweb is measured alone, and as in a chain, where the words and the
repeated lines were counted by the filters before it. datatrove's filters run over the same documents where it is
installed.
"""

import importlib.util
import os
import pydoc_data.topics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import document_batch
from gristmill.stages import shared
from gristmill.stages.kernels import segments
from gristmill.stages.text.boilerplate import Boilerplate
from gristmill.stages.text.c4 import C4
from gristmill.stages.text.fineweb import FineWeb
from gristmill.stages.text.refinedweb_lines import RefinedWebLines
from gristmill.stages.text.url_lists import UrlLists

REPO = Path(__file__).parents[2]
MEGABYTES = 8
DOC_CHARS = 8000
PEER_DOCUMENTS = 60
ROUNDS = 5
URLS = 20_000
TARGET = ">= 60"


def documents() -> list[str]:
    """English texts, MEGABYTES of them."""
    data = Path(os.environ.get("GRISTMILL_SHARED") or REPO.parent / "shared" / "data")
    found = [path.read_text("utf-8")[:DOC_CHARS] for path in sorted((data / "web" / "python_doc").glob("*.rst.txt"))]
    found = found or [text[:DOC_CHARS] for text in pydoc_data.topics.topics.values()]
    return found * (MEGABYTES * 1_000_000 // sum(map(len, found)) + 1)


def cpu_seconds(works: Mapping[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Median CPU seconds of each, and (max - min) / median."""
    spent: dict[str, list[float]] = {name: [] for name in works}
    for number in range(ROUNDS + 1):
        for name, work in works.items():
            before = time.process_time()
            work()
            if number:
                spent[name].append(time.process_time() - before)
    return {name: (median(s), (max(s) - min(s)) / median(s)) for name, s in spent.items()}


def rates() -> list[dict[str, Any]]:
    """MB/s of each stage."""
    batch = document_batch({"text": pa.array(documents(), pa.large_string())})
    text = batch.column("text")

    def alone() -> None:
        shared.forget()
        FineWeb().measure(batch)

    def in_a_chain() -> None:
        FineWeb().measure(batch)

    def share() -> None:
        segments.word_counts(text)
        segments.repeats(text)

    works: dict[str, Callable[[], object]] = {
        "c4": lambda: C4().transform(batch),
        "fineweb, alone": alone,
        "(what it shares)": share,
        "fineweb, behind the Gopher filters": in_a_chain,
        "refinedweb_lines": lambda: RefinedWebLines().transform(batch),
        "boilerplate": lambda: Boilerplate().measure(batch),
    }
    found = cpu_seconds(works)
    shared.forget()
    peers = peer_rates(text.to_pylist()[:PEER_DOCUMENTS])
    size = f"{ROUNDS} rounds of {text.nbytes / 1e6:.0f} MB"
    return [
        row(name, text.nbytes / 1e6 / seconds, size, spread, peers)
        for name, (seconds, spread) in found.items()
        if not name.startswith("(")
    ]


def row(name: str, rate: float, size: str, spread: float, peers: Mapping[str, float]) -> dict[str, Any]:
    """One result; beside its peer where there is one."""
    found: dict[str, Any] = {"what": name, "value": rate, "unit": "MB/s", "target": TARGET, "n": size, "spread": spread}
    peer = peers.get(name.partition(",")[0])
    return found | ({"peer": "datatrove", "peer_value": peer, "times": rate / peer} if peer else {})


def peer_rates(texts: list[str]) -> dict[str, float]:
    """MB/s of datatrove's filters; empty where it is not installed."""
    if importlib.util.find_spec("datatrove") is None:
        return {}
    from datatrove.data import Document
    from datatrove.pipeline.filters.c4_filters import C4QualityFilter
    from datatrove.pipeline.filters.fineweb_quality_filter import FineWebQualityFilter

    rates: dict[str, float] = {}
    for name, step in {"c4": C4QualityFilter(), "fineweb": FineWebQualityFilter()}.items():
        step.filter(Document(text="Warm up. " * 50, id="0"))
        before = time.process_time()
        for number, text in enumerate(texts):
            step.filter(Document(text=text, id=str(number)))
        rates[name] = sum(len(text.encode()) for text in texts) / 1e6 / (time.process_time() - before)
    return rates


def urls() -> list[dict[str, Any]]:
    """URLs a second against a list of 100,000 domains."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "domains"
        path.write_text("".join(f"blocked{n}.example\n" for n in range(100_000)), encoding="utf-8")
        stage = UrlLists(block_domains=(str(path),))
        stage.prepare()
        batch = document_batch(
            {
                "text": pa.array(["x"] * URLS, pa.large_string()),
                "url": pa.array([f"https://www.site{n}.example/a/b-{n}.html?q=1" for n in range(URLS)], pa.string()),
            }
        )
        seconds, spread = cpu_seconds({"urls": lambda: stage.measure(batch)})["urls"]
    return [{"what": "url_lists", "value": URLS / seconds, "unit": "URLs/s", "n": ROUNDS, "spread": spread}]


def main() -> list[dict[str, Any]]:
    """All of the above."""
    return [*rates(), *urls()]
