"""The filters that datatrove has, too, beside datatrove 0.10.1: one core, the same documents, the same run.

CPU seconds, medians of interleaved rounds after one that is not counted, so that datatrove is warm; it runs in its
fastest setting on one core, document by document through all four filters, which lets them share one tokenization of a
text. "All four" gives each document to each filter; "the chain" lets a document go where it is dropped. Documents are
pages, manuals and docstrings of this machine. Our compat profile has no memory of words, so that its first pass differs
from later ones by the start alone, which "cold" includes: imports, spaCy, tables, kernels from a warm cache.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Mapper
from gristmill.stages.text.compat.profile import Words
from tests.stages.text.agreement import batch_of, our_stages, their_filters
from tests.stages.text.compat.documents import documents

REPO = Path(__file__).parents[2]
ROUNDS = 3
DOCUMENTS = 800
COLD_DOCUMENTS = 4000
WARM_UP_BYTES = 100_000_000


def their_all_four(filters: Mapping[str, Any], texts: Sequence[str], drops: bool = False) -> None:
    """Each document through datatrove's filters; `drops`: only as far as it is kept."""
    from datatrove.data import Document

    for text in texts:
        document = Document(text=text, id="")
        for made in filters.values():
            if made.filter(document) is not True and drops:
                break


def our_all_four(words: Words, batch: pa.RecordBatch) -> None:
    """All rows through all of our stages, dropped or not."""
    for stage in our_stages(words).values():
        if isinstance(stage, Mapper):
            batch = stage.transform(batch).batch
        else:
            stage.measure(batch)


def our_chain(words: Words, batch: pa.RecordBatch) -> None:
    """The chain as a run has it."""
    run_chain(list(our_stages(words).values()), batch)


def cpu_seconds(works: Mapping[str, Callable[[], object]]) -> dict[str, list[float]]:
    """CPU seconds of each in every counted round."""
    spent: dict[str, list[float]] = {name: [] for name in works}
    for number in range(ROUNDS + 1):
        for name, work in works.items():
            before = time.process_time()
            work()
            if number:
                spent[name].append(time.process_time() - before)
    return spent


def rates() -> list[dict[str, Any]]:
    """Both profiles beside datatrove; compat after it has seen WARM_UP_BYTES of other documents."""
    texts, filters = documents(DOCUMENTS, prose=True), their_filters()
    batch = batch_of(texts)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    _warm_up(set(texts))
    spent = cpu_seconds(
        {
            "theirs all": lambda: their_all_four(filters, texts),
            "fast all": lambda: our_all_four("fast", batch),
            "compat all": lambda: our_all_four("compat", batch),
            "theirs chain": lambda: their_all_four(filters, texts, drops=True),
            "fast chain": lambda: our_chain("fast", batch),
            "compat chain": lambda: our_chain("compat", batch),
        }
    )
    size = f"{ROUNDS} rounds of {len(texts)} documents, {megabytes:.1f} MB"
    targets = {"fast all": 40, "compat all": 8, "fast chain": 40, "compat chain": 8}
    return [_row(name, target, spent, megabytes, size) for name, target in targets.items()]


def _row(name: str, target: int, spent: Mapping[str, list[float]], megabytes: float, size: str) -> dict[str, Any]:
    profile, what = name.split()
    own, peer = spent[name], spent[f"theirs {what}"]
    shown = {"all": "all four filters on every document", "chain": "the chain, documents dropped on the way"}[what]
    seen = ", after 100 MB of others" if profile == "compat" else ""
    return {
        "what": f"words: {profile}, {shown}{seen}",
        "value": megabytes / median(own),
        "unit": "MB/s",
        "peer": "datatrove 0.10.1, warm",
        "peer_value": megabytes / median(peer),
        "ratio": median(peer) / median(own),
        "target": f">= {target}",
        "n": size,
        "spread": max((max(s) - min(s)) / median(s) for s in (own, peer)),
    }


def _warm_up(unseen: set[str]) -> None:
    others = [text for text in documents(3 * DOCUMENTS, prose=True) if text not in unseen]
    batch, seen = batch_of(others), 0
    while seen < WARM_UP_BYTES:
        our_all_four("compat", batch)
        seen += batch.column("text").nbytes


_COLD = """
import time
from tests.stages.text.compat.documents import documents
texts = documents({count}, prose=True)
started = time.process_time()
from tests.bench.bench_datatrove import *
{work}
print(sum(len(text.encode()) for text in texts) / 1e6 / (time.process_time() - started))
"""


def cold() -> list[dict[str, Any]]:
    """The first pass of a fresh process, beside the first pass of datatrove in another."""
    own = _COLD.format(count=COLD_DOCUMENTS, work='our_all_four("compat", batch_of(texts))')
    peer = _COLD.format(count=COLD_DOCUMENTS, work="their_all_four(their_filters(), texts)")
    ours, theirs = [_fresh(own) for _ in range(ROUNDS)], [_fresh(peer)]
    return [
        {
            "what": "words: compat, first pass of a fresh process, all four filters on every document",
            "value": median(ours),
            "unit": "MB/s",
            "peer": "datatrove 0.10.1, first pass",
            "peer_value": median(theirs),
            "ratio": median(ours) / median(theirs),
            "target": ">= 2",
            "n": f"{ROUNDS} processes (datatrove 1) of {COLD_DOCUMENTS} documents",
            "spread": (max(ours) - min(ours)) / median(ours),
        }
    ]


_START = """
import time
from gristmill.stages.text.c4 import C4
from gristmill.stages.text.fineweb import FineWeb
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.gopher_repetition import GopherRepetition
for made in (GopherQuality, GopherRepetition, C4, FineWeb):
    made(words={words!r}).prepare()
print(time.process_time())
"""


def start() -> list[dict[str, Any]]:
    """A fresh process up to four stages that are ready, with a warm cache of kernels."""
    rows: list[dict[str, Any]] = []
    for words, target in (("fast", {"target": "< 2"}), ("compat", {})):
        _fresh(_START.format(words=words))
        took = [_fresh(_START.format(words=words)) for _ in range(ROUNDS)]
        spread = (max(took) - min(took)) / median(took)
        what = f"words: {words}, fresh process to four prepared stages, warm cache"
        rows.append({"what": what, "value": median(took), "unit": "CPU s", "n": ROUNDS, "spread": spread, **target})
    return rows


def _fresh(code: str) -> float:
    environment = os.environ | {"PYTHONPATH": str(REPO)}
    words = [sys.executable, "-c", code]
    return float(subprocess.run(words, env=environment, cwd=REPO, stdout=subprocess.PIPE, check=True).stdout)


def main() -> list[dict[str, Any]]:
    """All of the above."""
    return [*start(), *rates(), *cold()]
