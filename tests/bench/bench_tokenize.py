"""Tokenising end to end, child included, against HF `tokenizers` on the same vocabulary and the same bytes.

Both run on one thread. Each round takes text that neither has seen (the fast engine keeps the words it has met, and
was warmed on other documents, as a worker is); rounds are interleaved, figures are per CPU second of parent and
child together.
"""

import os
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

WARM_UP_BYTES = 8 << 20
ROUND_BYTES = 3 << 20
ROUNDS = 7
SUFFIXES = {".py", ".html", ".tex", ".txt", ".lean", ".rst"}


def documents() -> Iterator[bytes]:
    """Real text where it is there (books, mathematics, HTML), then sources of the standard library."""
    shared = Path(os.environ.get("GRISTMILL_SHARED") or Path(__file__).parents[3] / "shared" / "data")
    for root in (shared, Path(sysconfig.get_path("stdlib"))):
        for path in sorted(root.rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and "site-packages" not in path.parts:
                yield path.read_bytes().decode("utf-8", "replace").encode()


def slices() -> tuple[list[str], list[list[str]]]:
    """Warm-up documents, and those of each round."""
    every = sorted(documents(), key=content_order)
    warm: list[str] = []
    rounds: list[list[str]] = [[]]
    size = 0
    for document in every:
        size += len(document)
        if size <= WARM_UP_BYTES:
            warm.append(document.decode())
        elif len(rounds) <= ROUNDS:
            rounds[-1].append(document.decode())
            if sum(len(t.encode()) for t in rounds[-1]) > ROUND_BYTES:
                rounds.append([])
    return warm, [r for r in rounds if r][:ROUNDS]


def content_order(document: bytes) -> bytes:
    """A hash, so that files of all kinds are mixed."""
    from blake3 import blake3

    return blake3(document).digest()


def cpu_ns(pid: int) -> int:
    """CPU time of the main thread of a process."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def timed(work: Callable[[], object], pid: int | None = None) -> float:
    """CPU seconds of this process, and of a child, while `work` runs."""
    child_ns = cpu_ns(pid) if pid else 0
    start = time.process_time()
    work()
    own = time.process_time() - start
    return own + ((cpu_ns(pid) - child_ns) / 1e9 if pid else 0.0)


def main() -> list[dict[str, Any]]:
    """Two results: the whole adapter against the peer, and the child against no child."""
    os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    from tokenizers import Tokenizer as Peer

    from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
    from gristmill.manifests.vocabulary import find_vocabulary, read_vocabulary

    warm, rounds = slices()
    peer = Peer.from_str(read_vocabulary(find_vocabulary("deepseek", None)[1]).data.decode())
    ours = load_tokenizer()
    here = Tokenizer.from_data(ours.to_data(), isolated=False)
    for tokenizer in (ours, here):
        tokenizer.encode_batch(pa.array(warm, pa.large_string()))
    peer.encode_batch_fast(warm[:5], add_special_tokens=False)
    child = ours.child_pid
    speeds: dict[str, list[float]] = {"ours": [], "here": [], "peer": []}
    for texts in rounds:
        batch = pa.array(texts, pa.large_string())
        megabytes = sum(len(t.encode()) for t in texts) / 1e6
        speeds["ours"].append(megabytes / timed(lambda b=batch: ours.encode_batch(b), child))
        speeds["here"].append(megabytes / timed(lambda b=batch: here.encode_batch(b)))
        peer_s = timed(lambda t=texts: peer.encode_batch_fast(t, add_special_tokens=False))
        speeds["peer"].append(megabytes / peer_s)
    ours.close()
    return [
        _result("tokenise end to end, child included, unseen text", speeds, "ours", "peer", "HF encode_batch_fast", 20),
        _result("tokenise in this process, unseen text", speeds, "here", "ours", "the same in the child", 1),
    ]


def _result(
    what: str, speeds: dict[str, list[float]], name: str, peer: str, peer_name: str, target: float
) -> dict[str, Any]:
    ratios = sorted(a / b for a, b in zip(speeds[name], speeds[peer], strict=True))
    return {
        "what": what,
        "value": median(speeds[name]),
        "unit": "MB/s of CPU",
        "peer": peer_name,
        "peer_value": median(speeds[peer]),
        "ratio": median(ratios),
        "target": f">= {target}",
        "n": len(ratios),
        "spread": f"{ratios[0]:.1f}-{ratios[-1]:.1f}",
    }
