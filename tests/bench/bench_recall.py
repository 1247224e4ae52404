"""What MinHash finds of near copies, against exact Jaccard of all pairs: recall by bin and by edit, errors.

The corpus is the large one of `tests.stages.dedup.truth` (about 9,900 documents, 32 MB, copies planted); the peer is
the theory of LSH, of which the joint tests say whether what was found is consistent with it. 12 seeds.
"""

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.dedup.sketch import SketchSpec, band_keys, signatures
from tests.stages.dedup.truth import corpus, recall, twin
from tests.stages.dedup.truth.pairs import Truth, all_pairs

SEEDS = 12
DRAWS = 3000
"""Seeds of ideal hashing, for the law of the tests."""

Floats = npt.NDArray[np.float64]


def main() -> list[dict[str, Any]]:
    """Recall by bin and edit, the joint tests, the error of the estimate."""
    docs = corpus.build(corpus.LARGE)
    sets = [twin.shingles(doc.text, doc.domain) for doc in docs]
    truth = all_pairs(sets)
    exp = recall.expected(truth, sets, draws=DRAWS)
    met, errors = _measured(docs, truth)
    hits, bands = recall.hits_test(exp, met > 0), recall.bands_test(exp, met)
    rows = [
        _row(f"recall of pairs of Jaccard {b.low} to {b.high} ({b.pairs} pairs)", b.found, "of pairs", b.expected)
        for b in hits.bins
    ]
    rows += _by_edit(docs, truth, met > 0)
    jaccard = truth.jaccard
    rmse = float(np.sqrt((jaccard * (1 - jaccard) / (exp.bands * exp.rows)).mean()))
    rows.append(_row("error (RMSE) of the Jaccard that lanes estimate", errors, "of Jaccard", rmse))
    for name, test in (("recall by bin", hits), ("bands that meet", bands)):
        rows.append(
            {
                "what": f"joint test of {name}: W {test.statistic:.2f} of {test.df} sums",
                "value": test.p_value,
                "unit": "p",
                "target": f">= {recall.LEVEL}",
                "n": SEEDS,
            }
        )
    return rows


def _measured(docs: list[corpus.Doc], truth: Truth) -> tuple[npt.NDArray[np.int64], float]:
    """Bands that meet, (pairs, SEEDS), and the RMSE of the share of lanes that agree."""
    text, domain = pa.array([d.text for d in docs], pa.large_string()), pa.array([d.domain for d in docs], pa.string())
    met: list[npt.NDArray[np.int64]] = []
    squares: list[float] = []
    for seed in range(1, 1 + SEEDS):
        spec = SketchSpec(seed=seed)
        lanes = signatures(text, domain, spec)
        keys = band_keys(lanes, spec)
        met.append((keys[truth.left] == keys[truth.right]).sum(axis=1))
        estimate = (lanes[truth.left] == lanes[truth.right]).mean(axis=1)
        squares.append(float(((estimate - truth.jaccard) ** 2).mean()))
    return np.stack(met, axis=1), float(np.sqrt(np.mean(squares)))


def _by_edit(docs: list[corpus.Doc], truth: Truth, hits: npt.NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Planted copies that meet their base, by kind and share of edits; those below the truth's floor count as not."""
    place = {pair: number for number, pair in enumerate(truth.as_dict())}
    found: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    for row, doc in enumerate(docs):
        if doc.kind in ("exact", "reset", "word_edits", "block_edit") and doc.base is not None:
            number = place.get((min(row, doc.base), max(row, doc.base)))
            chance = 0.0 if number is None else float(recall.theory(truth.jaccard[number : number + 1])[0])
            share = 0.0 if number is None else float(hits[number].mean())
            found[doc.kind, doc.rate].append((share, chance))
    rows: list[dict[str, Any]] = []
    for (kind, rate), values in sorted(found.items()):
        share, chance = np.mean(values, axis=0)
        rows.append(
            _row(f"{kind} at {rate:.0%} ({len(values)} copies) that meet their base", share, "of copies", chance)
        )
    return rows


def _row(what: str, value: float, unit: str, theory: float) -> dict[str, Any]:
    ratio = float(value) / theory if theory else 1.0
    return {
        "what": what,
        "value": float(value),
        "unit": unit,
        "peer": "theory",
        "peer_value": float(theory),
        "ratio": ratio,
        "n": SEEDS,
    }
