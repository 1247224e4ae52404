"""HTML extraction against sources: word-level F1 and speed of ours and of the extractors that others use.

One row a set of pairs (`extract_pairs`) and extractor; then each extractor's mean over the sets and its worst set; then
speed, CPU seconds of the same pages in this process, medians of interleaved rounds. `main` gives the rows of `make
bench`; run as a program it prints one table. Extractors that are not installed are left out.
"""

import logging
import sys
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from statistics import mean, median
from typing import Any

from tests.bench.extract_gold import f1
from tests.bench.extract_pairs import HELD_OUT, TUNED, Pair, gather

OURS = "ours"
ROUNDS = 3
SPEED_PAGES = 10
Extractor = Callable[[str], str]


def extractors() -> dict[str, Extractor]:
    """Name -> page to text; trafilatura as datatrove calls it, too."""
    found: dict[str, Extractor] = {
        OURS: _ours,
        "resiliparse main": lambda page: _resiliparse(page, main_content=True),
        "resiliparse full": lambda page: _resiliparse(page, main_content=False),
    }
    if find_spec("trafilatura"):
        logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
        options = {"include_comments": False, "deduplicate": True, "include_images": False}
        found["trafilatura datatrove"] = lambda page: _trafilatura(page, {**options, "favor_precision": True})
        found["trafilatura recall"] = lambda page: _trafilatura(page, {"favor_recall": True, "include_tables": True})
    if find_spec("readability"):
        found["readability"] = _readability
    return found


def _ours(page: str) -> str:
    from gristmill.stages.text.html_child import extract

    return extract(page.encode("utf-8", "replace")).decode()


def _resiliparse(page: str, *, main_content: bool) -> str:
    from resiliparse.extract.html2text import extract_plain_text  # pyright: ignore[reportMissingModuleSource]

    return extract_plain_text(page, preserve_formatting=True, main_content=main_content, noscript=False, comments=True)


def _trafilatura(page: str, options: Mapping[str, Any]) -> str:
    import trafilatura

    return trafilatura.extract(page, **options) or ""


def _readability(page: str) -> str:
    import lxml.html
    from readability import Document

    try:
        return lxml.html.fromstring(Document(page).summary()).text_content()
    except Exception:  # it raises its own and lxml's errors on pages where it finds nothing
        return ""


def scores(pairs: Mapping[str, list[Pair]]) -> dict[str, dict[str, float]]:
    """Extractor -> set -> mean F1 of its pages."""
    return {
        name: {s: mean(f1(extract(p.page), p.gold) for p in found) for s, found in pairs.items()}
        for name, extract in extractors().items()
    }


def speeds(pairs: Mapping[str, list[Pair]]) -> dict[str, float]:
    """Extractor -> MB of HTML a CPU second, on some pages of every set."""
    pages = [p.page for found in pairs.values() for p in found[:SPEED_PAGES]]
    megabytes = sum(len(page.encode("utf-8", "replace")) for page in pages) / 1e6
    spent: dict[str, list[float]] = {name: [] for name in extractors()}
    for _ in range(ROUNDS):
        for name, extract in extractors().items():
            before = time.process_time()
            for page in pages:
                extract(page)
            spent[name].append(time.process_time() - before)
    return {name: megabytes / median(seconds) for name, seconds in spent.items()}


def main() -> list[dict[str, Any]]:
    """Rows for `make bench`."""
    pairs = gather({**TUNED, **HELD_OUT})
    if not pairs:
        return [{"what": "extraction", "value": "no pairs can be had", "unit": ""}]
    found, speed = scores(pairs), speeds(pairs)
    rows: list[dict[str, Any]] = []
    for what, summary in (("mean F1 of the sets", _mean), ("F1 of the worst set", _worst)):
        peer, peer_value = _best_peer({name: summary(by_set) for name, by_set in found.items()})
        ours = summary(found[OURS])
        row = {"what": f"extraction, {what}", "value": ours, "unit": "F1", "peer": peer, "peer_value": peer_value}
        rows.append({**row, "ratio": ours / peer_value, "target": ">= 1", "n": f"{len(pairs)} sets"})
    for peer, target in (("trafilatura datatrove", ">= 5"), ("resiliparse main", ">= 0.5")):
        if peer in speed:
            row = {"what": "extraction, speed", "value": speed[OURS], "unit": "MB/s", "peer": peer}
            rows.append({**row, "peer_value": speed[peer], "ratio": speed[OURS] / speed[peer], "target": target})
    return rows


def _mean(by_set: Mapping[str, float]) -> float:
    return mean(by_set.values())


def _worst(by_set: Mapping[str, float]) -> float:
    return min(by_set.values())


def _best_peer(values: Mapping[str, float]) -> tuple[str, float]:
    return max(((n, v) for n, v in values.items() if n != OURS), key=lambda item: item[1])


def table() -> str:
    """One table: F1 of each set, mean, worst, speed."""
    pairs = gather({**TUNED, **HELD_OUT})
    found, speed = scores(pairs), speeds(pairs)
    names = list(found)
    lines = ["| set | pages | " + " | ".join(names) + " |", "| --- | --- |" + " --- |" * len(names)]
    for s, pages in pairs.items():
        label = s + (" (held out)" if s in HELD_OUT else "")
        lines.append(f"| {label} | {len(pages)} | " + " | ".join(f"{found[n][s]:.4f}" for n in names) + " |")
    lines.append("| mean | | " + " | ".join(f"{_mean(found[n]):.4f}" for n in names) + " |")
    lines.append("| worst set | | " + " | ".join(f"{_worst(found[n]):.4f}" for n in names) + " |")
    lines.append("| MB/s | | " + " | ".join(f"{speed[n]:.2f}" for n in names) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
