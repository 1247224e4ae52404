"""Substring dedup on one core: MB/s of text and bytes of memory per byte, round by round; repeated_sections beside it.

Documents: the standard library's sources and help topics, cut into pieces of some 8 KB; a tenth of the pieces stand in
another one's text, too. A round is what a worker does with a shard (emit, sort) and a reducer with all of them
(reduce), all rows in memory; CPU seconds of this process, without those of the tokenizer's child (`bench_tokenize`).
The peer builds the suffix array of the same bytes, the first half of what suffix-array dedup does.
"""

import json
import pydoc_data.topics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.schema import DOCUMENT, content_hashes, document_batch
from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.stages.dedup.repeated_sections import RepeatedSections
from gristmill.stages.dedup.substring import SubstringDedup
from gristmill.stages.protocol import VERDICTS, emitted_schema

REPO = Path(__file__).parents[2]
PEER = REPO / ".venv-peers" / "bin" / "python"
MEGABYTES = 24
PIECE_CHARS = 8000
BATCH_DOCS = 256
_MEMORY = """
import sys
from tests.bench import bench_substring as bench
batch = bench.corpus(int(sys.argv[2]))
work = bench.whole if sys.argv[1] == "substring" else bench.sections
work(batch.slice(0, 64))
batch = batch if work is bench.whole else bench.joined(batch)
print(bench.growth(lambda: work(batch)) / batch.column("text").nbytes)
"""
_SUFFIX_ARRAY = """
import json, sys, time
from pathlib import Path
import numpy as np
def status(name):
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])
try:
    from pydivsufsort import divsufsort
except ImportError:
    print("null")
    sys.exit()
data = np.fromfile(sys.argv[1], np.uint8)
Path("/proc/self/clear_refs").write_text("5")
before, started = status("VmRSS"), time.process_time()
array = divsufsort(data)
print(json.dumps([len(data) / 1e6 / (time.process_time() - started), (status("VmHWM") - before) / len(data)]))
"""


def corpus(megabytes: int = MEGABYTES) -> pa.RecordBatch:
    """So many megabytes of documents with ids and hashes."""
    rng = np.random.default_rng(3)
    sources = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    whole = [*pydoc_data.topics.topics.values()]
    size = sum(map(len, whole))
    for path in sources:
        if size > megabytes * 1_000_000:
            break
        if "site-packages" in path.parts:
            continue
        whole.append(path.read_text("utf-8", "replace"))
        size += len(whole[-1])
    pieces = [text[at : at + PIECE_CHARS] for text in whole for at in range(0, len(text), PIECE_CHARS)]
    for number in rng.choice(len(pieces), len(pieces) // 10).tolist():
        pieces[number] += "\n" + pieces[int(rng.integers(0, len(pieces)))][1000:3000]
    text = pa.array(pieces, pa.large_string())
    ids = pa.array([f"{n:032x}" for n in range(len(pieces))], pa.string())
    hashes = content_hashes(text, pa.nulls(len(text), DOCUMENT.field("media").type))
    return document_batch({"text": text, "id": ids, "content_hash": hashes})


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What some work gives, and its CPU seconds."""
    started = time.process_time()
    made = work()
    return made, time.process_time() - started


def whole(batch: pa.RecordBatch) -> list[dict[str, float]]:
    """The three rounds: CPU seconds of emitting with sorting and of reducing, rows emitted and found."""
    told: list[dict[str, float]] = []
    found: pa.Table | None = None
    for part in SubstringDedup().rounds():
        rows, spent = timed(lambda part=part, found=found: _emitted(part, batch, found))
        made, reducing = timed(lambda part=part, rows=rows: list(part.reduce(iter(rows.to_batches(1 << 16)))))
        found = pa.Table.from_batches(made, schema=getattr(part, "reduced", VERDICTS)).sort_by("addr").combine_chunks()
        told.append({"emit": spent, "reduce": reducing, "rows": rows.num_rows, "found": found.num_rows})
    return told


def _emitted(part: Any, batch: pa.RecordBatch, found: pa.Table | None) -> pa.Table:
    made: list[pa.RecordBatch] = []
    for first in range(0, batch.num_rows, BATCH_DOCS):
        own = batch.slice(first, BATCH_DOCS).select(list(part.reads))
        addr = np.arange(first, first + own.num_rows, dtype=np.uint64)
        if found is None:
            made.append(part.emit(own, addr))
            continue
        low, high = np.searchsorted(found.column("addr").to_numpy(), [addr[0], addr[-1] + np.uint64(1)])
        if high > low:
            made.append(part.emit_found(own, addr, found.slice(low, high - low)))
    value_bytes = getattr(part, "value_bytes", 0)
    return sort_rows(pa.Table.from_batches(made, schema=emitted_schema(part.key_bytes, part.order_bytes, value_bytes)))


def joined(batch: pa.RecordBatch) -> pa.RecordBatch:
    """All of the text as one document."""
    return document_batch({"text": pa.array(["\n".join(batch.column("text").to_pylist())], pa.large_string())})


def sections(batch: pa.RecordBatch) -> None:
    """repeated_sections."""
    RepeatedSections().transform(batch)


def growth(work: Callable[[], Any]) -> int:
    """Bytes by which some work makes this process grow at its peak (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


def _status(name: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])


def memory(kind: str, megabytes: int) -> float:
    """Peak memory besides the text, in bytes per byte of it, in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY, kind, str(megabytes)], cwd=REPO, capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


def suffix_array(batch: pa.RecordBatch) -> list[float] | None:
    """MB/s and bytes per byte of the peer; None where it is not installed."""
    if not PEER.is_file():
        return None
    with tempfile.NamedTemporaryFile() as file:
        file.write("\n".join(batch.column("text").to_pylist()).encode())
        file.flush()
        done = subprocess.run([PEER, "-c", _SUFFIX_ARRAY, file.name], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> list[dict[str, Any]]:
    """Speed and memory."""
    batch = corpus()
    size = batch.column("text").nbytes / 1e6
    whole(batch.slice(0, 64))  # kernels, tokenizer
    told = whole(batch)
    _, cut = timed(lambda: sections(joined(batch)))
    total = sum(part["emit"] + part["reduce"] for part in told)
    peer = suffix_array(batch)
    beside = (
        {}
        if peer is None
        else {"peer": "pydivsufsort, the array alone", "peer_value": peer[0], "ratio": size / total / peer[0]}
    )
    stored = {} if peer is None else {"peer": "pydivsufsort, the array alone", "peer_value": peer[1]}
    n = f"{size:.0f} MB, {batch.num_rows} documents"
    names = ("anchors", "windows", "passages")
    return [
        {
            "what": "substring_dedup without the tokenizer's child",
            "value": size / total,
            "unit": "MB/s",
            "n": n,
            **beside,
        },
        *(
            {
                "what": f"substring_dedup, {name}",
                "value": size / (part["emit"] + part["reduce"]),
                "unit": "MB/s",
                "n": f"{part['rows']:.0f} rows, {part['found']:.0f} found",
            }
            for name, part in zip(names, told, strict=True)
        ),
        {
            "what": "substring_dedup, memory",
            "value": memory("substring", MEGABYTES),
            "unit": "bytes per byte",
            **stored,
        },
        {"what": "repeated_sections, one document", "value": size / cut, "unit": "MB/s", "n": n},
        {"what": "repeated_sections, memory", "value": memory("sections", MEGABYTES), "unit": "bytes per byte"},
    ]
