"""The quality stage on one core: fastText scoring beside bare fastText on the same normalised lines, and its parts.

CPU seconds, medians of interleaved rounds, after one that is not counted. Input: the standard library's sources, cut to
DOC_CHARS characters; the model is trained here, on them and on tables of numbers, with the parameters of `train`.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.schema import document_batch
from gristmill.pipeline.classifier.train import TrainOptions, train
from gristmill.stages.quality.fasttext_scorer import MEMBER, load_fasttext
from gristmill.stages.quality.features import Windows, normalised
from gristmill.stages.quality.model_file import read_model
from gristmill.stages.quality.stage import Quality

DOCUMENTS = 1000
DOC_CHARS = 4000
ROUNDS = 5


def texts() -> list[str]:
    """Documents of DOC_CHARS characters."""
    paths = sorted(Path(os.__file__).parent.glob("*.py"))
    whole = [path.read_text("utf-8", "replace") for path in paths]
    parts = [text[at : at + DOC_CHARS] for text in whole for at in range(0, len(text) - DOC_CHARS, DOC_CHARS)]
    return (parts * (DOCUMENTS // len(parts) + 1))[:DOCUMENTS]


def trained(folder: Path, good: list[str]) -> tuple[Path, float]:
    """A model, and the seconds of its training."""
    for name in ("good", "bad"):
        (folder / name).mkdir()
    for number, text in enumerate(good[:400]):
        (folder / "good" / f"{number}.txt").write_text(text, "utf-8")
        rows = "\n".join(f"{(number * 7919 + row * 31) % 9973} | {row * number % 89}" for row in range(200))
        (folder / "bad" / f"{number}.txt").write_text(f"table {number * 37 % 997}\n{rows}", "utf-8")
    start = time.perf_counter()
    options = TrainOptions((str(folder / "good"),), (str(folder / "bad"),), folder / "out", "bench")
    train(options, lambda _: None)
    return folder / "out" / "bench.gmq", time.perf_counter() - start


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> list[dict[str, Any]]:
    """Documents a second of the stage, its ratio to bare fastText, and what normalising takes."""
    docs = texts()
    batch = document_batch({"text": pa.array(docs, pa.large_string())})
    mb = pc.sum(pc.binary_length(batch.column("text"))).as_py() / 1e6
    with tempfile.TemporaryDirectory() as folder:
        path, training_s = trained(Path(folder), docs)
        stage = Quality(model=str(path), mode="score_only")
        bare = load_fasttext(read_model(path).members[MEMBER])
        lines = normalised(docs)
        pieces, _ = Windows().of(batch.column("text"))
        works: dict[str, Callable[[], object]] = {
            "stage": lambda: stage.transform(batch),
            "bare": lambda: bare.predict(lines, k=-1),
            "normalise": lambda: normalised(pieces),
        }
        for work in works.values():
            work()
        rounds = [{name: seconds(work) for name, work in works.items()} for _ in range(ROUNDS)]
    took = {name: median(one[name] for one in rounds) for name in works}
    return [
        {
            "what": "quality stage, fastText",
            "value": DOCUMENTS / took["stage"],
            "unit": "documents/s",
            "mb_per_s": mb / took["stage"],
            "ratio": took["bare"] / took["stage"],
            "peer": "bare fastText, prepared lines",
        },
        {"what": "normalising for fastText", "value": mb / took["normalise"], "unit": "MB/s"},
        {"what": "classifier train, 800 documents of 4 kB", "value": training_s, "unit": "s"},
    ]
