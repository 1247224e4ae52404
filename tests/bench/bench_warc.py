"""Reading WARC on one core, against fastwarc that parses the same records and HTTP heads and reads the payloads.

Beyond that the source frames exactly, tells the encoding, checks UTF-8, hashes, and copies the texts into batches. CPU
seconds, medians of interleaved rounds after one that is not counted; `spread` is (max - min) / median of the source.
Input: $GRISTMILL_BENCH_WARC (a pattern), else what `make demo` gathered, and always one made of varied words.
"""

import os
import random
import tempfile
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import Any

from gristmill.pipeline.demo_warc import Page, write_warcs
from gristmill.pipeline.sources import warc
from tests.bench.reading import Contest, compare

DEMO = Path(__file__).parents[2] / "demo" / "input" / "web" / "*.warc.gz"
PAGES = 1200
MAX_WORDS = 3000
VOCABULARY = 20_000
ASCII = "aeiourstlnmdcpbghkvfyw"


def made_pages() -> list[Page]:
    """About 20 MB of pages whose words are spread as Zipf found; every fifth word is not all ASCII."""
    draw = random.Random(17)
    letters = [ASCII + "\u00e9\u4e2d\u6587\u0434" if n % 5 == 0 else ASCII for n in range(VOCABULARY)]
    words = ["".join(draw.choices(some, k=draw.randint(2, 9))) for some in letters]
    weights = [1 / (rank + 1) for rank in range(VOCABULARY)]
    texts = (" ".join(draw.choices(words, weights, k=draw.randint(50, MAX_WORDS))) for _ in range(PAGES))
    return [
        Page(f"https://example.org/{n}", f"<html><body><p>{text}</p></body></html>".encode())
        for n, text in enumerate(texts)
    ]


def read_bare(paths: Sequence[str]) -> int:
    """Bytes of the payloads of responses."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    size = 0
    for path in paths:
        with open(path, "rb") as raw:
            for record in ArchiveIterator(raw, record_types=WarcRecordType.response, parse_http=True):
                size += len(record.reader.read())
    return size


CONTEST = Contest(warc.read_file, read_bare, "fastwarc", "MB/s of payload", rounds=7)


def main() -> list[dict[str, Any]]:
    """Speed on real and on made pages."""
    import gristmill.stages.kernels.blake3_lanes
    import gristmill.stages.kernels.utf8
    import gristmill.stages.kernels.warc_pages  # noqa: F401  a long run has them; see bench_sources for the time it takes

    results: list[dict[str, Any]] = []
    real = sorted(glob(os.environ.get("GRISTMILL_BENCH_WARC") or str(DEMO)))
    if real:
        results.append(compare("reading WARC, real pages", real, CONTEST))
    with tempfile.TemporaryDirectory() as folder:
        write_warcs(Path(folder), "made", made_pages(), 1 << 30)
        results.append(compare("reading WARC, made pages", sorted(glob(f"{folder}/*.warc.gz")), CONTEST))
    return results
