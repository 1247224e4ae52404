"""The ledger of a run: what it has seen of each source, domain and length of document, at any index.

It follows from the plan and an index alone, so it is never written, and cannot be lost: `TokenStream.report()` gives
`exposure` of what was handed out, `by_cell` adds it up.
"""

from collections.abc import Mapping
from typing import Any

from gristmill.pipeline.reader.plan import Plan


def drawn_until(plan: Plan, index: int) -> dict[str, int]:
    """Rows that the first `index` of a plan draw of each source that they draw from."""
    rows: dict[str, int] = {}
    for number, stage in enumerate(plan.stages):
        for name, count in stage.mixture.counts(min(max(index - plan.starts[number], 0), stage.rows)):
            if count:
                rows[name] = rows.get(name, 0) + count
    return rows


def exposure(plan: Plan, until: int) -> dict[str, dict[str, Any]]:
    """For each source of a plan what its first `until` rows draw.

    `rows`; `tokens` of them, padding included, as budgets count them; `epochs` of the source; `image_tokens`, as many
    as so many of its rows hold on average; its `dataset`, `domain` (None: any) and `bucket`; `lengths`, the part of its
    tokens that is of documents of each length.
    """
    rows = dict.fromkeys(plan.sources, 0) | drawn_until(plan, until)
    return {
        name: {
            "dataset": source.dataset_name,
            "domain": source.domain,
            "bucket": source.bucket,
            "lengths": {part.name: part.share for part in source.lengths},
            "rows": rows[name],
            "tokens": rows[name] * source.dataset.context,
            "image_tokens": round(rows[name] * source.image_tokens / max(source.rows, 1)),
            "epochs": rows[name] / max(source.rows, 1),
        }
        for name, source in plan.sources.items()
    }


def by_cell(exposed: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str | None, str], dict[str, int]]:
    """Rows, tokens and image tokens of an exposure by domain and length.

    What a bucket of several lengths gave is divided by their parts of its tokens, to whole numbers that add up.
    """
    found: dict[tuple[str | None, str], dict[str, int]] = {}
    for part in exposed.values():
        before, until = 0.0, 0.0
        for length, share in part["lengths"].items():
            before, until = until, until + share
            cell = found.setdefault((part["domain"], length), {"rows": 0, "tokens": 0, "image_tokens": 0})
            for name in cell:
                cell[name] += round(part[name] * until) - round(part[name] * before)
    return found
