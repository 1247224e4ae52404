"""Web pages: verified records per second of processor time, at 1024x768 with over 30 annotated elements.

Processor time is that of this process, the worker, the driver and all of the browser; wall time depends on who else
works here. Each measurement renders, annotates and verifies PAGES different pages after two that warm the browser up.
Two workers at once are compared with one by wall time, which needs two processors of their own, and by the processor
time of a record, which tells what they cost each other. It takes two minutes on an idle machine.
Needs the extra `web`, Chromium and bubblewrap.
"""

import os
import statistics
import subprocess
import sys
import time
from typing import Any

from gristmill.render.make import first_failing
from gristmill.render.protocol import Code, View
from gristmill.render.web.browser import find
from gristmill.render.web.domain import WebDomain, client
from gristmill.render.web.memory import descendants, proportional_bytes

PAGES, RUNS = 24, 3
_TICKS = os.sysconf("SC_CLK_TCK")
_STYLE = (
    "body{font-family:'DejaVu Sans';margin:20px;background:#f4f6fa}.g{display:grid;grid-template-columns:repeat(3,1fr);"
    "gap:14px}.c{background:#fff;border-radius:8px;padding:12px;box-shadow:0 2px 6px #0003}button{background:#2563eb;"
    "color:#fff;border:0;padding:8px 14px}"
)


def page(number: int) -> Code:
    """Nine cards: 37 elements worth naming, and their text lines."""
    card = "<div class=c><h2>Card {0}.{1}</h2><p>Text about it.</p><button>Buy {1}</button> <a href='#'>more</a></div>"
    cards = "".join(card.format(number, i) for i in range(9))
    html = f"<!doctype html><style>{_STYLE}</style><h1>Shop {number}</h1><div class=g>{cards}</div>"
    return Code(html, "html", "bench", View(1024, 768))


def cpu_seconds() -> float:
    """Of this process and all below it that are there."""
    total = sum(os.times()[:2])
    for pid in descendants(os.getpid()):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / _TICKS
        except (OSError, IndexError):
            continue
    return total


def one_run() -> tuple[float, float, int, int]:
    """Seconds of processor and of wall for each page, fewest annotations, bytes of the process tree."""
    domain, fewest = WebDomain(), 1 << 30
    for number in (-1, -2):
        _verified(domain, page(number))
    cpu, wall = cpu_seconds(), time.monotonic()
    for number in range(PAGES):
        fewest = min(fewest, _verified(domain, page(number)))
    spent = (cpu_seconds() - cpu) / PAGES, (time.monotonic() - wall) / PAGES
    return (*spent, fewest, proportional_bytes(descendants(os.getpid())))


def _verified(domain: WebDomain, code: Code) -> int:
    shot = domain.render(code)
    annotations = domain.annotate(code, shot)
    report = domain.verify(code, shot, annotations)
    rule = first_failing(domain.rules(), report)
    if rule is not None:
        raise AssertionError(f"{rule.reason}: {report.measures[rule.measure]}")
    return sum(annotation.role != "text line" for annotation in annotations)


def _together(workers: int) -> tuple[float, float]:
    """Pages per second of wall, and per second of processor, of so many processes at once."""
    word = "from tests.bench import bench_render_web as b; print(*b.one_run()[:2])"
    running = [subprocess.Popen([sys.executable, "-c", word], stdout=subprocess.PIPE) for _ in range(workers)]
    spent = [[float(v) for v in process.communicate()[0].split()] for process in running]
    return sum(1 / wall for _, wall in spent), workers / sum(cpu for cpu, _ in spent)


def main() -> list[dict[str, Any]]:
    """Rows for `make bench`."""
    if not find().path or find().cage != "bubblewrap":
        return [{"what": "web records", "value": "skipped", "unit": "no Chromium or no bubblewrap"}]
    runs = [one_run() for _ in range(RUNS)]
    rates = [1 / run[0] for run in runs]
    spread = f"{min(rates):.2f} to {max(rates):.2f}"
    memory = max(run[3] for run in runs) / (1 << 20)
    client().close()
    (one, one_cpu), (two, two_cpu) = _together(1), _together(2)
    wall_ms, fewest = statistics.median(run[1] for run in runs) * 1e3, min(run[2] for run in runs)
    rate = {"value": statistics.median(rates), "unit": "/cpu-s", "n": RUNS, "spread": spread, "target": ">= 4"}
    return [
        {"what": "web: verified records"} | rate,
        {"what": "web: wall of one record", "value": wall_ms, "unit": "ms", "n": RUNS},
        {"what": "web: annotated elements, fewest", "value": fewest, "unit": "", "target": ">= 30"},
        {"what": "web: memory of a browser worker", "value": memory, "unit": "MiB", "target": "< 1228"},
        {"what": "web: two workers against one, wall", "value": two / one, "unit": "times", "target": ">= 1.7"},
        {"what": "web: the same, per cpu-s", "value": two_cpu / one_cpu, "unit": "times", "target": ">= 0.85"},
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
