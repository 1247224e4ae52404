"""MinHash signatures from text, 112 lanes of word 5-shingles, beside datatrove's and rensa's: one core, one run.

The same documents for all: pages, manuals and docstrings of this machine, whole, in Arrow for ours, as strings for the
peers. CPU seconds, medians of interleaved rounds after one that is not counted, so that datatrove's tokenizer is
warm. Ours goes from Arrow text to band keys, datatrove as far as the signature, before it writes and sorts; rensa is
given the n-grams that Python's `split` and `join` make, in its fastest call. What is no peer's stands without a ratio:
the other units, scripts whose letters are more than one byte, sets of shingles.
"""

import importlib.util
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.stages.dedup.shingles import ShingleSpec, shingle_sets
from gristmill.stages.dedup.sketch import SketchSpec, sketch
from tests.stages.text.compat.documents import documents

ROUNDS = 3
DOCUMENTS = 300
OUR_BYTES = 20_000_000
"""The documents are repeated up to so many bytes for ours: a call on 2 MB is over in 10 ms."""

SPEC = SketchSpec()
SCRIPTS: Mapping[str, str] = {
    "French": "Tous les \u00eatres humains naissent libres et \u00e9gaux en dignit\u00e9 et en droits. ",
    "Russian": "Все люди рождаются свободными и равными в своём достоинстве и правах. ",
    "Chinese": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. ",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है। ",
}
"""The first article of the Universal Declaration of Human Rights (United Nations, 1948)."""


def datatrove_signatures(texts: list[str]) -> Callable[[], object] | None:
    """datatrove's first step up to the signature, with its defaults: 14 buckets of 8, 5-grams."""
    if importlib.util.find_spec("datatrove") is None or importlib.util.find_spec("spacy") is None:
        return None
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature

    step = MinhashDedupSignature("memory://minhash", MinhashConfig(n_grams=5, num_buckets=14, hashes_per_bucket=8))
    return lambda: [step.get_signature(shingles) for t in texts if (shingles := step.get_shingles(t)).size]


def rensa_signatures(texts: list[str]) -> Callable[[], object] | None:
    """rensa's matrix of signatures from n-grams made in Python."""
    if importlib.util.find_spec("rensa") is None:
        return None
    import rensa  # pyright: ignore[reportMissingImports]  a peer, not installed with the project

    def grams(text: str) -> list[str]:
        words = text.lower().split()
        return [" ".join(words[i : i + 5]) for i in range(len(words) - 4)]

    return lambda: rensa.RMinHash.digest_matrix_from_token_sets([grams(text) for text in texts], 112, 42)


def rates(works: Mapping[str, tuple[float, Callable[[], object]]]) -> dict[str, tuple[float, float]]:
    """MB/s of each work (its megabytes, a call), and the spread over rounds."""
    spent: dict[str, list[float]] = {name: [] for name in works}
    for number in range(ROUNDS + 1):
        for name, (_, work) in works.items():
            before = time.process_time()
            work()
            if number:
                spent[name].append(time.process_time() - before)
    return {
        name: (works[name][0] / median(took), (max(took) - min(took)) / median(took)) for name, took in spent.items()
    }


def from_text() -> list[dict[str, Any]]:
    """Ours and the peers'."""
    texts = list(documents(DOCUMENTS, prose=True, whole=True))
    size = sum(len(text.encode()) for text in texts)
    repeated = texts * max(1, OUR_BYTES // size)
    batch, web, code = _batch(repeated)
    own = batch.nbytes / 1e6
    works: dict[str, tuple[float, Callable[[], object]]] = {
        "words": (own, lambda: sketch(batch, web, SPEC)),
        "chunks (code, math)": (own, lambda: sketch(batch, code, SPEC)),
        "characters": (own, lambda: sketch(batch, web, SketchSpec(ShingleSpec("char", 20)))),
        "sets": (own, lambda: shingle_sets(batch, web, SPEC.shingles)),
    }
    made = {"datatrove 0.10.1": datatrove_signatures(texts), "rensa 0.5": rensa_signatures(texts)}
    peers = {name: (size / 1e6, work) for name, work in made.items() if work is not None}
    found = rates(works | peers)
    rows = [
        _row("minhash signature and band keys from text", found["words"], texts, (name, target, found.get(name)))
        for name, target in (("datatrove 0.10.1", ">= 100"), ("rensa 0.5", ">= 6"))
    ]
    rows += [_row(f"minhash of {name}", found[name], texts) for name in ("chunks (code, math)", "characters")]
    return [*rows, _row("sets of shingles", found["sets"], texts)]


def scripts() -> list[dict[str, Any]]:
    """Ours alone on text that is not ASCII."""
    works: dict[str, tuple[float, Callable[[], object]]] = {}
    for name, line in SCRIPTS.items():
        text, web, _ = _batch([line * 50] * (4_000_000 // (50 * len(line.encode()))))
        works[name] = (text.nbytes / 1e6, lambda text=text, web=web: sketch(text, web, SPEC))
    return [_row(f"minhash of {name}", rate, []) for name, rate in rates(works).items()]


def _batch(texts: list[str]) -> tuple[pa.Array, pa.Array, pa.Array]:
    domains = [pa.DictionaryArray.from_arrays(np.zeros(len(texts), np.int8), [d]) for d in ("web", "code")]
    return pa.array(texts, pa.large_string()), domains[0], domains[1]


def _row(
    what: str,
    own: tuple[float, float],
    texts: list[str],
    peer: tuple[str, str, tuple[float, float] | None] | None = None,
) -> dict[str, Any]:
    size = f"{len(texts)} documents, {sum(len(t.encode()) for t in texts) / 1e6:.1f} MB" if texts else "one sentence"
    row: dict[str, Any] = {"what": what, "value": own[0], "unit": "MB/s", "n": f"{ROUNDS} rounds of {size}"}
    row["spread"] = own[1]
    if peer is None:
        return row
    name, target, rate = peer
    if rate is None:
        return row | {"peer": f"{name} is not installed"}
    spread = max(own[1], rate[1])
    beside = {"peer": name, "peer_value": rate[0], "ratio": own[0] / rate[0], "target": target, "spread": spread}
    return row | beside


def main() -> list[dict[str, Any]]:
    """All of the above."""
    return [*from_text(), *scripts()]
