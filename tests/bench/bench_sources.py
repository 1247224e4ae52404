"""Reading JSON Lines on one core, against zstandard and orjson on the same bytes, a line at a time.

Beyond parsing, the source tells every bad line from a good one, keeps the offsets, hashes ids and texts, writes `meta`
and copies the texts into batches. CPU seconds, medians of interleaved rounds after one that is not counted; `spread` is
(max - min) / median of the source. Input: what `make demo` gathered, and always records made of varied words, short and
long. The kernels are compiled or loaded before, and their time printed apart. WARC has a bench of its own.
"""

import io
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from glob import glob
from pathlib import Path
from statistics import median
from typing import Any

import orjson
import zstandard

from gristmill.pipeline.sources import jsonl
from gristmill.pipeline.sources.protocol import InputFile, ReadOptions

DEMO = Path(__file__).parents[2] / "demo" / "input" / "knowledge" / "*.jsonl.zst"
ROUNDS = 9
TARGET = 0.7
MADE_BYTES = 48 << 20
VOCABULARY = 20_000
LETTERS = "aeiourstlnmdcpbghkvfyw"


def made_lines(words_each: int) -> Iterator[bytes]:
    """Records whose number of words is spread around `words_each`; every fifth word is not all ASCII."""
    draw = random.Random(words_each)
    letters = [LETTERS + "\u00e9\u4e2d\u6587\u0434" if n % 5 == 0 else LETTERS for n in range(VOCABULARY)]
    words = ["".join(draw.choices(some, k=draw.randint(2, 9))) for some in letters]
    weights = [1 / (rank + 1) for rank in range(VOCABULARY)]
    size = number = 0
    while size < MADE_BYTES:
        count = max(int(draw.lognormvariate(0, 0.8) * words_each), 1)
        text = " ".join(draw.choices(words, weights, k=count))
        record = {"id": f"<{number}>", "url": f"https://example.org/{number}", "text": text, "lang": "en", "score": 0.5}
        yield orjson.dumps(record) + b"\n"
        size += len(text)
        number += 1


def read_bare(paths: Sequence[str]) -> int:
    """Bytes of the lines."""
    size = 0
    for path in paths:
        with (
            open(path, "rb") as raw,
            zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as stream,
        ):
            for line in io.BufferedReader(stream, 1 << 20):  # type: ignore[type-var]
                orjson.loads(line)
                size += len(line)
    return size


def read_source(paths: Sequence[str]) -> int:
    """Rows of the source."""
    files = (InputFile(path, os.path.basename(path), os.path.getsize(path), "") for path in paths)
    return sum(read.batch.num_rows for file in files for read in jsonl.read_file(file, ReadOptions("bench")))


def cpu_s(work: Callable[[Sequence[str]], int], paths: Sequence[str]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work(paths)
    return time.process_time() - start


def compare(what: str, paths: Sequence[str]) -> dict[str, Any]:
    """One row of results."""
    size, rows = read_bare(paths), read_source(paths)
    rounds = [(cpu_s(read_bare, paths), cpu_s(read_source, paths)) for _ in range(ROUNDS)]
    bare, own = (median(one) for one in zip(*rounds, strict=True))
    return {
        "what": f"reading JSONL.zst, {what}, {size // rows:,} bytes each",
        "value": size / 1e6 / own,
        "unit": "MB/s of lines",
        "peer": "zstandard + orjson",
        "peer_value": size / 1e6 / bare,
        "ratio": bare / own,
        "target": f"at least {TARGET}",
        "n": ROUNDS,
        "spread": round((max(r[1] for r in rounds) - min(r[1] for r in rounds)) / own, 3),
    }


def main() -> list[dict[str, Any]]:
    """Speed on real and on made records."""
    start = time.process_time()
    import gristmill.stages.kernels.blake3_lanes
    import gristmill.stages.kernels.json_text
    import gristmill.stages.kernels.utf8  # noqa: F401

    results: list[dict[str, Any]] = [
        {
            "what": "kernels that take lines apart, hash and check texts: import",
            "value": time.process_time() - start,
            "unit": "s",
            "n": 1,
        }
    ]
    real = sorted(glob(str(DEMO)))
    if real:
        results.append(compare("real records", real))
    with tempfile.TemporaryDirectory() as folder:
        for words in (600, 3000):
            path = Path(folder) / f"{words}.jsonl.zst"
            path.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(b"".join(made_lines(words))))
            results.append(compare("made records", [str(path)]))
    return results
