"""Verified SVG records per second of CPU time: code to picture, places and verdict, of the parent and its children.

DRAWINGS drawings of the template families, by turns, at some 512 pixels; ROUNDS rounds of the same drawings after one
that is not counted. A record counts when every rule holds. The target is that of a machine with nothing else to do: CPU
time itself grows by half where other work shares the cores, so fixed work is timed beside it (`calibration`).
"""

import os
import time
import zlib
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from gristmill.render.draws import Draws
from gristmill.render.make import first_failing
from gristmill.render.protocol import Code, Rejected
from gristmill.render.svg import engines
from gristmill.render.svg.domain import SvgDomain

DRAWINGS = 120
ROUNDS = 3
TARGET = ">= 20"


def codes(domain: SvgDomain) -> list[Code]:
    """DRAWINGS codes of all families by turns."""
    families = domain.families()
    specs = (
        domain.sample_spec(families[n % len(families)], Draws("svg", "bench", families[n % len(families)], n))
        for n in range(DRAWINGS)
    )
    return [domain.to_code(spec) for spec in specs]


def is_verified(domain: SvgDomain, code: Code) -> tuple[bool, int]:
    """Whether a code gives an accepted record, and how many annotations it has."""
    try:
        shot = domain.render(code)
        annotations = domain.annotate(code, shot)
        report = domain.verify(code, shot, annotations)
    except Rejected:
        return False, 0
    if first_failing(domain.rules(), report) is not None:
        return False, 0
    return True, len(annotations)


def cpu_seconds(target: str | None = None) -> float:
    """CPU time so far of this process, or of the child for a target."""
    if target is None:
        return time.process_time()
    pid = engines.child(target).pid
    if pid is None:
        return 0.0
    words = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def calibration_ms() -> float:
    """CPU time of fixed work: deflating a megabyte of numbers, the least of 5."""
    data = np.arange(1 << 18, dtype=np.uint32).tobytes()
    times: list[float] = []
    for _ in range(5):
        start = time.process_time()
        zlib.compress(data, 6)
        times.append((time.process_time() - start) * 1e3)
    return min(times)


def main() -> list[dict[str, Any]]:
    """Records per CPU second, what each child takes of it, memory, and the calibration."""
    domain = SvgDomain()
    work = codes(domain)
    verdicts = [is_verified(domain, code) for code in work]
    clocks = (None, engines.DRAW, engines.JUDGE)
    rates: list[float] = []
    parts: list[list[float]] = []
    calibrations: list[float] = []
    for _ in range(ROUNDS):
        before = [cpu_seconds(clock) for clock in clocks]
        accepted = sum(is_verified(domain, code)[0] for code in work)
        spent = [cpu_seconds(clock) - start for clock, start in zip(clocks, before, strict=True)]
        rates.append(accepted / sum(spent))
        parts.append([1e3 * part / len(work) for part in spent])
        calibrations.append(calibration_ms())
    how = {"n": ROUNDS, "spread": f"{min(rates):.3g}..{max(rates):.3g}"}
    named = sum(count for _, count in verdicts) / max(sum(ok for ok, _ in verdicts), 1)
    rows: list[dict[str, Any]] = [
        {"what": "svg verified records", "value": median(rates), "unit": "1/s of CPU", "target": TARGET, **how},
        {"what": "svg accepted", "value": sum(ok for ok, _ in verdicts) / len(work), "unit": "of drawings"},
        {"what": "svg annotations", "value": named, "unit": "a record"},
        {"what": "calibration (zlib of 1 MiB)", "value": median(calibrations), "unit": "ms of CPU"},
    ]
    for name, index in (("parent", 0), ("drawing child", 1), ("judging child", 2)):
        value = median(part[index] for part in parts)
        rows.append({"what": f"svg {name}", "value": value, "unit": "ms of CPU a drawing"})
    return rows


if __name__ == "__main__":
    for row in main():
        print(row)
