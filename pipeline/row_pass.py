"""One pass of rows through a fused chain into committed shards, with its account.

Used by every task that moves documents: the caller feeds batches with their ordinals; kept rows go to
Parquet shards of role `data` (schema DOCUMENT), and `finish` returns the facts of the receipt: `tallies`
(see manifests.tally), `rows`, `stats` (counts by domain, source, language, licence and a histogram of lengths:
`chars_log2[k]` counts texts of [2^k, 2^(k+1)) characters, k = 0 also the empty ones), and `effects` where there were
some (see manifests.effects).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectWriter
from gristmill.manifests.effects import facts_of_effects
from gristmill.manifests.errors import InputError
from gristmill.manifests.schema import DOCUMENT
from gristmill.manifests.shard import ParquetShards
from gristmill.manifests.tally import step_tallies_to_json
from gristmill.pipeline.account import Account, AccountSpec, Rows
from gristmill.stages import catalogue
from gristmill.stages.chain import ChainResult, Ints, count_chars, run_chain
from gristmill.stages.protocol import RowStage

STAT_COLUMNS = ("domain", "source", "lang", "license")


class Stats:
    """Counts over kept rows, in a form that adds up over splits."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in STAT_COLUMNS}
        self._lengths: Counter[int] = Counter()
        self._chars = 0

    def add(self, batch: pa.RecordBatch, chars: Ints | None = None) -> None:
        """Count a batch of kept documents; `chars` of their texts, where known."""
        for name in STAT_COLUMNS:
            for item in batch.column(name).value_counts():
                value = item["values"].as_py()
                self._counts[name]["" if value is None else value] += item["counts"].as_py()
        chars = count_chars(batch) if chars is None else chars
        self._chars += int(chars.sum())
        bins = np.floor(np.log2(np.maximum(chars, 1))).astype(np.int64)
        for value, count in zip(*np.unique(bins, return_counts=True), strict=True):
            self._lengths[int(value)] += int(count)

    def to_json(self) -> dict[str, Any]:
        """Plain data, keys sorted."""
        counts = {name: dict(sorted(c.items())) for name, c in self._counts.items()}
        lengths = {str(k): v for k, v in sorted(self._lengths.items())}
        return {**counts, "chars_log2": lengths, "chars": self._chars}


def merge_stats(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The stats of the whole from those of its splits."""
    counters: dict[str, Counter[str]] = {name: Counter() for name in (*STAT_COLUMNS, "chars_log2")}
    chars = 0
    for part in parts:
        chars += part["chars"]
        for name, counter in counters.items():
            counter.update(part[name])
    merged: dict[str, Any] = {name: dict(sorted(counters[name].items())) for name in STAT_COLUMNS}
    lengths = sorted(counters["chars_log2"].items(), key=lambda item: int(item[0]))
    return {**merged, "chars_log2": dict(lengths), "chars": chars}


def load_stages(chain: Sequence[Mapping[str, Any]], base_dir: str) -> list[RowStage]:
    """The row-local stages that a payload describes: `[{"step", "stage", "params", "fingerprint"}]`.

    Raises InputError when a stage is not the one that the task's key was made of.
    """
    stages: list[RowStage] = []
    for item in chain:
        stage: Any = catalogue.load(item["stage"], item["params"], Path(base_dir))
        if catalogue.stage_fingerprint(stage) != item["fingerprint"]:
            raise InputError(
                "a stage changed while the run was going on",
                where=f"step {item['step']}",
                value=item["stage"],
                remedy="run the same command again",
            )
        stages.append(stage)
    return stages


class RowPass:
    """See the module. `origin` is the name of the first step, which the caller accounts for."""

    def __init__(self, writer: ObjectWriter, spec: AccountSpec, stages: Sequence[RowStage]) -> None:
        self.account = Account(spec, writer)
        self._chain_steps = spec.steps[len(spec.steps) - len(stages) :]
        self._stages = stages
        self._shards = ParquetShards(writer, "data", DOCUMENT)
        self._stats = Stats()
        self.rows_kept = 0

    def feed(self, batch: pa.RecordBatch, rows: Rows, chars: Ints | None = None) -> ChainResult:
        """Run the chain over rows that the origin kept; `result.kept_rows` index into `batch`; `chars` as there."""
        result = run_chain(self._stages, batch, chars)
        self.account.chain(result, self._chain_steps, rows)
        self.account.kept(result.kept, rows.ordinals[result.kept_rows], result.kept_chars)
        if result.kept.num_rows:
            self._stats.add(result.kept, result.kept_chars)
            self._shards.write(result.kept.select(DOCUMENT.names))
            self.rows_kept += result.kept.num_rows
        return result

    def finish(self, where: str) -> dict[str, Any]:
        """Close all files and balance the books; the facts for the receipt."""
        self._shards.close()
        tallies = self.account.close(where)
        return {
            "tallies": step_tallies_to_json(tallies),
            "rows": self.rows_kept,
            "stats": self._stats.to_json(),
            **facts_of_effects(),
        }
