"""decontaminate on one core: MB/s of clean text, beside a Python set of joined 13-grams and datatrove's filter.

Set looked for: GSM8K's test split where the shared inputs are there, else made items. Texts: the shared books and the
sources of Python's standard library, some 20 MB, in which nothing is found; then the same with a problem in each. The
set of n-grams is what users write by hand: lower case, no punctuation, split at white space. datatrove's filter gets an
index of the same texts, made with its own words and hashes, and 12-grams, its default. CPU seconds, interleaved rounds.
"""

import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import document_batch
from gristmill.stages.dedup.decontaminate import Decontaminate
from tests.laws.corpora import prose

REPO = Path(__file__).parents[2]
SHARED = Path(os.environ.get("GRISTMILL_SHARED") or REPO.parent / "shared" / "data")
ROUNDS = 5
PEER_BYTES = 1_500_000
ONE_DOCUMENT_BYTES = 100_000_000
_PUNCTUATION = re.compile(r"[^\w\s]")


def evaluation_set(folder: Path) -> Path:
    """A file of JSON lines."""
    found = SHARED / "math" / "gsm8k" / "test.jsonl"
    if found.exists():
        return found
    path = folder / "eval.jsonl"
    items = [json.dumps({"question": prose(n, 50), "answer": prose(n + 5000, 40)}) for n in range(1300)]
    path.write_text("\n".join(items), encoding="utf-8")
    return path


def clean_texts() -> list[str]:
    """Books and sources."""
    paths = [*sorted((SHARED / "books").glob("*.t*x*")), *sorted(Path(os.__file__).parent.glob("*.py"))]
    texts = [path.read_bytes().decode("utf-8", "replace") for path in paths]
    return texts * max(1, round(20e6 / sum(map(len, texts))))


def cpu_rate(work: Callable[[], object], size: int) -> float:
    """MB/s of one call."""
    start = time.process_time()
    work()
    return size / 1e6 / (time.process_time() - start)


def _ngrams(text: str) -> list[str]:
    words = _PUNCTUATION.sub("", text.lower()).split()
    return [" ".join(words[i : i + 13]) for i in range(len(words) - 12)]


def python_set(path: Path) -> Callable[[Sequence[str]], int]:
    """How many texts hold one of the set's n-grams."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wanted = {gram for row in rows for text in row.values() for gram in _ngrams(text)}
    return lambda texts: sum(any(gram in wanted for gram in _ngrams(text)) for text in texts)


def datatroves(path: Path, folder: Path) -> Callable[[Sequence[str]], int]:
    """The same by datatrove's filter, with an index made from its own words and hashes."""
    from datatrove.data import Document
    from datatrove.pipeline.decont.n_grams import NGramsDecontFilter
    from datatrove.utils.text import ngrams, simplify_text

    peer: Any = NGramsDecontFilter(str(folder))
    index: dict[int, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        for text in json.loads(line).values():
            tokens = peer.tokenizer.word_tokenize(simplify_text(text, peer.config.norm_config))
            index.update((peer.hash_func(" ".join(g)), "set") for g in ngrams(tokens, peer.config.n_grams))
    peer._index_hashes = index
    return lambda texts: sum(peer.filter(Document(text=text, id="")) is not True for text in texts)


def ours(path: Path, texts: Sequence[str], **params: Any) -> Callable[[], int]:
    """The stage over one batch."""
    stage = Decontaminate(against=str(path), **params)
    stage.prepare()
    batch = document_batch({"text": pa.array(texts, pa.large_string())})
    return lambda: len(stage.transform(batch).verdicts)


def rate(what: str, works: Sequence[tuple[Callable[[], object], int]], **more: Any) -> dict[str, Any]:
    """Medians of interleaved rounds: the first is ours, the second the peer's."""
    found = [[cpu_rate(work, size) for work, size in works] for _ in range(ROUNDS)]
    rates = [median(column) for column in zip(*found, strict=True)]
    row = {"what": what, "value": rates[0], "unit": "MB/s", "n": ROUNDS}
    row["spread"] = max(r[0] for r in found) / min(r[0] for r in found)
    if len(rates) > 1:
        row |= {"peer_value": rates[1], "ratio": rates[0] / rates[1]}
    return row | more


def size_of(texts: Sequence[str]) -> int:
    """Bytes of UTF-8."""
    return sum(len(text.encode()) for text in texts)


def main() -> list[dict[str, Any]]:
    """The table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, texts = evaluation_set(folder), clean_texts()
        few, size = [" ".join(texts)[:PEER_BYTES]], size_of(texts)
        problem = next(iter(json.loads(path.read_text(encoding="utf-8").splitlines()[7]).values()))
        own, few_bytes = ours(path, texts), size_of(few)
        assert own() == 0
        in_set, in_peer = python_set(path), datatroves(path, folder)
        dirty = [text[:3000] + problem + text[3000:9000] for text in texts]
        long = (few[0] * (ONE_DOCUMENT_BYTES // few_bytes + 1))[:ONE_DOCUMENT_BYTES]
        chinese = ["统计语言模型，中文文档。" * 200_000]
        return [
            rate("decontaminate, clean", [(own, size), (lambda: in_set(few), few_bytes)], peer="a set of 13-grams"),
            rate(
                "decontaminate, clean",
                [(own, size), (lambda: in_peer(few), few_bytes)],
                peer="datatrove NGramsDecontFilter",
                target=">= 20",
            ),
            rate("decontaminate, one document of 100 MB", [(ours(path, [long]), size_of([long]))], target=">= 100"),
            rate("decontaminate, Chinese", [(ours(path, chinese), size_of(chinese))]),
            rate("decontaminate, a problem in each", [(ours(path, dirty), size_of(dirty))]),
            rate("decontaminate, cut", [(ours(path, dirty, action="cut"), size_of(dirty))]),
        ]
