"""One search for near-duplicates: what it works on, and what it has found so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gristmill.manifests.receipt import FileEntry, Receipt
from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.exchange_job import places_of
from gristmill.pipeline.phases import LoadedStep
from gristmill.pipeline.similar.tables import pair_parts


@dataclass(frozen=True)
class IndexShard:
    """A part of an index: paths of its files by role (`keys`, `copies`, `sets`), their entries, and its documents."""

    paths: dict[str, str]
    files: dict[str, FileEntry]
    rows: int


@dataclass
class Search:
    """One search: what it works on, and what it has found so far. `key`, 16 hex digits, is that of its shingle sets."""

    ctx: Context
    label: str
    step: LoadedStep
    shards: Sequence[ShardRef]
    indexed: Sequence[IndexShard] = ()
    key: str = ""
    edges: list[Receipt] = field(default_factory=list[Receipt])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def stage(self) -> Any:
        """The stage."""
        return self.step.stage

    @property
    def rows(self) -> list[int]:
        """Rows of each shard: the dataset's, then the index's."""
        return [s.entry.rows for s in self.shards] + [s.rows for s in self.indexed]

    @cached_property
    def places(self) -> list[int]:
        """The place of each shard in addresses, in the same order: one that its content gives it."""
        return places_of([s.entry.digest for s in self.shards] + [s.files["copies"].digest for s in self.indexed])

    @property
    def pair_parts(self) -> int:
        """Parts of its candidate pairs."""
        return pair_parts(sum(s.entry.rows for s in self.shards), sum(s.entry.bytes for s in self.shards))

    def spec(self, part: str) -> dict[str, Any]:
        """What an exchange of it needs (`pipeline.exchange_job`)."""
        spec = {"stage": self.step.name, "params": dict(self.step.params), "part": part}
        return {**spec, "fingerprint": self.stage.decides(part)}

    def worker(self) -> dict[str, Any]:
        """How a task loads the stage."""
        return {"stage": self.step.name, "params": dict(self.step.params), "base_dir": self.ctx.base_dir}


def paths_of(ctx: Context, receipts: Sequence[Receipt], role: str) -> list[str]:
    """Paths of all files of a role."""
    return [str(ctx.store.path(r.key, f)) for r in receipts for f in r.role(role)]
