"""The dataset `holdout`: the documents that no emit of a recipe may see, each once.

Emits tell what they hold out, shard by shard (`held_documents`). One shard that several emits read tells it once; where
emits are made from datasets that overlap, a document stands in several files, and is left out of all but the first.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.manifest import Manifest, entries_to_json
from gristmill.manifests.receipt import FileEntry, Receipt
from gristmill.manifests.samples import merge_samples, samples_to_bytes
from gristmill.manifests.tally import Tally
from gristmill.pipeline.build import Built
from gristmill.pipeline.context import Context
from gristmill.pipeline.emit import EMIT_VERSION, HOLDOUT
from gristmill.pipeline.publish import Content, Publisher, last_receipts, read_samples, step_entries, write_content
from gristmill.pipeline.row_pass import merge_stats
from gristmill.pipeline.task import make_task

HELD_VERSION = 1


def _holdout_samples(publisher: Publisher, held: Sequence[Receipt], store: ObjectStore) -> FileEntry:
    """What emits dropped as held out is what the holdout keeps."""
    parts = [
        [s | {"step": HOLDOUT, "verdict": "keep", "reason": ""} for s in samples if s["reason"] == HOLDOUT]
        for samples in read_samples(held, store)
    ]
    once = {(s["id"], s["verdict"]): s for part in parts for s in part}
    merged = merge_samples([once.values()])
    return publisher.write("samples", "samples", "jsonl", len(merged), samples_to_bytes(merged))


def _held_receipts(emits: Sequence[Built]) -> list[Receipt]:
    """What emits held out, of each shard that they read once."""
    receipts: dict[str, Receipt] = {}
    for built in emits:
        for digest, receipt in zip(built.facts["inputs"], last_receipts(built), strict=True):
            receipts.setdefault(digest, receipt)
    return list(receipts.values())


def _each_once(ctx: Context, held: Sequence[Receipt]) -> list[Receipt]:
    """The receipts, those anew that hold a document which an earlier one holds too."""
    seen: set[str] = set()
    found: list[Receipt] = []
    for number, receipt in enumerate(held):
        refs = ctx.refs(receipt, "heldout")
        ids: list[str] = [i for ref in refs for i in pq.read_table(ref.path, columns=["id"]).column("id").to_pylist()]
        again = [row for row, name in enumerate(ids) if name in seen]
        seen.update(ids)
        if not again:
            found.append(receipt)
            continue
        what = {"version": HELD_VERSION, "inputs": [ref.entry.digest for ref in refs], "drop": again}
        payload = {"shards": [str(ref.path) for ref in refs], "drop": again}
        found += ctx.map([make_task("held_once", what, payload, f"{HOLDOUT} each once {number + 1}/{len(held)}")])
    return found


def publish_holdout(
    ctx: Context, out: Path, emits: Sequence[Built], shared: Mapping[str, Any], engine: str
) -> Manifest:
    """Publish `holdout`: the documents that no emit of the recipe may see, each once."""
    told = _held_receipts(emits)
    held = _each_once(ctx, told)
    refs = [ref for r in held for ref in ctx.refs(r, "heldout")]
    by_source: dict[str, Tally] = {}
    for receipt in held:
        for source, (records, chars) in receipt.facts["heldout"]["sources"].items():
            part = Tally(records_in=records, kept=records, chars_in=chars, chars_kept=chars)
            by_source.setdefault(source, Tally()).add(part)
    names = sorted(b.spec.name for b in emits)
    step = {"step": HOLDOUT, "stage": HOLDOUT, "version": EMIT_VERSION, "params": {"emits": names}}
    publisher = Publisher(out / HOLDOUT, ctx.store)
    content = Content(
        name=HOLDOUT,
        kind="documents",
        inputs=[],
        steps=step_entries([{**step, "rules": [], "vocabulary": []}], {HOLDOUT: by_source}),
        shards=publisher.links("data", refs),
        account={
            "ledger": [],
            "measures": [],
            "cuts": [],
            "samples": entries_to_json([_holdout_samples(publisher, told, ctx.store)]),
        },
        stats=merge_stats([r.facts["heldout"]["stats"] for r in held]),
        totals={"records": sum(r.entry.rows for r in refs)},
        objects=list(dict.fromkeys(r.key for r in (*told, *held))),
    )
    return write_content(publisher, content, shared, engine)
