"""What every adapter must agree with: the verdict of a stage on each of some documents, as a run has it.

`check(name, judged)` is the law: `judged(name, batch)` says for each row what an adapter made of it.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from gristmill.stages import catalogue
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Filter, Mapper
from tests.laws.samples import sample_stage
from tests.laws.test_stages import TEXTS, make_batch

ROW_LOCAL = [name for name in catalogue.names() if isinstance(sample_stage(name), Filter | Mapper)]
BIDI_AND_MORE = [
    "\ufffe\uffff\ufdd0",
    "a\x00b",
    "\ue000" * 40,
    "\r\nx\r\n\r\n",
    "the 𝔘𝔫𝔦 " * 50,
    "mail a.b@example.com now",
]

Verdict = dict[str, Any]
"""kept, verdict, reason, measure, value, limit, detail, text (of a kept row), lang (likewise), measures."""


def number(value: float) -> float | None:
    """None for NaN."""
    return None if math.isnan(value) else value


def documents() -> pa.RecordBatch:
    """Prose, pages, hostile texts, null."""
    return make_batch([*TEXTS, *BIDI_AND_MORE, None, ""])


def of_a_run(name: str, batch: pa.RecordBatch) -> list[Verdict]:
    """What the chain of a run says of each row."""
    result = run_chain([sample_stage(name)], batch)  # type: ignore[list-item]
    columns = (result.kept.column(c).to_pylist() for c in ("text", "lang"))
    kept = {row: (text or "", lang) for row, text, lang in zip(result.kept_rows.tolist(), *columns, strict=True)}
    gone = {fate.row: fate for fate in result.fates}
    measures: Mapping[str, Any] = result.steps[0].measures
    found: list[Verdict] = []
    for row in range(batch.num_rows):
        told: Verdict = {"kept": row in kept, "measures": {m: number(float(v[row])) for m, v in measures.items()}}
        if row in kept:
            told |= dict(zip(("text", "lang"), kept[row], strict=True))
        else:
            fate = gone[row]
            told |= {key: getattr(fate, key) for key in ("verdict", "reason", "measure", "detail")}
            told |= {"value": number(fate.value), "limit": number(fate.limit)}
        found.append(told)
    return found


def check(name: str, judged: Callable[[str, pa.RecordBatch], list[Verdict]]) -> None:
    """An adapter says of every document what a run says."""
    batch = documents()
    expected = of_a_run(name, batch)
    found = judged(name, batch)
    assert len(found) == len(expected)
    for row, (theirs, ours) in enumerate(zip(found, expected, strict=True)):
        assert theirs == ours, f"{name}: row {row}: {batch.column('text')[row].as_py()!r:.80}"
