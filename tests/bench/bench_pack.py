"""Packing 10^6 documents into rows of 8,192 tokens: documents a second, padding, and the plain twin beside it."""

import time
from statistics import median
from typing import Any

import numpy as np

DOCS = 1_000_000
TWIN_DOCS = 50_000
ROUNDS = 5
CONTEXT = 8192


def corpus(docs: int, mean_log: float, sigma_log: float, seed: int) -> tuple[Any, Any]:
    """Log-normal lengths, as of web pages (6.3, 1.1) and of long documents (9.5, 1.3), and 128-bit keys."""
    rng = np.random.default_rng(seed)
    lengths = np.exp(rng.normal(mean_log, sigma_log, docs)).astype(np.int64) + 1
    return lengths, rng.integers(0, 2**64, (docs, 2), dtype=np.uint64)


def main() -> list[dict[str, Any]]:
    """Rates of the whole call (cutting, ordering, packing, laying out), after the kernels are compiled."""
    from gristmill.pipeline.pack import pack, pack_plain

    start = time.perf_counter()
    pack(*corpus(100, 6.3, 1.1, 0), CONTEXT)
    warm_up_s = time.perf_counter() - start
    results = [{"what": "packing kernels, compiling or loading", "value": warm_up_s, "unit": "s"}]
    for name, mean_log, sigma_log in (("web", 6.3, 1.1), ("long", 9.5, 1.3)):
        fast: list[float] = []
        slow: list[float] = []
        padding = 0.0
        for seed in range(ROUNDS):
            lengths, keys = corpus(DOCS, mean_log, sigma_log, seed)
            at = time.process_time()
            padding = pack(lengths, keys, CONTEXT).padding_frac
            fast.append(DOCS / (time.process_time() - at))
            at = time.process_time()
            pack_plain(lengths[:TWIN_DOCS], keys[:TWIN_DOCS], CONTEXT)
            slow.append(TWIN_DOCS / (time.process_time() - at))
        results.append(
            {
                "what": f"pack {DOCS} {name} documents to {CONTEXT}; padding {padding:.6%} (target <= 0.01 %)",
                "value": median(fast) / 1e6,
                "unit": "M documents/s of CPU",
                "peer": "plain Python twin",
                "peer_value": median(slow) / 1e6,
                "ratio": median(fast) / median(slow),
                "target": "",
                "n": ROUNDS,
                "spread": f"{min(fast) / 1e6:.2f}-{max(fast) / 1e6:.2f}",
            }
        )
    return results
