"""Language, profiles and encoding_repair on one core: documents a second, and megabytes a second of sound text.

CPU seconds, medians of rounds, after one round that is not counted. Input: the documents of `bench_stages`, and for
`encoding_repair` the same with accents, a dash and Chinese in every line, since plain ASCII is told at once.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import document_batch
from gristmill.stages import shared
from gristmill.stages.text.encoding_repair import EncodingRepair
from gristmill.stages.text.html_child import extract
from gristmill.stages.text.language import Language
from gristmill.stages.text.language_profiles import profile_of
from tests.bench.bench_stages import pages

DOCUMENTS = 1000
DOC_CHARS = 8000
ROUNDS = 5


def _batch(texts: list[str]) -> pa.RecordBatch:
    return document_batch({"text": pa.array(texts, pa.large_string())})


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    spent: list[float] = []
    for number in range(ROUNDS + 1):
        before = time.process_time()
        work()
        if number:
            spent.append(time.process_time() - before)
    return median(spent), (max(spent) - min(spent)) / median(spent)


def _documents(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    def profiles_anew() -> None:
        shared.forget()
        profile_of(batch)

    works: dict[str, tuple[Callable[[], object], int | None]] = {
        "language, 2,000 characters": (lambda: Language().transform(batch), 2500),
        "language, three windows of together 2,000": (lambda: Language(windows=3).transform(batch), None),
        "language, paragraphs labelled": (lambda: Language(paragraphs="label").transform(batch), None),
        "profiles by the text": (profiles_anew, None),
    }
    rows: list[dict[str, Any]] = []
    for what, (work, target) in works.items():
        spent, spread = _seconds(work)
        row = {"what": what, "value": batch.num_rows / spent, "unit": "documents/s", "n": ROUNDS, "spread": spread}
        rows.append(row if target is None else row | {"target": f">= {target}"})
    return rows


def _megabytes(texts: list[str]) -> list[dict[str, Any]]:
    accented = [text.replace("\n", " \u2014 d\u00e9j\u00e0 \u7edf\u8ba1\u8bed\u8a00\n") for text in texts]
    damaged = [text.replace("\n", "\r\n") for text in texts]
    rows: list[dict[str, Any]] = []
    for what, made, target in (
        ("encoding_repair, sound ASCII", texts, 300),
        ("encoding_repair, sound text with accents and Chinese", accented, 300),
        ("encoding_repair, CR LF everywhere", damaged, None),
    ):
        batch = _batch(made)
        size = batch.column("text").nbytes / 1e6
        spent, spread = _seconds(lambda batch=batch: EncodingRepair().transform(batch))
        row = {"what": what, "value": size / spent, "unit": "MB/s", "n": f"{ROUNDS} of {size:.0f} MB", "spread": spread}
        rows.append(row if target is None else row | {"target": f">= {target}"})
    return rows


def main() -> list[dict[str, Any]]:
    """All of the above."""
    texts = [extract(page.encode()).decode()[:DOC_CHARS] for page in pages()]
    texts = (texts * (DOCUMENTS // len(texts) + 1))[:DOCUMENTS]
    return [*_documents(_batch(texts)), *_megabytes(texts)]
