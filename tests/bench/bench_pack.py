"""Packing 10^6 documents: padding, needless cuts, documents a second, on log-normal lengths (web 6.3, 1.1; long 9.5,
1.3) and rows of 8K to 1M, cut at structure; best fit alone, the plain twin, and what naming breaks costs.

A candidate stands at random in each stretch of 256 tokens: 2 % any token, 18 % a sentence, 20 % a line, 50 % a blank
line, 10 % a heading. `over the bound`: rows beyond the fewest that could hold all tokens.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from gristmill.pipeline.cut import Structure

DOCS = 1_000_000
TWIN_DOCS = 20_000
ROUNDS = 3
CASES = (("web", 6.3, 1.1), ("long", 9.5, 1.3))
CONTEXTS = (8192, 65_536, 262_144, 1_048_576)
LEVEL_SHARES = (0.02, 0.18, 0.2, 0.5, 0.1)
CHARS = 4_000_000


def corpus(docs: int, mean_log: float, sigma_log: float, seed: int) -> tuple[Any, Any]:
    """Log-normal lengths and 128-bit keys."""
    rng = np.random.default_rng(seed)
    lengths = np.exp(rng.normal(mean_log, sigma_log, docs)).astype(np.int64) + 1
    return lengths, rng.integers(0, 2**64, (docs, 2), dtype=np.uint64)


def structure(lengths: Any, context: int, seed: int) -> Structure:
    """Candidates of the documents that must be cut."""
    rng = np.random.default_rng(seed)
    counts = np.where(lengths > context, lengths // 256, 0)
    bounds = np.concatenate(([0], np.cumsum(counts)))
    place = (np.arange(bounds[-1]) - np.repeat(bounds[:-1], counts)) * 256 + rng.integers(1, 256, bounds[-1])
    level = 1 + np.searchsorted(np.cumsum(LEVEL_SHARES), rng.random(len(place)))
    none = np.zeros(0, np.int64)
    return Structure(bounds, place * 8 + np.minimum(level, 5), np.zeros(len(lengths) + 1, np.int64), none, none)


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and its result."""
    at = time.process_time()
    result = work()
    return time.process_time() - at, result


def main() -> list[dict[str, Any]]:
    """Rates of the whole call (cutting, ordering, packing, filling, laying out), after the kernels are compiled."""
    from gristmill.pipeline.pack import pack

    start = time.perf_counter()
    few = corpus(1000, 9.5, 1.3, 0)
    pack(*few, 8192, structure(few[0], 8192, 0))
    results = [{"what": "packing kernels, compiling or loading", "value": time.perf_counter() - start, "unit": "s"}]
    results += [_case(*case, context) for case in CASES for context in CONTEXTS]
    return [*results, _best_fit_alone(), _twin(), _cost_of_breaks()]


def _case(name: str, mean_log: float, sigma_log: float, context: int) -> dict[str, Any]:
    from gristmill.pipeline.pack import pack

    rates: list[float] = []
    what = ""
    for seed in range(ROUNDS):
        lengths, keys = corpus(DOCS, mean_log, sigma_log, seed)
        known = structure(lengths, context, seed)
        spent, packed = cpu_seconds(lambda: pack(lengths, keys, context, known))  # noqa: B023  called at once
        rates.append(DOCS / spent / 1e6)
        over = packed.rows - -(-int(packed.length.sum() + packed.separator.sum()) // context)
        what = (
            f"{DOCS} {name} documents to {context}: padding {packed.padding_frac:.5%}, {over} rows over the bound, "
            f"{packed.needless_cuts} needless cuts, {len(packed.row) / DOCS:.2f} pieces a document"
        )
    spread = f"{min(rates):.2f}-{max(rates):.2f}"
    return {"what": what, "value": median(rates), "unit": "M documents/s of CPU", "n": ROUNDS, "spread": spread}


def _best_fit_alone() -> dict[str, Any]:
    from gristmill.pipeline.pack import NO_LIMIT
    from gristmill.pipeline.pack_kernel import best_fit, bitset_levels, stable_by_decreasing_size

    rates: list[float] = []
    for seed in range(ROUNDS):
        sizes = np.minimum(corpus(DOCS, 6.3, 1.1, seed)[0], 8192)
        order = np.arange(DOCS)

        def work(sizes: Any = sizes, order: Any = order) -> Any:
            return best_fit(sizes[stable_by_decreasing_size(sizes, order, 8192)], 8192, bitset_levels(8192), NO_LIMIT)

        work()
        rates.append(DOCS / cpu_seconds(work)[0] / 1e6)
    spread = f"{min(rates):.2f}-{max(rates):.2f}"
    what = "sorting by size and best fit alone, web to 8192 (target >= 5)"
    return {"what": what, "value": median(rates), "unit": "M documents/s of CPU", "n": ROUNDS, "spread": spread}


def _twin() -> dict[str, Any]:
    from gristmill.pipeline.pack import pack
    from gristmill.pipeline.pack_plain import pack_plain

    lengths, keys = corpus(TWIN_DOCS, 9.5, 1.3, 0)
    known = structure(lengths, 65_536, 0)
    fast = cpu_seconds(lambda: pack(lengths, keys, 65_536, known))[0]
    slow = cpu_seconds(lambda: pack_plain(lengths, keys, 65_536, known))[0]
    return {
        "what": f"{TWIN_DOCS} long documents to 65536",
        "value": TWIN_DOCS / fast / 1e6,
        "unit": "M documents/s of CPU",
        "peer": "plain Python twin",
        "peer_value": TWIN_DOCS / slow / 1e6,
        "ratio": slow / fast,
        "n": 1,
    }


def _cost_of_breaks() -> dict[str, Any]:
    """Naming breaks beside encoding what the engine has not seen: documents of random words, each once."""
    import pyarrow as pa

    from gristmill.manifests.tokenizer import load_tokenizer
    from gristmill.pipeline.breaks import Coded, Spans, find_breaks

    shares: list[float] = []
    tokenizer = load_tokenizer(isolated=False)
    lengths = tokenizer.byte_lengths()
    assert lengths is not None
    for seed in range(ROUNDS + 1):
        rng = np.random.default_rng(seed)
        words = ["".join(chr(97 + c) for c in rng.integers(0, 26, n)) for n in rng.integers(2, 9, 20_000)]
        picked = np.minimum(rng.zipf(1.3, CHARS // 6), len(words)) - 1
        joints = np.array([" ", ". ", "\n", "\n\n"])[rng.choice(4, len(picked), p=[0.9, 0.06, 0.02, 0.02])]
        pieces = [words[p] + j for p, j in zip(picked.tolist(), joints.tolist(), strict=True)]
        texts = pa.array(["".join(pieces[at : at + 2000]) for at in range(0, len(pieces), 2000)], pa.large_string())
        encoding, coded = cpu_seconds(lambda: tokenizer.encode_batch(texts))  # noqa: B023  called at once
        known = Coded(coded.ids, coded.offsets, lengths)
        flags = np.zeros(len(texts), np.bool_)
        breaking, _ = cpu_seconds(lambda: find_breaks(texts, known, flags, Spans.none(len(flags))))  # noqa: B023
        shares.append(100 * breaking / encoding)
    what = "naming breaks of documents of 3,000 tokens, beside encoding them"
    spread = f"{min(shares[1:]):.1f}-{max(shares[1:]):.1f}"
    return {"what": what, "value": median(shares[1:]), "unit": "% of CPU", "n": ROUNDS, "spread": spread}
