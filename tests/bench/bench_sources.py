"""Reading JSON Lines on one core, against zstandard and orjson on the same bytes, a line at a time.

Beyond parsing, the source tells every bad line from a good one, keeps the offsets, hashes ids and texts, writes `meta`
and copies the texts into batches. CPU seconds, medians of interleaved rounds after one that is not counted; `spread` is
(max - min) / median of the source. Input: what `make demo` gathered, and always records made of varied words, short and
long. The kernels are compiled or loaded before, and their time printed apart. WARC has a bench of its own.
"""

import io
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import Any

import orjson
import zstandard

from gristmill.pipeline.sources import jsonl
from tests.bench.reading import Contest, compare

DEMO = Path(__file__).parents[2] / "demo" / "input" / "knowledge" / "*.jsonl.zst"
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


CONTEST = Contest(jsonl.read_file, read_bare, "zstandard + orjson", "MB/s of lines", rounds=9)


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
        results.append(compare("reading JSONL.zst, real records, {each} bytes each", real, CONTEST))
    with tempfile.TemporaryDirectory() as folder:
        for words in (600, 3000):
            path = Path(folder) / f"{words}.jsonl.zst"
            path.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(b"".join(made_lines(words))))
            results.append(compare("reading JSONL.zst, made records, {each} bytes each", [str(path)], CONTEST))
    return results
