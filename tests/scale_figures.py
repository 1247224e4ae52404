"""Renews the figures of docs/scale.md from the code: `python -m tests.scale_figures`.

What a run of so many documents takes, by the constants that the code goes by and by the sizes that its own functions
give. tests/test_docs.py refuses a page with other figures.
"""

import json
import math
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import FileEntry, Receipt
from gristmill.pipeline.context import Context
from gristmill.pipeline.engines.finding import FindingEngine
from gristmill.pipeline.exchange_job import SHARD_ADDR_BITS, places_of, reduce_tasks
from gristmill.pipeline.exchange_rows import partitions_for
from gristmill.pipeline.profile import SlurmProfile
from gristmill.pipeline.recipe import Recipe
from gristmill.pipeline.similar.tables import MERGED, pair_parts
from gristmill.pipeline.splits import FULL_BYTES
from gristmill.pipeline.tasks import similar_verify
from gristmill.stages.dedup.minhash import MinhashDedup
from gristmill.stages.protocol import emitted_schema
from tests.stages_table import table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- figures: python -m tests.scale_figures -->\n", "<!-- end of figures -->\n"

DOCUMENT_BYTES = 1000
SHARD_TEXT_BYTES = 512 * 10**6
"""Of text in an input file, and so in the shard that is made of it."""
SIZES = (10**8, 10**9, 10**10, 10**11)

DRIVER_ENTRY_BYTES = 560
"""Memory of the driver for one part of one spill file: the receipt's entry, and what the task says of it. Measured:
`entry_bytes`."""
SETTLE_BYTES = (40, 250)
"""A document, in the one process that decides who stays (docs/dedup.md)."""
MERGE_RUNS = 10**4
"""Runs that one merge takes (docs/dedup.md)."""


def row_bytes(exchange: Any) -> int:
    """Bytes of one spilled row of an exchange."""
    schema = emitted_schema(exchange.key_bytes, exchange.order_bytes, getattr(exchange, "value_bytes", 0))
    return sum(field.type.byte_width for field in schema)


def spill_receipts(spills: int, parts: int) -> list[Receipt]:
    """Receipts as emitting tasks leave them."""
    digest = "blake3:" + "a" * 64

    def part(number: int) -> list[Any]:
        return [number, 1, 1 << 10, number << 18, (number + 1) << 18, f"{number:032x}"]

    def receipt(number: int) -> Receipt:
        extra = {"parts": [part(p + number * parts) for p in range(parts)]}
        file = FileEntry("spill.arrow", "spill", parts << 10, parts << 18, digest, extra)
        return Receipt(f"{number:032x}", {}, (file,), {}, f"blake3:{number:064x}", {})

    return [receipt(number) for number in range(spills)]


def reducing(spills: int, parts: int) -> tuple[list[Receipt], list[Any]]:
    """Receipts and the tasks that read them, as the driver holds them."""
    store = ObjectStore(Path("/scratch/of/a/run/out"))
    recipe = Recipe("r", 0, "bytes", None, (), Path("r.yaml"), Path(), "")
    ctx = Context(store, FindingEngine(store), recipe, lambda _: None)
    receipts = spill_receipts(spills, parts)
    places = places_of([r.digest for r in receipts])
    step = {"stage": "s", "params": {}, "fingerprint": {}}
    return receipts, reduce_tasks(ctx, "d.s", step, receipts, parts, places)


def entry_bytes() -> int:
    """Memory of the driver for a part of a spill file, measured on a few thousand of them."""
    tracemalloc.start()
    held = reducing(64, 64)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(held[1]) == 64
    return taken // (64 * 64)


def spill_name_bytes() -> int:
    """Bytes that a reducing task's description, and so its receipt, holds for each spill file."""
    small, large = (len(json.dumps(reducing(n, 1)[1][0].what, separators=(",", ":"))) for n in (100, 200))
    return (large - small) // 100


def shown(number: float, unit: str = "") -> str:
    """`3.4 TB`, `2,000`."""
    if unit:
        power = min(5, max(0, int(math.log10(max(number, 1)) // 3)))
        return f"{number / 1000**power:.3g} {('', 'k', 'M', 'G', 'T', 'P')[power]}{unit}"
    return f"{number:,.0f}"


def figures() -> list[tuple[str, ...]]:
    """The rows of the table: what, by which formula, at each size."""
    stage = MinhashDedup()
    keys, copies = stage.keys(), stage.copies()
    bands, key_row, copy_row = keys.rows_each, row_bytes(keys), row_bytes(copies)
    named = spill_name_bytes()
    slurm = SlurmProfile()

    def line(what: str, formula: str, values: Sequence[str]) -> tuple[str, ...]:
        return (what, formula, *values)

    def each(what: str, formula: str, value: Any) -> tuple[str, ...]:
        return line(what, formula, [value(documents) for documents in SIZES])

    def shards(n: int) -> int:
        return max(1, -(-n * DOCUMENT_BYTES // SHARD_TEXT_BYTES))

    def parts(n: int) -> int:
        return partitions_for(n * bands)

    def pairs(n: int) -> int:
        return pair_parts(n, n * DOCUMENT_BYTES // 3)

    def spilled(n: int) -> int:
        return n * bands * key_row

    def tasks(n: int) -> int:
        return 5 * shards(n) + partitions_for(n) + parts(n) + 2 * pairs(n) + 2

    return [
        each("text", f"N x {DOCUMENT_BYTES} B", lambda n: shown(n * DOCUMENT_BYTES, "B")),
        each("shards M", f"text / {shown(SHARD_TEXT_BYTES, 'B')}", lambda n: shown(shards(n))),
        each(
            "splits, were all files small",
            f"text / {FULL_BYTES >> 20} MiB",
            lambda n: shown(n * DOCUMENT_BYTES / FULL_BYTES),
        ),
        each("partitions R", "`partitions_for`", lambda n: shown(parts(n))),
        each("parts of pairs P", "`pair_parts`", lambda n: shown(pairs(n))),
        each("tasks", "5 M + 2 R + 2 P + 2", lambda n: shown(tasks(n))),
        each("files", "3 a task", lambda n: shown(3 * tasks(n))),
        each("rows of copies", f"N x {copy_row} B", lambda n: shown(n * copy_row, "B")),
        each("rows of bands", f"N x {bands} x {key_row} B", lambda n: shown(spilled(n), "B")),
        each("a partition of bands", "rows of bands / R", lambda n: shown(spilled(n) / parts(n), "B")),
        each("runs in its merge", "M", lambda n: shown(shards(n))),
        each(
            "a block (one part of one spill)",
            "rows of bands / (M R)",
            lambda n: shown(spilled(n) / parts(n) / shards(n), "B"),
        ),
        each("blocks", "M R", lambda n: shown(shards(n) * parts(n))),
        each(
            "candidate pairs",
            f"0.17 N x {sum(f.type.bit_width // 8 for f in MERGED)} B",
            lambda n: shown(0.17 * n * sum(f.type.bit_width // 8 for f in MERGED), "B"),
        ),
        each("a reducing task's receipt", f"M x {named} B", lambda n: shown(shards(n) * named, "B")),
        each(
            "receipts of reducing tasks", f"2 M R x {named} B", lambda n: shown(2 * shards(n) * parts(n) * named, "B")
        ),
        each(
            "driver: spills and tasks of one exchange",
            f"M R x {DRIVER_ENTRY_BYTES} B",
            lambda n: shown(shards(n) * parts(n) * DRIVER_ENTRY_BYTES, "B"),
        ),
        each(
            "who stays: one process",
            f"N x {SETTLE_BYTES[0]} to {SETTLE_BYTES[1]} B",
            lambda n: f"{shown(n * SETTLE_BYTES[0], 'B')} to {shown(n * SETTLE_BYTES[1], 'B')}",
        ),
        each(
            "comparing a part of pairs",
            f"100 B x {similar_verify.PAIRS_AT_ONCE:,}, 80 B x N / P",
            lambda n: shown(100 * similar_verify.PAIRS_AT_ONCE + 80 * n / pairs(n), "B"),
        ),
        each(
            "Slurm: arrays of one round",
            f"M / {slurm.max_array_size - 1:,} (tasks_per_job = 1)",
            lambda n: shown(-(-shards(n) // (slurm.max_array_size - 1))),
        ),
    ]


def limits() -> list[tuple[str, str, str]]:
    """What gives out, by which bound, at how many documents; the first one first."""
    stage = MinhashDedup()
    keys = stage.keys()
    docs_a_shard = SHARD_TEXT_BYTES // DOCUMENT_BYTES
    memory, scratch = 64 * 10**9, 2 * 10**12
    most_parts = partitions_for(1 << 62)
    a_document = keys.rows_each * row_bytes(keys) + row_bytes(stage.copies())
    most_shards = (1 << 28) - 1
    assert len(places_of([])) == 0 and (most_shards.bit_length() + 4) // 4 * 4 == SHARD_ADDR_BITS
    found = [
        (memory / SETTLE_BYTES[1], "who stays, nearly every document in a pair", f"64 GB / {SETTLE_BYTES[1]} B"),
        (memory / SETTLE_BYTES[0], "who stays, few documents in pairs", f"64 GB / {SETTLE_BYTES[0]} B"),
        (1000 * docs_a_shard, "files that one merge has open", "`ulimit -n` of 1,024"),
        (MERGE_RUNS * docs_a_shard, "memory and open files of one merge", f"{MERGE_RUNS:,} runs"),
        (scratch / a_document, "scratch of one machine", f"2 TB / {a_document} B"),
        (
            memory / DRIVER_ENTRY_BYTES / most_parts * docs_a_shard,
            "memory of the driver",
            f"64 GB / ({DRIVER_ENTRY_BYTES} B x {most_parts:,} partitions)",
        ),
        (most_shards * docs_a_shard, "addresses: 32 bits of place, 32 of row", "2^28 shards"),
    ]
    return [(what, bound, f"{documents:.1e}") for documents, what, bound in sorted(found)]


def block() -> str:
    """Both tables."""
    sizes = [f"10^{round(math.log10(n))}" for n in SIZES]
    first = table(("", "formula", *sizes), figures())
    return f"{first}\n{table(('what gives out', 'bound', 'documents'), limits())}"


def page(text: str) -> str:
    """A page with the figures renewed."""
    head, _, rest = text.partition(BEGIN)
    return head + BEGIN + "\n" + block() + "\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
