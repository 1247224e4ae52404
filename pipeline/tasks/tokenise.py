"""Task `tokenise`: one shard of documents -> ids of the documents that the trainer may see.

Payload: `shard` (path), `dataset`, `steps` (`from` where it is the dataset's first phase, then the emit step),
`origin`, `tokenizer` (spec), `base_dir`, `holdout` (null, or `frac` and `seed`), `seed`, `image_cost`, `medium_limit`
(tokens). Leaves `tokenised` (Arrow IPC of trainer_schema.TOKENISED, uncompressed: packing maps it), what is held out as
`held_documents` leaves it, the media that have places as `media_spill` leaves them, ledger and samples; facts as
RowPass's, `media_tokens` (places of media), `longest_medium` (places of one), and `heldout`.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter
from gristmill.manifests.effects import facts_of_effects
from gristmill.manifests.errors import InputError
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.ipc import IpcShards
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.shard import read_shard
from gristmill.manifests.tally import step_tallies_to_json
from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.manifests.trainer_schema import tokenised_schema
from gristmill.pipeline.account import Account, AccountSpec, Rows, rows_by_source
from gristmill.pipeline.held_documents import HeldDocuments
from gristmill.pipeline.media_places import MediaRules
from gristmill.pipeline.media_spill import MediaSpill
from gristmill.pipeline.row_pass import Stats
from gristmill.pipeline.task import Task
from gristmill.pipeline.tokenise import tokenise
from gristmill.stages.chain import Fate, Ints, StepTrace, count_chars


class _Tokenise:
    """The state of one task."""

    def __init__(self, payload: Mapping[str, Any], writer: ObjectWriter, tokenizer: Tokenizer) -> None:
        steps = tuple(payload["steps"])
        self.payload = payload
        self.step = steps[-1]
        self.tokenizer = tokenizer
        self.account = Account(AccountSpec(payload["dataset"], steps, payload["seed"]), writer)
        self.shards = IpcShards(writer, "tokenised", tokenised_schema(tokenizer.identity))
        self.rules = MediaRules(ImageCost(**payload["image_cost"]), payload["medium_limit"])
        self.media = MediaSpill(writer)
        self.heldout = HeldDocuments(payload["holdout"], writer)
        self.stats = Stats()
        self.rows = 0

    def encode(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """Account for and tokenise one batch, whose first row is row `first` of the shard."""
        rows = Rows(np.arange(first, first + batch.num_rows, dtype=np.int64))
        chars = count_chars(batch)
        if self.payload["origin"]:
            self.account.read(self.payload["steps"][0], batch, chars)
        fates: dict[int, Fate] = {}
        held = self.heldout.take(batch, fates, chars)
        stay = np.flatnonzero(~held)
        seen = batch if len(stay) == batch.num_rows else batch.take(pa.array(stay))
        done = tokenise(seen, self.tokenizer, self.rules)
        for place in done.media:
            self.media.add(place)
        for v in done.verdicts:
            at = int(stay[v.row])
            fates[at] = Fate(at, 0, v.verdict, v.reason, v.measure, v.value, v.limit, v.detail)
        cut = np.zeros(batch.num_rows, dtype=np.int64)
        cut[stay] = done.media_missing
        self._trace(batch, rows, fates, (chars, cut))
        placed = seen if len(done.kept) == seen.num_rows else seen.take(pa.array(done.kept))
        self._count(done.batch, placed, chars[stay[done.kept]])
        self.account.kept(placed, rows.ordinals[stay[done.kept]], chars[stay[done.kept]])
        return done.batch

    def _trace(self, batch: pa.RecordBatch, rows: Rows, fates: dict[int, Fate], counted: tuple[Ints, Ints]) -> None:
        chars, cut = counted
        kept = np.ones(batch.num_rows, dtype=np.bool_)
        kept[list(fates)] = False
        everything = np.arange(batch.num_rows, dtype=np.int64)
        trace = StepTrace(everything, kept, chars, chars - cut, {"media_missing": cut}, {}, batch)
        self.account.step(self.step, trace, [fates[r] for r in sorted(fates)], (), rows)

    def _count(self, tokens: pa.RecordBatch, documents: pa.RecordBatch, chars: Ints) -> None:
        lengths = tokens.column("n_tokens").to_numpy()
        for source, at in rows_by_source(documents):
            self.account.tally(self.step, source).tokens += int(lengths[at].sum())
        self.stats.add(documents, chars)
        self.rows += tokens.num_rows

    def finish(self, where: str) -> dict[str, Any]:
        """Close the files; the facts of the receipt."""
        self.shards.close()
        self.media.close()
        heldout = self.heldout.close()
        tallies = self.account.close(where)
        return {
            "tallies": step_tallies_to_json(tallies),
            "rows": self.rows,
            "stats": self.stats.to_json(),
            "media_tokens": self.media.tokens,
            "longest_medium": self.media.longest,
            "heldout": heldout,
            **facts_of_effects(),
        }


@lru_cache(maxsize=2)
def tokenizer_for(spec: str, base_dir: str) -> Tokenizer:
    """The tokenizer of this process: choosing its engine takes a second, and its caches fill with use."""
    return load_tokenizer(spec, Path(base_dir))


def known_tokenizer(task: Task) -> Tokenizer:
    """The tokenizer of a task, whose key was made of its fingerprint. Raises InputError where it is another by now."""
    payload = task.payload
    tokenizer = tokenizer_for(payload["tokenizer"], payload["base_dir"])
    if tokenizer.identity.fingerprint != task.what["tokenizer"]:
        raise InputError(
            "the tokenizer's file changed while the run was going on",
            where=task.label,
            value=payload["tokenizer"],
            remedy="run the same command again",
        )
    return tokenizer


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    tokenizer = known_tokenizer(task)
    with store.begin(task.key, task.what) as writer:
        state = _Tokenise(payload, writer, tokenizer)
        first = 0
        batches = read_shard(Path(payload["shard"]))
        while (batch := next(batches, None)) is not None:
            tokens = state.encode(batch, first)
            first += batch.num_rows
            del batch  # a long text goes before its ids are written: together they would be the peak
            state.shards.write(tokens)
        return writer.commit(state.finish(task.label))
