"""math_rules and knowledge_rules on one core: speed, what they drop and cut of real inputs, and what they find of a
book that was made into pages.

Inputs: the demo's mathematics and knowledge and the shared books, where they are there, else the sources of Python's
standard library. The made book is a real one, set on pages with running heads, numbers, a table of contents with
leaders and an index; every tenth running head is misread. What is told are the characters of each kind that are cut, of
those put in, and the lines of the book itself that are kept.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import count_chars
from gristmill.stages.text.html_child import extract
from gristmill.stages.text.knowledge_rules import KnowledgeRules
from gristmill.stages.text.math_rules import MathRules

REPO = Path(__file__).parents[2]
DEMO = REPO / "demo" / "input"
SHARED = Path(os.environ.get("GRISTMILL_SHARED") or REPO.parent / "shared" / "data")
ROUNDS = 5
PAGE_LINES = 34
ONE_DOCUMENT_MB = 20


def _texts(paths: Sequence[Path]) -> list[str]:
    return [path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n") for path in paths]


def _library() -> list[str]:
    return _texts(sorted(Path(os.__file__).parent.glob("*.py")))


def mathematics() -> list[str]:
    """Pages of a manual, proofs, problems."""
    pages = sorted((DEMO / "math" / "html").glob("*.html"))
    proofs = sorted((DEMO / "math" / "metamath").glob("*.txt")) + sorted((SHARED / "math").rglob("*.mm"))
    return [extract(page.read_bytes()).decode() for page in pages] + _texts(proofs) or _library()


def knowledge() -> list[str]:
    """Manuals and books in plain text."""
    books = sorted((SHARED / "books").glob("*.t*x*"))
    return _texts([*sorted((DEMO / "knowledge" / "text").rglob("*.txt")), *books]) or _library()


def _batch(texts: Sequence[str]) -> pa.RecordBatch:
    return document_batch({"text": pa.array(texts, pa.large_string())})


def rate(what: str, stage: MathRules | KnowledgeRules, texts: Sequence[str]) -> dict[str, Any]:
    """MB/s of `transform`, CPU time, after a round that is not counted."""
    batch, spent = _batch(texts), list[float]()
    megabytes = batch.column("text").nbytes / 1e6
    for number in range(ROUNDS + 1):
        before = time.process_time()
        stage.transform(batch)
        if number:
            spent.append(time.process_time() - before)
    spread = (max(spent) - min(spent)) / median(spent)
    size = f"{ROUNDS} rounds of {len(texts)} documents, {megabytes:.1f} MB"
    return {"what": what, "value": megabytes / median(spent), "unit": "MB/s", "n": size, "spread": spread}


def outcome(what: str, stage: MathRules | KnowledgeRules, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Documents dropped and characters cut, by reason."""
    batch = _batch(texts)
    mapped = stage.transform(batch)
    chars = int(count_chars(batch).sum())
    drops = Counter(verdict.reason for verdict in mapped.verdicts)
    rows = [
        {"what": f"{what}: {reason}", "value": 100 * count / len(texts), "unit": "% of documents dropped"}
        for reason, count in sorted(drops.items())
    ]
    cuts = {reason: int(cut.sum()) for reason, cut in mapped.cut_chars.items() if cut.any()}
    return rows + [
        {"what": f"{what}: {reason}", "value": 100 * count / chars, "unit": "% of characters cut"}
        for reason, count in sorted(cuts.items())
    ]


def paged_book(text: str) -> tuple[str, dict[str, str]]:
    """A book on pages, and what was put into it, by reason."""
    lines = [line for line in text.split("\n") if line.strip()][:8000]
    added: dict[str, list[str]] = {reason: [] for reason in ("toc", "index_lines", "page_header")}
    titles = [f"The {lines[n * 90].split()[0]} Chapter" for n in range(40)]
    added["toc"] = ["CONTENTS", *(f"{title} {'.' * (60 - len(title))} {6 * n + 1}" for n, title in enumerate(titles))]
    entries = sorted({word.strip(".,;\"'") for line in lines[::40] for word in line.split() if word[:1].islower()})
    added["index_lines"] = [
        "INDEX",
        *(f"{word}, {n % 200 + 1}, {n % 190 + 9}" for n, word in enumerate(entries) if word),
    ]
    out = [*added["toc"], ""]
    for number, at in enumerate(range(0, len(lines), PAGE_LINES)):
        head = (
            f"{number + 1}  HISTORY OF THE M{'I' if number % 5 else 'l'}LL" if number % 2 else f"CHAPTER.  {number + 1}"
        )
        added["page_header"].append(head)
        out += ["", head, "", *lines[at : at + PAGE_LINES]]
    out += ["", *added["index_lines"], ""]
    return "\n".join(out), {reason: "\n".join(parts) for reason, parts in added.items()}


def found_in_paged_book() -> list[dict[str, Any]]:
    """Recall by reason, and precision, on a made book; nothing where there is no real one."""
    path = SHARED / "books" / "ainsworth-jack-sheppard-16215.txt"
    if not path.exists():
        return []
    text, added = paged_book(_texts([path])[0][10_000:])
    mapped = KnowledgeRules().transform(_batch([text]))
    cut = {reason: int(counts[0]) for reason, counts in mapped.cut_chars.items()}
    # Every line put in has an end of line, which goes with it.
    put = {reason: len(part) + 1 for reason, part in added.items()}
    rows = [
        {"what": f"made book: {reason} cut", "value": cut[reason] / put[reason], "unit": "of what was put in"}
        for reason in put
    ]
    after = set(mapped.batch.column("text")[0].as_py().split("\n"))
    own = [line for line in text.split("\n") if not any(line in part for part in added.values())]
    kept = sum(line in after for line in own) / len(own)
    return [
        *rows,
        {"what": "made book: lines of its own that are kept", "value": kept, "unit": "of them", "n": len(own)},
    ]


def main() -> list[dict[str, Any]]:
    """All of the above."""
    maths, books = mathematics(), knowledge()
    long_text = "\n".join(books) * (ONE_DOCUMENT_MB * 1_000_000 // max(sum(map(len, books)), 1) + 1)
    return [
        rate("math_rules", MathRules(), maths),
        rate("knowledge_rules", KnowledgeRules(), books),
        rate(f"knowledge_rules, one document of {len(long_text) // 1_000_000} MB", KnowledgeRules(), [long_text]),
        rate(f"math_rules, one document of {len(long_text) // 1_000_000} MB", MathRules(), [long_text]),
        *outcome("mathematics", MathRules(), maths),
        *outcome("knowledge", KnowledgeRules(), books),
        *found_in_paged_book(),
    ]


if __name__ == "__main__":
    for row in main():
        sys.stdout.write(f"{row}\n")
